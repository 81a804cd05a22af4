// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/preload/preload.h"

uint8_t run_kinds[KINDS];
uint8_t run_token[RUN_TOKEN];
static bool active, begun;

// --- the C library -----------------------------------------------------------------------------------
static void find(void *slot, const char *name)
{
    void *const found = dlsym(RTLD_NEXT, name);
    memcpy(slot, &found, sizeof found);
}

const struct run_libc *run_libc(void)
{
    static struct run_libc libc;
    static bool ready;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return &libc;
    const struct {
        void *slot;
        const char *name;
    } names[] = {{&libc.read, "read"},
                 {&libc.write, "write"},
                 {&libc.readv, "readv"},
                 {&libc.writev, "writev"},
                 {&libc.recv, "recv"},
                 {&libc.recvfrom, "recvfrom"},
                 {&libc.recvmsg, "recvmsg"},
                 {&libc.recvmmsg, "recvmmsg"},
                 {&libc.send, "send"},
                 {&libc.sendto, "sendto"},
                 {&libc.sendmsg, "sendmsg"},
                 {&libc.sendmmsg, "sendmmsg"},
                 {&libc.accept4, "accept4"},
                 {&libc.connect, "connect"},
                 {&libc.close, "close"},
                 {&libc.ioctl, "ioctl"},
                 {&libc.fcntl, "fcntl"},
                 {&libc.getaddrinfo, "getaddrinfo"},
                 {&libc.getnameinfo, "getnameinfo"},
                 {&libc.execve, "execve"},
                 {&libc.execvpe, "execvpe"},
                 {&libc.posix_spawn, "posix_spawn"},
                 {&libc.posix_spawnp, "posix_spawnp"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        find(names[i].slot, names[i].name);
    __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    return &libc;
}

// --- which server ------------------------------------------------------------------------------------
static void begin(void)
{
    const char *const digits = getenv(RUN_ENVIRONMENT);
    begun = true;
    active = digits != NULL && run_token_read(run_token, digits);
}

bool run_active(void)
{
    if (!begun)
        begin();
    return active;
}

bool run_ours(int fd, uint8_t id[8])
{
    struct sockaddr_un name;
    struct run_end end;
    socklen_t length = sizeof name;
    if (!run_active() || syscall(SYS_getpeername, fd, &name, &length) != 0 || length != RUN_END_LENGTH ||
        name.sun_family != AF_UNIX || name.sun_path[0] != '\0' || memcmp(name.sun_path + 1, RUN_END, 4) != 0)
        return false;
    memcpy(&end, name.sun_path + 5, sizeof end);
    memcpy(id, end.socket, sizeof end.socket);
    return memcmp(end.server, run_token, sizeof end.server) == 0;
}

// --- asking ------------------------------------------------------------------------------------------
static int server_connect(void)
{
    struct sockaddr_un name;
    const socklen_t length = run_server_name(&name, run_token);
    const int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    while (syscall(SYS_connect, fd, &name, length) != 0)
        if (errno != EINTR) {
            syscall(SYS_close, fd);
            return -ENETDOWN;
        }
    return fd;
}

static bool question_send(int fd, const struct run_question *question)
{
    struct run_request request = {.call = question->call,
                                  .a = question->a,
                                  .b = question->b,
                                  .c = question->c,
                                  .length = (uint32_t)question->length};
    union run_rights control = RUN_RIGHTS;
    struct iovec iov[2] = {{&request, sizeof request}, {(void *)(uintptr_t)question->data, question->length}};
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = 2};
    memcpy(request.token, run_token, sizeof request.token);
    if (question->id != NULL)
        memcpy(request.socket, question->id, sizeof request.socket);
    if (question->fd >= 0) {
        memcpy(CMSG_DATA(&control.header), &question->fd, sizeof question->fd);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    long sent;
    while ((sent = syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent >= 0;
}

static int answer_receive(int fd, const struct run_question *question)
{
    struct run_answer answer;
    struct iovec iov[2] = {{&answer, sizeof answer}, {question->answer, question->room}};
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = 2};
    long got;
    while ((got = syscall(SYS_recvmsg, fd, &message, 0)) < 0 && errno == EINTR && !question->waits)
        ;
    if (got < 0)
        return errno == EINTR ? -EINTR : errno == EAGAIN ? -EAGAIN : -ENETDOWN;
    if (got < (long)sizeof answer)
        return -ENETDOWN;
    if (question->got != NULL)
        *question->got = answer.length;
    return answer.result;
}

int run_ask(const struct run_question *question)
{
    const int saved = errno;
    const int fd = question->length <= RUN_DATA ? server_connect() : -E2BIG;
    int result = fd;
    if (fd >= 0) {
        if (question->timeout != NULL && (question->timeout->tv_sec || question->timeout->tv_usec))
            (void)syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, question->timeout, sizeof *question->timeout);
        result = question_send(fd, question) ? answer_receive(fd, question) : -ENETDOWN;
        syscall(SYS_close, fd);
    }
    errno = saved;
    return result;
}

int run_result(int result)
{
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

int run_error(const uint8_t id[8])
{
    int error = 0;
    const struct run_question question = {.id = id,
                                          .call = RUN_GET,
                                          .a = SOL_SOCKET,
                                          .b = SO_ERROR,
                                          .c = sizeof error,
                                          .fd = -1,
                                          .answer = &error,
                                          .room = sizeof error};
    const int result = run_ask(&question);
    return result == -ENETDOWN ? ECONNRESET : result < 0 ? 0 : error;
}

void run_undone(const char *name)
{
    const struct run_question question = {.call = RUN_UNDONE, .data = name, .length = strlen(name), .fd = -1};
    (void)run_ask(&question);
}

// --- descriptors that come from elsewhere ------------------------------------------------------------
void run_descriptor_look(int fd)
{
    uint8_t id[8];
    int type = 0;
    socklen_t length = sizeof type;
    if (!run_ours(fd, id)) {
        run_kind_set(fd, KIND_NONE);
        return;
    }
    (void)syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length);
    run_kind_set(fd, type == SOCK_STREAM ? KIND_ASK : KIND_DATAGRAM);
}

void run_descriptors_came(const struct msghdr *message)
{
    struct msghdr *const walk = (struct msghdr *)(uintptr_t)message;
    if (message->msg_controllen == 0)
        return;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(walk); at != NULL; at = CMSG_NXTHDR(walk, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t bytes = CMSG_LEN(0); bytes + sizeof(int) <= at->cmsg_len; bytes += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(at) + (bytes - CMSG_LEN(0)), sizeof fd);
            run_descriptor_look(fd);
        }
    }
}

void run_descriptors_scan(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            run_descriptor_look(atoi(entry->d_name));
    if (folder != NULL)
        closedir(folder);
}

extern int __nss_configure_lookup(const char *database, const char *services);

__attribute__((constructor)) static void start(void)
{
    const int saved = errno;
    (void)run_libc();
    if (run_active()) {
        run_descriptors_scan();
        (void)__nss_configure_lookup("hosts", "files");  // names by the network are asked of Weir
    }
    errno = saved;
}
