// SPDX-License-Identifier: BSD-2-Clause
// Blocking programs in virtual time: the calls of api/bsd, unchanged, on the simulator's port.
#include "sim/fibre.h"

#include <errno.h>

#include "api/bsd/weir_bsd.h"
#include "sink.h"

#define PORT 7
#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)

struct program {
    struct sim_host *host;
    struct weir_bsd *bsd;
    uint64_t began_ns, ended_ns;
    uint32_t bytes;
    int result, error;
    bool ended;
};

static struct sim *sim;
static struct program server, client;

static struct weir_sockaddr_in address_of(uint32_t address)
{
    return (struct weir_sockaddr_in){
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(PORT), .sin_addr = {weir_htonl(address)}};
}

static void program_open(struct program *program, const char *name)
{
    *program = (struct program){.host = sim_host_add(sim, name, NULL)};
    program->bsd = bsd_create(sim_host_weir(program->host), NULL);
    assert_non_null(program->bsd);
}

static void open_two(const struct sim_way *way)
{
    sim = sim_open(&(struct sim_options){.seed = 5});
    program_open(&server, "server");
    program_open(&client, "client");
    sim_link_add(sim, sim_node_of(client.host), sim_node_of(server.host), &(struct sim_link_options){.there = *way});
}

// The fibres end before the contexts do, and those before the instances.
static void close_two(void)
{
    sim->closing = true;
    fibres_close(server.host);
    fibres_close(client.host);
    bsd_destroy(server.bsd);
    bsd_destroy(client.bsd);
    sim_close(sim);
}

static int listen_at(struct program *program)
{
    struct weir_sockaddr_in local = address_of(WEIR_INADDR_ANY);
    const int fd = bsd_socket(program->bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bsd_bind(program->bsd, fd, ADDRESS(local)), 0);
    assert_int_equal(bsd_listen(program->bsd, fd, 10), 0);
    return fd;
}

struct child {
    struct program *program;
    int fd;
};

static void echo(struct sim_host *host, void *context)
{
    struct child *child = context;
    struct weir_bsd *bsd = child->program->bsd;
    uint8_t bytes[1000];
    weir_ssize got;
    (void)host;
    while ((got = bsd_read(bsd, child->fd, bytes, sizeof bytes)) > 0 &&
           bsd_write(bsd, child->fd, bytes, (size_t)got) == got)
        child->program->bytes += (uint32_t)got;
    bsd_close(bsd, child->fd);
    free(child);
}

// A fibre for each connection.
static void echo_server(struct sim_host *host, void *context)
{
    struct program *program = context;
    int fd;
    const int listener = listen_at(program);
    while ((fd = bsd_accept(program->bsd, listener, NULL, NULL)) >= 0) {
        struct child *child = malloc(sizeof *child);
        assert_non_null(child);
        *child = (struct child){program, fd};
        sim_fibre_start(host, echo, child);
    }
    program->error = errno;
    program->ended = true;
}

static void echo_client(struct sim_host *host, void *context)
{
    struct program *program = context;
    struct weir_sockaddr_in peer = address_of(weir_addr_to_v4(sim_host_address(server.host)));
    uint8_t out[500], in[500];
    const int fd = bsd_socket(program->bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_int_equal(bsd_connect(program->bsd, fd, ADDRESS(peer)), 0);
    program->began_ns = sim_now(sim);
    for (uint32_t round = 0; round < 100; round++) {
        memset(out, (int)round + 1, sizeof out);
        assert_int_equal(bsd_write(program->bsd, fd, out, sizeof out), sizeof out);
        assert_int_equal(bsd_recv(program->bsd, fd, in, sizeof in, WEIR_MSG_WAITALL), sizeof in);
        assert_memory_equal(in, out, sizeof in);
        program->bytes += sizeof in;
    }
    program->ended_ns = sim_now(sim);
    assert_true(sim_fibre_sleep(host, SIM_S(3)));
    assert_int_equal(bsd_close(program->bsd, fd), 0);
    program->ended = true;
}

static void blocking_echo(void **state)
{
    (void)state;
    open_two(&(struct sim_way){.delay_ns = SIM_MS(5)});
    sim_fibre_start(server.host, echo_server, &server);
    sim_fibre_start(client.host, echo_client, &client);
    assert_int_equal(sim_fibres(client.host), 1);
    run(sim, SIM_S(10));
    assert_true(client.ended);
    assert_int_equal(sim_fibres(client.host), 0);
    assert_int_equal(client.bytes, 50000);
    assert_int_equal(server.bytes, 50000);
    assert_int_equal((client.ended_ns - client.began_ns) / 1000000, 100 * 10);  // a round trip each
    assert_false(server.ended);
    close_two();
    assert_true(server.ended);  // accept was interrupted
    assert_int_equal(server.error, EINTR);
}

static void many_fibres_over_a_bad_link(void **state)
{
    static struct program clients[40];
    (void)state;
    open_two(&(struct sim_way){.delay_ns = SIM_MS(5),
                               .rate = 10000000,
                               .queue_bytes = 20000,
                               .loss_ppm = 50000,
                               .reorder_ppm = 20000,
                               .reorder_ns = SIM_MS(3)});
    sim_fibre_start(server.host, echo_server, &server);
    for (uint32_t index = 0; index < 40; index++) {
        clients[index] = (struct program){.host = client.host, .bsd = client.bsd};
        sim_fibre_start(client.host, echo_client, &clients[index]);
    }
    run(sim, SIM_S(3000));
    for (uint32_t index = 0; index < 40; index++)
        assert_int_equal(clients[index].bytes, 50000);
    close_two();
}

static void sleeper(struct sim_host *host, void *context)
{
    struct program *program = context;
    program->began_ns = sim_now(sim);
    program->result = sim_fibre_sleep(host, SIM_MS(1234));
    program->ended_ns = sim_now(sim);
    program->result += 10 * sim_fibre_sleep(host, SIM_S(1000));
    program->ended = true;
}

static void sleep_takes_virtual_time_and_close_interrupts_it(void **state)
{
    (void)state;
    open_two(&(struct sim_way){0});
    run(sim, SIM_MS(100));
    sim_fibre_start(client.host, sleeper, &client);
    run(sim, SIM_S(10));
    assert_int_equal(client.ended_ns - client.began_ns, SIM_MS(1234));
    assert_false(client.ended);
    close_two();
    assert_true(client.ended);
    assert_int_equal(client.result, 1);
}

static void impatient_reader(struct sim_host *host, void *context)
{
    struct program *program = context;
    const struct weir_timeval time = {2, 500000};
    struct weir_sockaddr_in local = address_of(WEIR_INADDR_ANY);
    uint8_t byte;
    (void)host;
    const int fd = bsd_socket(program->bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_bind(program->bsd, fd, ADDRESS(local)), 0);
    assert_int_equal(bsd_setsockopt(program->bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    program->began_ns = sim_now(sim);
    program->result = (int)bsd_recv(program->bsd, fd, &byte, 1, 0);
    program->error = errno;
    program->ended_ns = sim_now(sim);
    program->ended = true;
}

static void a_receive_timeout_is_exact(void **state)
{
    (void)state;
    open_two(&(struct sim_way){0});
    sim_fibre_start(client.host, impatient_reader, &client);
    run(sim, SIM_S(10));
    assert_true(client.ended);
    assert_int_equal(client.result, -1);
    assert_int_equal(client.error, EAGAIN);
    assert_in_range(client.ended_ns - client.began_ns, SIM_MS(2500), SIM_MS(2500) + SIM_US(1));
    close_two();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking_echo),
        cmocka_unit_test(many_fibres_over_a_bad_link),
        cmocka_unit_test(sleep_takes_virtual_time_and_close_interrupts_it),
        cmocka_unit_test(a_receive_timeout_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
