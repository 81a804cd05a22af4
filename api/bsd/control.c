// SPDX-License-Identifier: BSD-2-Clause
// fcntl, ioctl.
#include "internal.h"

static int set_nonblock(struct bsd_file *file, bool on)
{
    file->flags = (uint8_t)(on ? file->flags | BSD_NONBLOCK : file->flags & ~BSD_NONBLOCK);
    return WEIR_OK;
}

int bsd_fcntl(struct weir_bsd *bsd, int fd, int command, int argument)
{
    int result = WEIR_INVALID;
    bsd_enter(bsd);
    struct bsd_file *file = bsd_file_find(bsd, fd);
    if (!file)
        result = WEIR_BAD_SOCKET;
    else if (command == WEIR_F_GETFL)
        result = WEIR_O_RDWR | (file->flags & BSD_NONBLOCK ? WEIR_O_NONBLOCK : 0);
    else if (command == WEIR_F_SETFL)
        result = set_nonblock(file, argument & WEIR_O_NONBLOCK);
    else if (command == WEIR_F_GETFD || command == WEIR_F_SETFD)
        result = WEIR_OK;  // nothing here survives an exec
    bsd_leave(bsd);
    return bsd_result(bsd, result);
}

#if WEIR_CFG_TCP_URGENT
static int mark(struct bsd_file *file) { return weir_socket_at_mark(file->bsd->weir, file->socket); }
#else
static int mark(struct bsd_file *file)
{
    (void)file;
    return WEIR_NOT_SUPPORTED;
}
#endif

static int number_of(struct bsd_file *file, unsigned long request, int32_t *value)
{
    enum weir_option option;
    switch (request) {
    case WEIR_FIONREAD: option = WEIR_OPTION_READABLE_BYTES; break;
    case WEIR_SIOCOUTQ: option = WEIR_OPTION_UNACKED_BYTES; break;
    case WEIR_SIOCOUTQNSD: option = WEIR_OPTION_UNSENT_BYTES; break;
    case WEIR_SIOCATMARK: *value = mark(file); return *value < 0 ? *value : WEIR_OK;
    default: return BSD_NOT_A_TTY;
    }
    const int error = weir_socket_get(file->bsd->weir, file->socket, option, value);
    if (!error && option == WEIR_OPTION_READABLE_BYTES && bsd_layer_of(file))
        *value = bsd_layer_of(file)->readable(file);
    return error;
}

int bsd_ioctl(struct weir_bsd *bsd, int fd, unsigned long request, void *argument)
{
    struct bsd_file *file;
    int32_t value = 0;
    const bool give = request == WEIR_FIONBIO;
    if (give && bsd_copy_in(bsd, &value, argument, sizeof value))
        return bsd_fail(bsd, WEIR_FAULT);
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, &file);
    if (!error) {
        error = give ? set_nonblock(file, value) : number_of(file, request, &value);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    if (!error && !give)
        error = bsd_copy_out(bsd, argument, &value, sizeof value);
    return bsd_result(bsd, error);
}

int bsd_sockatmark(struct weir_bsd *bsd, int fd)
{
    int value = 0;
    return bsd_ioctl(bsd, fd, WEIR_SIOCATMARK, &value) < 0 ? -1 : value;
}
