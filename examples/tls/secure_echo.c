// SPDX-License-Identifier: BSD-2-Clause
// An echo server over TLS: blocking, one client at a time. docs/tls.md takes it apart. As root:
//
//     build/host/examples/tls/secure_echo tap0 10.0.0.1/24 server.pem server.key &
//     ip addr add 10.0.0.2/24 dev tap0; openssl s_client -connect 10.0.0.1:4433 -CAfile ca.pem
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bsd/weir_bsd.h"
#include "drivers/tap.h"
#include "ports/posix/posix.h"
#include "tls/weir_tls.h"

static int64_t now(void *context) { return (void)context, (int64_t)time(NULL); }

static void serve_client(struct weir_tls_config *config, struct weir_bsd *bsd, int fd)
{
    uint8_t data[1024];
    int got, error = WEIR_OK;
    struct weir_tls_session *session = weir_tls_open_fd(config, bsd, fd, NULL, &error);
    if (session == NULL) {
        bsd_close(bsd, fd);
        return;
    }
    while ((got = weir_tls_read(session, data, sizeof data)) > 0)  // the first read makes the handshake
        weir_tls_write(session, data, (uint32_t)got);
    if (got < 0)
        fprintf(stderr, "secure_echo: %s\n", weir_tls_error_name(got));
    weir_tls_close(session);  // close_notify, FIN, and bsd_close
}

static int serve(struct weir_tls_config *config, struct weir_bsd *bsd)
{
    const struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(4433)};
    const int listener = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    if (bsd_bind(bsd, listener, (const struct weir_sockaddr *)(const void *)&local, sizeof local) != 0 ||
        bsd_listen(bsd, listener, 8) != 0)
        return 1;
    for (;;)
        serve_client(config, bsd, bsd_accept(bsd, listener, NULL, NULL));
}

static size_t file_read(const char *name, char *out, size_t most)
{
    FILE *file = fopen(name, "rb");
    const size_t bytes = file != NULL ? fread(out, 1, most, file) : 0;
    return file != NULL && fclose(file) == 0 ? bytes : 0;
}

static struct weir_tls_config *configure(const struct weir_port *port, char **files, int *error)
{
    static char chain[16384], key[8192];
    static const struct weir_tls_system system = {.unix_time = now};
    struct weir_tls *tls = weir_tls_create(&weir_tls_mbedtls, port, &system, error);
    struct weir_tls_credentials *own = tls != NULL ? weir_tls_credentials_create(tls, error) : NULL;
    if (own == NULL)
        return NULL;
    const size_t chain_bytes = file_read(files[0], chain, sizeof chain);
    const size_t key_bytes = file_read(files[1], key, sizeof key);
    *error = weir_tls_credentials_own(own, chain, chain_bytes, key, key_bytes);
    const struct weir_tls_options options = {.role = WEIR_TLS_SERVER, .credentials = own};
    return *error == WEIR_OK ? weir_tls_config_create(tls, &options, error) : NULL;
}

int main(int argc, char **argv)
{
    static struct tap tap;
    static struct posix_host host;
    static struct weir_netif netif;
    unsigned a, b, c, d, bits;
    int error = WEIR_OK;
    if (argc != 5 || sscanf(argv[2], "%u.%u.%u.%u/%u", &a, &b, &c, &d, &bits) != 5 || (a | b | c | d) > 255 ||
        bits > 32) {
        fputs("usage: secure_echo TAP A.B.C.D/N CERTIFICATES KEY\n", stderr);
        return 2;
    }
    if (tap_open(&tap, argv[1], TAP_UP) < 0 || posix_host_init(&host, NULL) != 0) {
        fprintf(stderr, "secure_echo: %s\n", tap_error(&tap));
        return 1;
    }
    struct weir *weir = weir_create(NULL, 0, &host.port, NULL);
    struct weir_tls_config *config = configure(&host.port, argv + 3, &error);
    struct weir_bsd *bsd = weir != NULL ? bsd_create(weir, NULL) : NULL;
    if (config == NULL || bsd == NULL) {
        fprintf(stderr, "secure_echo: %s\n", weir_tls_error_name(error));
        return 1;
    }
    tap_attach(&tap, &netif, "eth0");
    posix_host_attach(&host, weir);
    if (weir_netif_add(weir, &netif) < 0 || posix_host_add(&host, &netif, tap_fd(&tap)) != 0)
        return 1;
    const struct weir_addr address = weir_ip4((uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d);
    if (weir_netif_set_address(&netif, address, (uint8_t)bits, WEIR_ADDRESS_AT_ONCE) < 0 ||
        posix_host_start(&host) != 0)
        return 1;
    return serve(config, bsd);
}
