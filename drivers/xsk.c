// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE  // syscall, MAP_POPULATE, SO_SNDBUFFORCE
#include "xsk.h"

#include <errno.h>
#include <string.h>

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef XDP_USE_SG  // Linux 6.6
#define XDP_USE_SG (1 << 4)
#endif
#define UMEM_TX_METADATA (1u << 2)  // XDP_UMEM_TX_METADATA_LEN, Linux 6.8
#define METADATA_BYTES 24u          // of struct xsk_tx_metadata
#define HEADROOM 2u                 // behind an Ethernet header the IP header is 4-aligned
#define SMALL_FRAME 2048u
#define LARGE_FRAME 4096u
// What a frame holds for sure: the kernel leaves XDP_PACKET_HEADROOM before a packet, and a driver that makes a page of
// it needs 320 bytes behind.
#define SMALL_MTU (SMALL_FRAME - 256u - HEADROOM - 18u)
#define LARGE_MTU (LARGE_FRAME - 256u - HEADROOM - 18u - 320u)
#define SEND_BUFFER (16 << 20)  // all frames may be on their way, each with Linux's own bytes

// Linux's struct xdp_umem_reg of 6.8 on; older ones take its first 32 bytes.
struct umem {
    uint64_t address, bytes;
    uint32_t chunk_bytes, headroom, flags, tx_metadata_bytes;
};
#define OLD_UMEM_BYTES offsetof(struct umem, tx_metadata_bytes)

static int bpf(int command, union bpf_attr *about) { return (int)syscall(SYS_bpf, command, about, sizeof *about); }

static int set(const struct xsk *xsk, int option, const void *value, size_t bytes)
{
    return setsockopt(xsk->fd, SOL_XDP, option, value, (socklen_t)bytes) < 0 ? errno : 0;
}

// --- memory and rings --------------------------------------------------------------------------------
static int register_memory(struct xsk *xsk)
{
    const size_t bytes = (size_t)XSK_FRAMES * xsk->frame_bytes;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    xsk->memory = memory;
    struct umem umem = {.address = (uintptr_t)memory,
                        .bytes = bytes,
                        .chunk_bytes = xsk->frame_bytes,
                        .headroom = HEADROOM,
                        .flags = UMEM_TX_METADATA,
                        .tx_metadata_bytes = METADATA_BYTES};
    xsk->checksum = set(xsk, XDP_UMEM_REG, &umem, sizeof umem) == 0;
    if (xsk->checksum)
        return 0;
    umem.flags = 0;
    return set(xsk, XDP_UMEM_REG, &umem, OLD_UMEM_BYTES);
}

static int map_ring(const struct xsk *xsk, struct xsk_ring *ring, const struct xdp_ring_offset *at, size_t entry_bytes,
                    uint64_t page)
{
    ring->mapped_bytes = at->desc + XSK_RING * entry_bytes;
    uint8_t *mapped =
        mmap(NULL, ring->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, xsk->fd, (off_t)page);
    if (mapped == MAP_FAILED)
        return errno;
    ring->mapped = mapped;
    ring->producer = (uint32_t *)(void *)(mapped + at->producer);
    ring->consumer = (uint32_t *)(void *)(mapped + at->consumer);
    ring->flags = (uint32_t *)(void *)(mapped + at->flags);
    ring->entries = mapped + at->desc;
    return 0;
}

static int map_rings(struct xsk *xsk)
{
    static const int options[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING};
    const uint32_t entries = XSK_RING;
    struct xdp_mmap_offsets at;
    socklen_t size = sizeof at;
    int reason = 0;
    for (size_t i = 0; i < sizeof options / sizeof options[0] && reason == 0; i++)
        reason = set(xsk, options[i], &entries, sizeof entries);
    if (reason == 0 && getsockopt(xsk->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &size) < 0)
        reason = errno;
    if (reason == 0 && size < sizeof at)  // before Linux 5.4 there were no flags in it
        reason = ENOPROTOOPT;
    if (reason == 0)
        reason = map_ring(xsk, &xsk->fill, &at.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING);
    if (reason == 0)
        reason = map_ring(xsk, &xsk->completion, &at.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING);
    if (reason == 0)
        reason = map_ring(xsk, &xsk->rx, &at.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
    if (reason == 0)
        reason = map_ring(xsk, &xsk->tx, &at.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
    return reason;
}

static void fill_all(struct xsk *xsk)
{
    for (uint32_t i = 0; i < XSK_RING; i++)
        xsk_ring_put(&xsk->fill, (uint64_t)i * xsk->frame_bytes);
    xsk_ring_publish(&xsk->fill);
}

// --- the program -------------------------------------------------------------------------------------
static int make_map(struct xsk *xsk, uint32_t queue)
{
    union bpf_attr about;
    memset(&about, 0, sizeof about);
    about.map_type = BPF_MAP_TYPE_XSKMAP;
    about.key_size = about.value_size = sizeof(uint32_t);
    about.max_entries = queue + 1;
    xsk->map = bpf(BPF_MAP_CREATE, &about);
    return xsk->map < 0 ? errno : 0;
}

static int make_program(struct xsk *xsk)
{
    // return bpf_redirect_map(map, context->rx_queue_index, XDP_PASS): what no socket asks for stays Linux's.
    const struct bpf_insn code[] = {
        {.code = BPF_LDX | BPF_MEM | BPF_W,
         .dst_reg = BPF_REG_2,
         .src_reg = BPF_REG_1,
         .off = (int16_t)offsetof(struct xdp_md, rx_queue_index)},
        {.code = BPF_LD | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = xsk->map},
        {.code = 0},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = XDP_PASS},
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr about;
    memset(&about, 0, sizeof about);
    about.prog_type = BPF_PROG_TYPE_XDP;
    about.expected_attach_type = BPF_XDP;
    about.insn_cnt = sizeof code / sizeof code[0];
    about.insns = (uintptr_t)code;
    about.license = (uintptr_t) "BSD";
    about.prog_flags = xsk->many ? BPF_F_XDP_HAS_FRAGS : 0;
    xsk->program = bpf(BPF_PROG_LOAD, &about);
    return xsk->program < 0 ? errno : 0;
}

static int enter_map(const struct xsk *xsk, uint32_t queue)
{
    const uint32_t value = (uint32_t)xsk->fd;
    union bpf_attr about;
    memset(&about, 0, sizeof about);
    about.map_fd = (uint32_t)xsk->map;
    about.key = (uintptr_t)&queue;
    about.value = (uintptr_t)&value;
    return bpf(BPF_MAP_UPDATE_ELEM, &about) < 0 ? errno : 0;
}

// The link goes with its descriptor: nothing stays behind, however this process ends.
static int attach(struct xsk *xsk, uint32_t ifindex, bool generic)
{
    union bpf_attr about;
    memset(&about, 0, sizeof about);
    about.link_create.prog_fd = (uint32_t)xsk->program;
    about.link_create.target_ifindex = ifindex;
    about.link_create.attach_type = BPF_XDP;
    about.link_create.flags = generic ? XDP_FLAGS_SKB_MODE : 0;
    xsk->link = bpf(BPF_LINK_CREATE, &about);
    return xsk->link < 0 ? errno : 0;
}

// --- life --------------------------------------------------------------------------------------------
static int bind_to(struct xsk *xsk, uint32_t ifindex, uint32_t queue)
{
    const int buffer = SEND_BUFFER;
    struct sockaddr_xdp address = {.sxdp_family = AF_XDP, .sxdp_ifindex = ifindex, .sxdp_queue_id = queue};
    address.sxdp_flags = (uint16_t)(XDP_USE_NEED_WAKEUP | (xsk->many ? XDP_USE_SG : 0));
    (void)setsockopt(xsk->fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
    if (bind(xsk->fd, (const struct sockaddr *)&address, sizeof address) < 0)
        return errno;
    struct xdp_options options = {0};
    socklen_t size = sizeof options;
    if (getsockopt(xsk->fd, SOL_XDP, XDP_OPTIONS, &options, &size) == 0)
        xsk->zero_copy = options.flags & XDP_OPTIONS_ZEROCOPY;
    // Copies leave through Linux's own code, which completes what the device cannot; a device that reads the memory
    // itself does not say whether it would.
    xsk->checksum = xsk->checksum && !xsk->zero_copy;
    return 0;
}

int xsk_open(struct xsk *xsk, uint32_t ifindex, uint32_t queue, uint32_t mtu, bool generic)
{
    *xsk = (struct xsk){.map = -1, .program = -1, .link = -1, .step = "AF_XDP socket on"};
    xsk->frame_bytes = mtu <= SMALL_MTU ? SMALL_FRAME : LARGE_FRAME;
    xsk->many = mtu > LARGE_MTU;
    xsk->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (xsk->fd < 0)
        return errno;
    int reason = register_memory(xsk);
    if (reason == 0)
        reason = map_rings(xsk);
    if (reason != 0)
        return reason;
    fill_all(xsk);
    xsk->step = "queue of";
    reason = bind_to(xsk, ifindex, queue);
    if (reason != 0)
        return reason;
    xsk->step = "XDP program for";
    reason = make_map(xsk, queue);
    if (reason == 0)
        reason = make_program(xsk);
    if (reason == 0)
        reason = enter_map(xsk, queue);
    if (reason == 0)
        reason = attach(xsk, ifindex, generic);
    return reason;
}

static void close_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void xsk_close(struct xsk *xsk)
{
    struct xsk_ring *const rings[] = {&xsk->rx, &xsk->tx, &xsk->fill, &xsk->completion};
    close_descriptor(&xsk->link);  // first: from then on nothing more comes
    close_descriptor(&xsk->program);
    close_descriptor(&xsk->map);
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++)
        if (rings[i]->mapped != NULL) {
            munmap(rings[i]->mapped, rings[i]->mapped_bytes);
            rings[i]->mapped = NULL;
        }
    close_descriptor(&xsk->fd);
    if (xsk->memory != NULL)
        munmap(xsk->memory, (size_t)XSK_FRAMES * xsk->frame_bytes);
    xsk->memory = NULL;
}
