// SPDX-License-Identifier: BSD-2-Clause
// not lean: poll and select are among the names
// not on mips: real time, eventfd and ppoll under emulation
// A program in plain POSIX names, after the C library's own headers.
#include <netinet/in.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "world.h"

#include <string.h>

#include "api/bsd/posix_names.h"

static void a_plain_program(void **state)
{
    struct world w;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(7400), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct pollfd wait = {0};
    fd_set set;
    char text[8];
    int on = 1;
    (void)state;
    world_open(&w, false, NULL);
    weir_posix_use(w.bsd);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(listener, SOMAXCONN), 0);
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&name, sizeof name), 0);
    const int server = accept(listener, NULL, NULL);
    assert_int_equal(write(client, "plain", 5), 5);
    wait = (struct pollfd){.fd = server, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 1000), 1);
    assert_int_equal(read(server, text, sizeof text), 5);
    FD_ZERO(&set);
    FD_SET(server, &set);
    assert_int_equal(select(server + 1, NULL, &set, NULL, &(struct timeval){1, 0}), 1);
    assert_true(FD_ISSET(server, &set));
    assert_int_equal(fcntl(server, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(read(server, text, 1), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(ioctl(server, FIONREAD, &on), 0);
    assert_int_equal(on, 0);
    assert_int_equal(inet_pton(AF_INET, "1.2.3.4", &name.sin_addr), 1);
    assert_int_equal(close(client), 0);
    assert_int_equal(close(client), -1);
    assert_int_equal(errno, EBADF);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_plain_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
