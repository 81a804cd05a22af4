// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "world.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAME_MAX 2048

static enum weir_tx_verdict cable_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    const struct world *world = netif->driver_data;
    struct iovec vector[WEIR_CFG_TX_SLICES];
    for (uint16_t index = 0; index < tx->count; index++)
        vector[index] = (struct iovec){(void *)(uintptr_t)tx->slices[index].data, tx->slices[index].length};
    const struct msghdr message = {.msg_iov = vector, .msg_iovlen = tx->count};
    if (sendmsg(world->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return WEIR_TX_DONE;
    return errno == EAGAIN || errno == ENOBUFS ? WEIR_TX_FULL : WEIR_TX_DONE;
}

static int cable_poll(struct weir_netif *netif, int budget)
{
    const struct world *world = netif->driver_data;
    uint8_t frame[FRAME_MAX];
    int count = 0;
    for (; count < budget; count++) {
        const ssize_t length = recv(world->fd, frame, sizeof frame, MSG_DONTWAIT);
        if (length <= 0)
            break;
        const struct weir_slice slice = {frame, (uint32_t)length};
        weir_input(netif, &(struct weir_frame){.slices = &slice, .count = 1, .length = (uint32_t)length});
    }
    return count;
}

static const struct weir_driver cable = {.name = "cable", .tx = cable_tx, .poll = cable_poll};

static void open_instance(struct world *world, const struct posix_options *options)
{
    memset(world, 0, sizeof *world);
    world->fd = -1;
    assert_int_equal(posix_host_init(&world->host, options), 0);
    world->weir = weir_create(NULL, 0, &world->host.port, NULL);
    assert_non_null(world->weir);
    posix_host_attach(&world->host, world->weir);
}

void world_open(struct world *world, bool threaded, const struct weir_bsd_config *config)
{
    open_instance(world, NULL);
    world->bsd = bsd_create(world->weir, config);
    assert_non_null(world->bsd);
    if (threaded)
        assert_int_equal(posix_host_start(&world->host), 0);
}

void world_close(struct world *world)
{
    posix_host_stop(&world->host);
    bsd_destroy(world->bsd);
    weir_destroy(world->weir);
    posix_host_close(&world->host);
    if (world->fd >= 0)
        close(world->fd);
}

static void plug(struct world *world, int fd, uint32_t address, bool threaded)
{
    open_instance(world, NULL);
    world->bsd = bsd_create(world->weir, NULL);
    assert_non_null(world->bsd);
    world->fd = fd;
    weir_netif_init(&world->netif, "cable0", &cable, &weir_link_rawip);
    world->netif.driver_data = world;
    assert_int_equal(weir_netif_add(world->weir, &world->netif), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&world->netif, weir_addr_v4(address), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(posix_host_add(&world->host, &world->netif, fd), 0);
    if (threaded)
        assert_int_equal(posix_host_start(&world->host), 0);
}

void worlds_open(struct world *a, struct world *b, bool threaded)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    plug(a, ends[0], WORLD_A, threaded);
    plug(b, ends[1], WORLD_B, threaded);
}

void worlds_close(struct world *a, struct world *b)
{
    world_close(a);
    world_close(b);
}

struct weir_sockaddr_in world_address(uint32_t host_order, uint16_t port)
{
    return (struct weir_sockaddr_in){
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(port), .sin_addr = {weir_htonl(host_order)}};
}

int world_listener(struct world *world, uint16_t port)
{
    struct weir_sockaddr_in local = world_address(WEIR_INADDR_ANY, port);
    const int on = 1, fd = bsd_socket(world->bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bsd_setsockopt(world->bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bsd_bind(world->bsd, fd, ADDRESS(local)), 0);
    assert_int_equal(bsd_listen(world->bsd, fd, 16), 0);
    return fd;
}

void world_streams(struct world *a, struct world *b, uint32_t address, uint16_t port, int *client, int *server)
{
    struct weir_sockaddr_in peer = world_address(address, port);
    const int listener = world_listener(b, port);
    *client = bsd_socket(a->bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_true(*client >= 0);
    assert_int_equal(bsd_connect(a->bsd, *client, ADDRESS(peer)), 0);
    *server = bsd_accept(b->bsd, listener, NULL, NULL);
    assert_true(*server >= 0);
    assert_int_equal(bsd_close(b->bsd, listener), 0);
}
