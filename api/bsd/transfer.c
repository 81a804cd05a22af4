// SPDX-License-Identifier: BSD-2-Clause
// send, recv and all their kin: arguments, flags, ancillary data; the work is done in stream.c and message.c.
#include "internal.h"

#define MESSAGES (WEIR_CFG_UDP || WEIR_CFG_RAW)  // else all sockets are streams

// Of the caller's pieces of memory; what else there is the calls find out.
static void transfer_init(struct bsd_transfer *t, const struct weir_iovec *vector, size_t count)
{
    t->cursor = (struct bsd_cursor){vector, count, 0};
    t->bytes = count ? vector->iov_len : 0;
    t->out_flags = 0;
    t->stream = true;
    if (WEIR_CFG_IP6)
        t->family = WEIR_AF_INET;
    t->named = false;
    if (MESSAGES)
        memset(&t->message, 0, sizeof t->message);
}

// To whom a message goes; streams have their peer.
static int peer_take(struct bsd_transfer *t)
{
    if (!t->named || t->stream)
        return WEIR_OK;
    const int error = bsd_name_peer(t->file, &t->name);
    t->message.peer = t->name.endpoint;
    if (!t->message.netif_index)
        t->message.netif_index = t->name.netif_index;
    return error;
}

static int move(struct bsd_transfer *t, int flags, bool sending)
{
    const struct bsd_layer *const layer = t->stream ? bsd_layer_of(t->file) : NULL;
    if (layer)
        return sending ? layer->send(t, flags) : layer->receive(t, flags);
    if (t->stream)
        return sending ? bsd_stream_send(t, flags) : bsd_stream_receive(t, flags);
    return sending ? bsd_message_send(t, flags) : bsd_message_receive(t, flags);
}

// What most calls are, where memory does not fault: one piece to or from a stream that nobody else is busy with, and no
// need to wait. WEIR_AGAIN: it takes more.
static int move_at_once(struct weir_bsd *bsd, int fd, const struct bsd_transfer *t, int flags, bool sending)
{
    const struct bsd_file *file = bsd_file_find(bsd, fd);
    const struct weir_iovec *piece = t->cursor.vector;
    if (!file || BSD_IS_SET(file) || bsd_layer_of(file) || (MESSAGES && file->type != WEIR_STREAM) ||
        flags & ~(WEIR_MSG_DONTWAIT | WEIR_MSG_NOSIGNAL) || t->cursor.count != 1 || !piece->iov_len ||
        file->receive_low_water > 1 || (sending ? file->write.taken || BSD_HOLDS_BACK(file) : file->read.taken))
        return WEIR_AGAIN;
    return sending ? weir_socket_write(bsd->weir, file->socket, piece->iov_base, (uint32_t)piece->iov_len)
                   : weir_socket_read(bsd->weir, file->socket, piece->iov_base, (uint32_t)piece->iov_len);
}

static int move_patiently(struct weir_bsd *bsd, int fd, struct bsd_transfer *t, int flags, bool sending)
{
    int result = bsd_socket_pin(bsd, fd, &t->file);
    if (result >= 0) {
        struct bsd_file *file = t->file;
        t->wait = !(flags & WEIR_MSG_DONTWAIT) && !(file->flags & BSD_NONBLOCK);
        t->deadline_us = bsd_deadline(bsd, sending ? file->send_timeout_us : file->receive_timeout_us);
        t->stream = !MESSAGES || file->type == WEIR_STREAM;
        t->wanted = file->flags;
        if (WEIR_CFG_IP6)
            t->family = file->family;
        result = MESSAGES && sending ? peer_take(t) : WEIR_OK;
        if (result >= 0)
            result = move(t, flags, sending);
        bsd_file_unpin(file);
        t->file = NULL;
    }
    return result;
}

static int transfer(struct weir_bsd *bsd, int fd, struct bsd_transfer *t, int flags, bool sending)
{
    bsd_lock(bsd);
    if (sending)
        bsd_clock(bsd);
    int result = WEIR_CFG_BSD_FAULTS ? WEIR_AGAIN : move_at_once(bsd, fd, t, flags, sending);
    // what is there is taken whatever the time is
    if (!sending && (result == WEIR_AGAIN || weir_output_pending(bsd->weir)))
        bsd_clock(bsd);
    if (result == WEIR_AGAIN) {
        result = move_patiently(bsd, fd, t, flags, sending);
    } else if (sending && result > 0 && (size_t)result < t->bytes) {
        t->cursor.offset = (size_t)result;
        t->bytes -= (size_t)result;
        const int rest = move_patiently(bsd, fd, t, flags, sending);
        result += rest > 0 ? rest : 0;
    }
    bsd_leave(bsd);
    return result == WEIR_LISTENING ? WEIR_NOT_CONNECTED : result;
}

static weir_ssize send_result(struct weir_bsd *bsd, int flags, int result)
{
    if (result == WEIR_SHUT_DOWN && !(flags & WEIR_MSG_NOSIGNAL) && bsd->config.broken_pipe)
        bsd->config.broken_pipe(bsd->config.context);
    return bsd_result(bsd, result);
}

#define MOST ((size_t)INT32_MAX)  // moved in one call

weir_ssize bsd_sendto(struct weir_bsd *bsd, int fd, const void *data, size_t bytes, int flags,
                      const struct weir_sockaddr *address, weir_socklen length)
{
    const struct weir_iovec one = {(void *)(uintptr_t)data, bytes < MOST ? bytes : MOST};
    struct bsd_transfer t;
    transfer_init(&t, &one, 1);
    t.named = address;
    const int error = address ? bsd_address_in(bsd, address, length, &t.name) : WEIR_OK;
    return error ? bsd_fail(bsd, error) : send_result(bsd, flags, transfer(bsd, fd, &t, flags, true));
}

weir_ssize bsd_send(struct weir_bsd *bsd, int fd, const void *data, size_t bytes, int flags)
{
    return bsd_sendto(bsd, fd, data, bytes, flags, NULL, 0);
}

weir_ssize bsd_write(struct weir_bsd *bsd, int fd, const void *data, size_t bytes)
{
    return bsd_sendto(bsd, fd, data, bytes, 0, NULL, 0);
}

weir_ssize bsd_recvfrom(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags,
                        struct weir_sockaddr *address, weir_socklen *length)
{
    const struct weir_iovec one = {data, bytes < MOST ? bytes : MOST};
    struct bsd_transfer t;
    transfer_init(&t, &one, 1);
    const int result = transfer(bsd, fd, &t, flags, false);
    if (result < 0)
        return bsd_fail(bsd, result);
    if (address && t.stream)
        return result;  // connection-mode: the address is left alone (Linux)
    return bsd_address_out(bsd, t.family, &t.message.peer, address, length) ? bsd_fail(bsd, WEIR_FAULT) : result;
}

weir_ssize bsd_recv(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags)
{
    return bsd_recvfrom(bsd, fd, data, bytes, flags, NULL, NULL);
}
weir_ssize bsd_read(struct weir_bsd *bsd, int fd, void *data, size_t bytes)
{
    return bsd_recvfrom(bsd, fd, data, bytes, 0, NULL, NULL);
}

// Takes a copy of the caller's vector, checks it, and points the transfer at it.
static int vector_in(struct weir_bsd *bsd, struct bsd_transfer *t, struct weir_iovec *copy,
                     const struct weir_iovec *vector, size_t count)
{
    if (count > WEIR_IOV_MAX)
        return WEIR_TOO_BIG;
    if (bsd_copy_in(bsd, copy, vector, count * sizeof *copy))
        return WEIR_FAULT;
    t->bytes = 0;
    for (size_t index = 0; index < count; index++) {
        if (copy[index].iov_len > MOST - t->bytes)
            return WEIR_INVALID;
        t->bytes += copy[index].iov_len;
    }
    t->cursor = (struct bsd_cursor){copy, count, 0};
    return WEIR_OK;
}

static int vector_bad(struct weir_bsd *bsd, int error)
{
    return bsd_fail(bsd, error == WEIR_TOO_BIG ? WEIR_INVALID : error);
}

weir_ssize bsd_writev(struct weir_bsd *bsd, int fd, const struct weir_iovec *vector, int count)
{
    struct weir_iovec copy[WEIR_IOV_MAX];
    struct bsd_transfer t = {0};
    const int error = count < 1 ? WEIR_INVALID : vector_in(bsd, &t, copy, vector, (size_t)count);
    return error ? vector_bad(bsd, error) : send_result(bsd, 0, transfer(bsd, fd, &t, 0, true));
}

weir_ssize bsd_readv(struct weir_bsd *bsd, int fd, const struct weir_iovec *vector, int count)
{
    struct weir_iovec copy[WEIR_IOV_MAX];
    struct bsd_transfer t = {0};
    const int error = count < 1 ? WEIR_INVALID : vector_in(bsd, &t, copy, vector, (size_t)count);
    return error ? vector_bad(bsd, error) : bsd_result(bsd, transfer(bsd, fd, &t, 0, false));
}

// --- ancillary data --------------------------------------------------------------------------------------------------
#if WEIR_CFG_IP6
static int control_item6(struct weir_cmsghdr *cmsg, size_t bytes, struct weir_message *message)
{
    struct weir_in6_pktinfo info;
    int32_t number = 0;
    if (cmsg->cmsg_level != WEIR_IPPROTO_IPV6 || bytes < sizeof number)
        return WEIR_INVALID;
    if (cmsg->cmsg_type == WEIR_IPV6_PKTINFO) {
        if (bytes < sizeof info)
            return WEIR_INVALID;
        memcpy(&info, weir_cmsg_data(cmsg), sizeof info);
        if (info.ipi6_ifindex > UINT8_MAX)
            return WEIR_INVALID;
        message->netif_index = (uint8_t)info.ipi6_ifindex;
        message->local = weir_addr_with_zone(weir_addr_v6(info.ipi6_addr.s6_bytes), (uint8_t)info.ipi6_ifindex);
        return WEIR_OK;
    }
    memcpy(&number, weir_cmsg_data(cmsg), sizeof number);
    const bool socket_s = number == -1;  // RFC 3542 §6.3, §6.5: as without it
    if (cmsg->cmsg_type == WEIR_IPV6_HOPLIMIT && (socket_s || (number > 0 && number < 256)))
        message->ttl = (uint8_t)(socket_s ? 0 : number);
    else if (cmsg->cmsg_type == WEIR_IPV6_TCLASS && (socket_s || (number >= 0 && number < 256)))
        message->tos = (uint8_t)(socket_s ? 0 : number);
    else
        return WEIR_INVALID;
    return WEIR_OK;
}
#else
static int control_item6(struct weir_cmsghdr *cmsg, size_t bytes, struct weir_message *message)
{
    return (void)cmsg, (void)bytes, (void)message, WEIR_INVALID;
}
#endif

static int control_item(struct weir_cmsghdr *cmsg, struct weir_message *message)
{
    int32_t number = 0;
    const size_t bytes = cmsg->cmsg_len - weir_cmsg_len(0);
    if (cmsg->cmsg_level != WEIR_IPPROTO_IP)
        return control_item6(cmsg, bytes, message);
    if (cmsg->cmsg_type == WEIR_IP_PKTINFO) {
        struct weir_in_pktinfo info;
        if (bytes < sizeof info)
            return WEIR_INVALID;
        memcpy(&info, weir_cmsg_data(cmsg), sizeof info);
        if (info.ipi_ifindex < 0 || info.ipi_ifindex > 255)
            return WEIR_INVALID;
        message->netif_index = (uint8_t)info.ipi_ifindex;
        message->local = weir_addr_v4(weir_ntohl(info.ipi_spec_dst.s_addr));
        return WEIR_OK;
    }
    if (bytes < sizeof number)
        return WEIR_INVALID;
    memcpy(&number, weir_cmsg_data(cmsg), sizeof number);
    if (cmsg->cmsg_type == WEIR_IP_TTL && number > 0 && number < 256)
        message->ttl = (uint8_t)number;
    else if (cmsg->cmsg_type == WEIR_IP_TOS && number >= 0 && number < 256)
        message->tos = (uint8_t)number;
    else
        return WEIR_INVALID;
    return WEIR_OK;
}

#define CONTROL_MAX 256  // bytes of ancillary data that can be sent

static int control_in(struct weir_bsd *bsd, const struct weir_msghdr *header, struct weir_message *message)
{
    union {
        size_t align;
        uint8_t bytes[CONTROL_MAX];
    } copy;
    struct weir_msghdr local = {.msg_control = &copy, .msg_controllen = header->msg_controllen};
    if (!header->msg_control || !header->msg_controllen)
        return WEIR_OK;
    if (header->msg_controllen > sizeof copy)
        return WEIR_NO_MEMORY;
    if (bsd_copy_in(bsd, &copy, header->msg_control, header->msg_controllen))
        return WEIR_FAULT;
    for (struct weir_cmsghdr *cmsg = weir_cmsg_first(&local); cmsg; cmsg = weir_cmsg_next(&local, cmsg)) {
        const size_t left = local.msg_controllen - (size_t)((uint8_t *)cmsg - copy.bytes);
        if (cmsg->cmsg_len < weir_cmsg_len(0) || cmsg->cmsg_len > left)
            return WEIR_INVALID;
        const int error = control_item(cmsg, message);
        if (error)
            return error;
    }
    return WEIR_OK;
}

static void control_put(struct weir_msghdr *local, size_t room, int level, int type, const void *data, size_t bytes)
{
    if (local->msg_controllen + weir_cmsg_space(bytes) > room) {
        local->msg_flags |= WEIR_MSG_CTRUNC;
        return;
    }
    struct weir_cmsghdr *cmsg = (struct weir_cmsghdr *)(void *)((uint8_t *)local->msg_control + local->msg_controllen);
    *cmsg = (struct weir_cmsghdr){weir_cmsg_len(bytes), level, type};
    memcpy(weir_cmsg_data(cmsg), data, bytes);
    local->msg_controllen += weir_cmsg_space(bytes);
}

#if WEIR_CFG_IP_OPTIONS
static void control_put_options(const struct bsd_transfer *t, struct weir_msghdr *local, size_t room)
{
    const struct weir_ip_options *const options = &t->message.options;
    if (options->length)
        control_put(local, room, WEIR_IPPROTO_IP, WEIR_IP_RECVOPTS, options->bytes, options->length);
}
#else
static void control_put_options(const struct bsd_transfer *t, struct weir_msghdr *local, size_t room)
{
    (void)t, (void)local, (void)room;
}
#endif

static void control_put_ip4(const struct bsd_transfer *t, struct weir_msghdr *local, size_t room)
{
    if (t->wanted & BSD_PKTINFO) {
        const uint32_t to = weir_htonl(weir_addr_to_v4(t->message.local));
        const struct weir_in_pktinfo info = {t->message.netif_index, {to}, {to}};
        control_put(local, room, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, &info, sizeof info);
    }
}

#if WEIR_CFG_IP6
// A socket of AF_INET6 is told where a packet came to in one way; the number of hops and the class as the packet's
// family has them.
static void control_put_all(const struct bsd_transfer *t, struct weir_msghdr *local, size_t room)
{
    const bool v4 = weir_addr_is_v4(t->message.local);
    const int level = v4 ? WEIR_IPPROTO_IP : WEIR_IPPROTO_IPV6;
    const int32_t ttl = t->message.ttl, tos = t->message.tos;
    if (t->family != WEIR_AF_INET6) {
        control_put_ip4(t, local, room);
    } else if (t->wanted & BSD_PKTINFO) {
        struct weir_in6_pktinfo info = {.ipi6_ifindex = t->message.netif_index};
        weir_addr_to_v6(t->message.local, info.ipi6_addr.s6_bytes);
        control_put(local, room, WEIR_IPPROTO_IPV6, WEIR_IPV6_PKTINFO, &info, sizeof info);
    }
    if (t->wanted & BSD_RECVTTL)
        control_put(local, room, level, v4 ? WEIR_IP_TTL : WEIR_IPV6_HOPLIMIT, &ttl, sizeof ttl);
    if (t->wanted & BSD_RECVTOS)
        control_put(local, room, level, v4 ? WEIR_IP_TOS : WEIR_IPV6_TCLASS, &tos, sizeof tos);
}
#else
static void control_put_all(const struct bsd_transfer *t, struct weir_msghdr *local, size_t room)
{
    const int32_t ttl = t->message.ttl, tos = t->message.tos;
    control_put_ip4(t, local, room);
    if (t->wanted & BSD_RECVTTL)
        control_put(local, room, WEIR_IPPROTO_IP, WEIR_IP_TTL, &ttl, sizeof ttl);
    if (t->wanted & BSD_RECVTOS)
        control_put(local, room, WEIR_IPPROTO_IP, WEIR_IP_TOS, &tos, sizeof tos);
}
#endif

static int control_out(struct weir_bsd *bsd, const struct bsd_transfer *t, struct weir_msghdr *header)
{
    union {
        size_t align;
        uint8_t bytes[CONTROL_MAX];
    } copy = {0};
    struct weir_msghdr local = {.msg_control = &copy, .msg_flags = header->msg_flags};
    const size_t room = !header->msg_control                   ? 0
                        : header->msg_controllen < sizeof copy ? header->msg_controllen
                                                               : sizeof copy;
    control_put_all(t, &local, room);
    control_put_options(t, &local, room);
    header->msg_flags = local.msg_flags;
    header->msg_controllen = local.msg_controllen;
    return bsd_copy_out(bsd, header->msg_control, &copy, local.msg_controllen);
}

weir_ssize bsd_sendmsg(struct weir_bsd *bsd, int fd, const struct weir_msghdr *message, int flags)
{
    struct weir_iovec copy[WEIR_IOV_MAX];
    struct weir_msghdr header;
    struct bsd_transfer t = {0};
    int error = bsd_copy_in(bsd, &header, message, sizeof header);
    if (!error)
        error = vector_in(bsd, &t, copy, header.msg_iov, header.msg_iovlen);
    t.named = header.msg_name;
    if (!error && t.named)
        error = bsd_address_in(bsd, header.msg_name, header.msg_namelen, &t.name);
    if (!error)
        error = control_in(bsd, &header, &t.message);
    return error ? bsd_fail(bsd, error) : send_result(bsd, flags, transfer(bsd, fd, &t, flags, true));
}

// Everything of the header but its pointers comes back: name, flags, lengths.
static int header_out(struct weir_bsd *bsd, const struct bsd_transfer *t, struct weir_msghdr *header)
{
    int error = WEIR_OK;
    header->msg_flags = t->out_flags;
    if (!t->stream && header->msg_name) {
        union bsd_sockaddr name;
        const weir_socklen whole = bsd_sockaddr_make(t->family, &t->message.peer, &name);
        error = bsd_copy_out(bsd, header->msg_name, &name, header->msg_namelen < whole ? header->msg_namelen : whole);
        header->msg_namelen = whole;
    } else {
        header->msg_namelen = 0;
    }
    if (!error && !t->stream)
        error = control_out(bsd, t, header);
    else
        header->msg_controllen = 0;
    return error;
}

weir_ssize bsd_recvmsg(struct weir_bsd *bsd, int fd, struct weir_msghdr *message, int flags)
{
    struct weir_iovec copy[WEIR_IOV_MAX];
    struct weir_msghdr header;
    struct bsd_transfer t = {0};
    int result = bsd_copy_in(bsd, &header, message, sizeof header);
    if (!result)
        result = vector_in(bsd, &t, copy, header.msg_iov, header.msg_iovlen);
    if (!result)
        result = transfer(bsd, fd, &t, flags, false);
    if (result < 0)
        return bsd_fail(bsd, result);
    const int error = header_out(bsd, &t, &header);
    if (error || bsd_copy_out(bsd, message, &header, sizeof header))
        return bsd_fail(bsd, WEIR_FAULT);
    return result;
}
