// SPDX-License-Identifier: BSD-2-Clause
// An echo server over TLS (TCP port 443) on a Cortex-M3 with the preemptive kernel: one thread with a blocking session,
// below the one that serves the wire, so that a handshake of a second delays nobody's acknowledgements. After each
// session the console tells what it took. All of TLS lives in a block of its own.
#include "boards/board.h"
#include "boards/overflow.h"
#include "boards/start.h"
#include "bsd/weir_bsd.h"
#include "certificate.h"
#include "ports/preempt/preempt_port.h"
#include "tls/weir_tls.h"

#define TLS_BYTES 65536u
#define DESCRIPTORS 3
#define BSD_BYTES (256 + DESCRIPTORS * 128)
#define TLS_STACK 8192
#define IO_STACK 2048
#define IDLE_STACK 512
#define BUILD_TIME 1795651200  // 2026-11-26: no clock tells the time here, and the certificate is our own
enum { SPARE_PRIORITY = 1, TLS_PRIORITY = 10, IO_PRIORITY = 20 };

static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[BSD_BYTES / 8], tls_memory[TLS_BYTES / 8];
static uint64_t tls_stack[TLS_STACK / 8], io_stack[IO_STACK / 8], idle_stack[IDLE_STACK / 8];
static struct thread server;
static struct preempt_port port;
static struct weir_netif netif;
static struct weir_bsd *bsd;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

static void tell(const char *name, uint32_t value)
{
    char text[12];
    uint32_t at = sizeof text - 1;
    text[at] = '\0';
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    board_puts(" ");
    board_puts(name);
    board_puts(" ");
    board_puts(text + at);
}

static int64_t build_time(void *context) { return (void)context, BUILD_TIME; }

static struct weir_tls_config *configure(struct weir_tls **tls, int *error)
{
    static const struct weir_tls_system system = {
        .memory = tls_memory, .memory_bytes = sizeof tls_memory, .unix_time = build_time};
    *tls = weir_tls_create(&weir_tls_mbedtls, weir_port(bsd_instance(bsd)), &system, error);
    struct weir_tls_credentials *const own = *tls ? weir_tls_credentials_create(*tls, error) : NULL;
    if (!own)
        return NULL;
    *error = weir_tls_credentials_own(own, certificate, sizeof certificate, private_key, sizeof private_key);
    const struct weir_tls_options options = {
        .role = WEIR_TLS_SERVER, .credentials = own, .handshakes = 1, .record_bytes = 1360};
    return *error == WEIR_OK ? weir_tls_config_create(*tls, &options, error) : NULL;
}

static void serve(const struct weir_tls *tls, struct weir_tls_config *config, int fd)
{
    uint8_t data[256];
    int error = WEIR_OK, got;
    const uint32_t rest = (uint32_t)weir_tls_memory(tls);
    struct weir_tls_session *const session = weir_tls_open_fd(config, bsd, fd, NULL, &error);
    if (!session) {
        board_puts(weir_tls_error_name(error));
        (void)bsd_close(bsd, fd);
        return;
    }
    const uint64_t begun_us = board_now_us();
    error = weir_tls_handshake(session);
    const uint32_t handshake_us = (uint32_t)(board_now_us() - begun_us), open = (uint32_t)weir_tls_memory(tls);
    while ((got = weir_tls_read(session, data, sizeof data)) > 0)
        (void)weir_tls_write(session, data, (uint32_t)got);
    struct weir_tls_info info;
    weir_tls_info(session, &info);
    weir_tls_close(session);
    board_puts(weir_tls_error_name(error));
    if (error != WEIR_OK)
        tell("library", (uint32_t)-info.library_error);
    tell("handshake_us", handshake_us);
    tell("rest", rest);
    tell("session", open - rest);
    tell("peak", (uint32_t)weir_tls_memory_peak(tls));
    tell("stack", TLS_STACK - (uint32_t)thread_stack_unused(&server));
    board_puts("\n");
}

static bool start_stack(void)
{
    static const struct port_board board = {.now_us = board_now_us, .granularity_us = 1, .entropy = board_entropy};
    static const struct weir_bsd_config config = {.descriptors = DESCRIPTORS,
                                                  .memory = bsd_memory,
                                                  .memory_bytes = sizeof bsd_memory,
                                                  .set_errno = preempt_port_set_errno};
    static volatile bool unused;
    preempt_port_init(&port, &board);
    board_ethernet(&netif, &unused);
    struct weir *const weir = board_start(&port.core, &netif, memory, sizeof memory);
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    bsd = weir && preempt_port_start(&port, &io, SPARE_PRIORITY) ? bsd_create(weir, &config) : NULL;
    return bsd;
}

static int listen_at(uint16_t number)
{
    const struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(number)};
    const int fd = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    const struct weir_sockaddr *const address = (const struct weir_sockaddr *)(const void *)&local;
    return fd >= 0 && bsd_bind(bsd, fd, address, sizeof local) == 0 && bsd_listen(bsd, fd, 2) == 0 ? fd : -1;
}

static void first(void *unused)
{
    struct weir_tls *tls = NULL;
    int error = WEIR_OK;
    (void)unused;
    const int listener = start_stack() ? listen_at(443) : -1;
    struct weir_tls_config *const config = listener >= 0 ? configure(&tls, &error) : NULL;
    board_puts(config ? "weir: TLS echo on port 443\n" : "weir: no memory, no interface, or no randomness\n");
    while (config) {
        const int fd = bsd_accept(bsd, listener, NULL, NULL);
        if (fd >= 0)
            serve(tls, config, fd);
    }
}

int main(void)
{
    static const struct kernel_board board = {board_now_us,   board_alarm, board_idle,
                                              board_overflow, idle_stack,  sizeof idle_stack};
    board_init();
    if (!kernel_init(&board) ||
        !thread_create(&server, &(struct thread_config){"tls", first, NULL, tls_stack, TLS_STACK, TLS_PRIORITY})) {
        board_puts("weir: no memory\n");
        return 1;
    }
    kernel_start();
}
