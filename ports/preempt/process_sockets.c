// SPDX-License-Identifier: BSD-2-Clause
#include "ports/preempt/process_sockets.h"

#include <string.h>

#include "ports/preempt/preempt_port.h"
#include "weir/error.h"

struct sockets {  // of a process
    struct flock flock;
    void *memory;  // of its table, in builds without an allocator
};

static struct {
    struct weir *weir;
    struct kmem *memory;
    struct flock_listeners listeners;
    int made;
} all;

void process_sockets_init(struct weir *weir, struct kmem *memory)
{
    all.weir = weir;
    all.memory = memory;
    all.listeners = (struct flock_listeners){0};
    all.made = 0;
}

#if WEIR_CFG_ALLOCATOR
static size_t table_bytes(void) { return 0; }
#else
static size_t table_bytes(void) { return bsd_memory_bytes(PROCESS_DESCRIPTORS); }
#endif

bool process_sockets_begin(struct process *process)
{
    struct sockets *own = kmem_alloc(all.memory, sizeof *own);
    if (!own)
        return false;
    own->memory = table_bytes() ? kmem_alloc(all.memory, table_bytes()) : NULL;
    const struct weir_bsd_config config = {.first_descriptor = all.made * PROCESS_DESCRIPTORS,
                                           .descriptors = PROCESS_DESCRIPTORS,
                                           .memory = own->memory,
                                           .memory_bytes = table_bytes(),
                                           .set_errno = preempt_port_set_errno};
    own->flock = (struct flock){own->memory || !table_bytes() ? bsd_create(all.weir, &config) : NULL, &all.listeners};
    all.made = (all.made + 1) % 4096;
    process->user = own;
    if (own->flock.bsd)
        return true;
    kmem_free(all.memory, own->memory);
    kmem_free(all.memory, own);
    return false;
}

void process_sockets_end(struct process *process)
{
    struct sockets *own = process->user;
    bsd_destroy(own->flock.bsd);
    kmem_free(all.memory, own->memory);
    kmem_free(all.memory, own);
}

// --- the caller's memory ---------------------------------------------------------------------------------------------
static bool may(void *context, const void *memory, size_t bytes, bool write)
{
    const struct process *self = process_self();
    (void)context;
    return !self || process_owns(self, memory, bytes, write);
}

static int copy_in(void *context, void *to, const void *from_caller, size_t bytes)
{
    if (!may(context, from_caller, bytes, false))
        return WEIR_FAULT;
    memcpy(to, from_caller, bytes);
    return WEIR_OK;
}

static int copy_out(void *context, void *to_caller, const void *from, size_t bytes)
{
    if (!may(context, to_caller, bytes, true))
        return WEIR_FAULT;
    memcpy(to_caller, from, bytes);
    return WEIR_OK;
}

void process_memory_guard(struct weir_port *port)
{
    port->copy_in = copy_in;
    port->copy_out = copy_out;
    port->caller_owns = may;
}

// --- calls -----------------------------------------------------------------------------------------------------------
static const struct flock *of(struct process *self) { return &((const struct sockets *)self->user)->flock; }
static unsigned number(intptr_t argument) { return (unsigned)argument; }

static intptr_t call_udpsocket(struct process *self, const intptr_t a[])
{
    (void)a;
    return flock_udpsocket(of(self));
}
static intptr_t call_udpbind(struct process *self, const intptr_t a[])
{
    return flock_udpbind(of(self), (int)a[0], (const struct sockaddr *)a[1]);
}
static intptr_t call_udpsendto(struct process *self, const intptr_t a[])
{
    return flock_udpsendto(of(self), (int)a[0], (const struct sockaddr *)a[1], (const char *)a[2], number(a[3]));
}
static intptr_t call_udprecvfrom(struct process *self, const intptr_t a[])
{
    return flock_udprecvfrom(of(self), (int)a[0], (struct sockaddr *)a[1], (char *)a[2], number(a[3]), number(a[4]));
}
static intptr_t call_udpclose(struct process *self, const intptr_t a[]) { return flock_udpclose(of(self), (int)a[0]); }

static intptr_t call_tcpsocket(struct process *self, const intptr_t a[])
{
    (void)a;
    return flock_tcpsocket(of(self));
}
static intptr_t call_tcpbind(struct process *self, const intptr_t a[])
{
    return flock_tcpbind(of(self), (int)a[0], (const struct sockaddr *)a[1]);
}
static intptr_t call_tcpconnect(struct process *self, const intptr_t a[])
{
    return flock_tcpconnect(of(self), (int)a[0], (const struct sockaddr *)a[1], number(a[2]));
}
static intptr_t call_tcplisten(struct process *self, const intptr_t a[])
{
    return flock_tcplisten(of(self), (int)a[0], number(a[1]));
}
static intptr_t call_tcpsend(struct process *self, const intptr_t a[])
{
    return flock_tcpsend(of(self), (int)a[0], (const char *)a[1], number(a[2]));
}
static intptr_t call_tcprecv(struct process *self, const intptr_t a[])
{
    return flock_tcprecv(of(self), (int)a[0], (char *)a[1], number(a[2]), number(a[3]));
}
static intptr_t call_tcpclose(struct process *self, const intptr_t a[]) { return flock_tcpclose(of(self), (int)a[0]); }

// --- BSD's -----------------------------------------------------------------------------------------------------------
static struct weir_bsd *bsd_of(struct process *self) { return of(self)->bsd; }
static const struct weir_sockaddr *address(intptr_t argument) { return (const struct weir_sockaddr *)argument; }
static weir_socklen length(intptr_t argument) { return (weir_socklen)argument; }
static weir_socklen *length_at(intptr_t argument) { return (weir_socklen *)argument; }

static intptr_t call_socket(struct process *self, const intptr_t a[])
{
    return bsd_socket(bsd_of(self), (int)a[0], (int)a[1], (int)a[2]);
}
static intptr_t call_bind(struct process *self, const intptr_t a[])
{
    return bsd_bind(bsd_of(self), (int)a[0], address(a[1]), length(a[2]));
}
static intptr_t call_listen(struct process *self, const intptr_t a[])
{
    return bsd_listen(bsd_of(self), (int)a[0], (int)a[1]);
}
static intptr_t call_accept(struct process *self, const intptr_t a[])
{
    return bsd_accept(bsd_of(self), (int)a[0], (struct weir_sockaddr *)a[1], length_at(a[2]));
}
static intptr_t call_connect(struct process *self, const intptr_t a[])
{
    return bsd_connect(bsd_of(self), (int)a[0], address(a[1]), length(a[2]));
}
static intptr_t call_shutdown(struct process *self, const intptr_t a[])
{
    return bsd_shutdown(bsd_of(self), (int)a[0], (int)a[1]);
}
static intptr_t call_close(struct process *self, const intptr_t a[]) { return bsd_close(bsd_of(self), (int)a[0]); }
static intptr_t call_sendto(struct process *self, const intptr_t a[])
{
    return bsd_sendto(bsd_of(self), (int)a[0], (const void *)a[1], (size_t)a[2], (int)a[3], address(a[4]),
                      length(a[5]));
}
static intptr_t call_recvfrom(struct process *self, const intptr_t a[])
{
    return bsd_recvfrom(bsd_of(self), (int)a[0], (void *)a[1], (size_t)a[2], (int)a[3], (struct weir_sockaddr *)a[4],
                        length_at(a[5]));
}
static intptr_t call_getsockopt(struct process *self, const intptr_t a[])
{
    return bsd_getsockopt(bsd_of(self), (int)a[0], (int)a[1], (int)a[2], (void *)a[3], length_at(a[4]));
}
static intptr_t call_setsockopt(struct process *self, const intptr_t a[])
{
    return bsd_setsockopt(bsd_of(self), (int)a[0], (int)a[1], (int)a[2], (const void *)a[3], length(a[4]));
}
static intptr_t call_getsockname(struct process *self, const intptr_t a[])
{
    return bsd_getsockname(bsd_of(self), (int)a[0], (struct weir_sockaddr *)a[1], length_at(a[2]));
}
static intptr_t call_getpeername(struct process *self, const intptr_t a[])
{
    return bsd_getpeername(bsd_of(self), (int)a[0], (struct weir_sockaddr *)a[1], length_at(a[2]));
}
static intptr_t call_fcntl(struct process *self, const intptr_t a[])
{
    return bsd_fcntl(bsd_of(self), (int)a[0], (int)a[1], (int)a[2]);
}
static struct weir_fd_set *set_at(intptr_t argument) { return (struct weir_fd_set *)argument; }
static intptr_t call_select(struct process *self, const intptr_t a[])
{
    return bsd_select(bsd_of(self), (int)a[0], set_at(a[1]), set_at(a[2]), set_at(a[3]), (struct weir_timeval *)a[4]);
}
static intptr_t call_poll(struct process *self, const intptr_t a[])
{
    return bsd_poll(bsd_of(self), (struct weir_pollfd *)a[0], (size_t)a[1], (int)a[2]);
}
static intptr_t call_errno(struct process *self, const intptr_t a[])
{
    (void)a;
    return self->thread.user;
}

process_call_handler *const process_socket_calls[PROCESS_SOCKET_CALLS] = {
    [CALL_UDPSOCKET - CALL_FIRST] = call_udpsocket,
    [CALL_UDPBIND - CALL_FIRST] = call_udpbind,
    [CALL_UDPSENDTO - CALL_FIRST] = call_udpsendto,
    [CALL_UDPRECVFROM - CALL_FIRST] = call_udprecvfrom,
    [CALL_UDPCLOSE - CALL_FIRST] = call_udpclose,
    [CALL_TCPSOCKET - CALL_FIRST] = call_tcpsocket,
    [CALL_TCPBIND - CALL_FIRST] = call_tcpbind,
    [CALL_TCPCONNECT - CALL_FIRST] = call_tcpconnect,
    [CALL_TCPLISTEN - CALL_FIRST] = call_tcplisten,
    [CALL_TCPSEND - CALL_FIRST] = call_tcpsend,
    [CALL_TCPRECV - CALL_FIRST] = call_tcprecv,
    [CALL_TCPCLOSE - CALL_FIRST] = call_tcpclose,
    [CALL_SOCKET - CALL_FIRST] = call_socket,
    [CALL_BIND - CALL_FIRST] = call_bind,
    [CALL_LISTEN - CALL_FIRST] = call_listen,
    [CALL_ACCEPT - CALL_FIRST] = call_accept,
    [CALL_CONNECT - CALL_FIRST] = call_connect,
    [CALL_SHUTDOWN - CALL_FIRST] = call_shutdown,
    [CALL_CLOSE - CALL_FIRST] = call_close,
    [CALL_SENDTO - CALL_FIRST] = call_sendto,
    [CALL_RECVFROM - CALL_FIRST] = call_recvfrom,
    [CALL_GETSOCKOPT - CALL_FIRST] = call_getsockopt,
    [CALL_SETSOCKOPT - CALL_FIRST] = call_setsockopt,
    [CALL_POLL - CALL_FIRST] = call_poll,
    [CALL_GETSOCKNAME - CALL_FIRST] = call_getsockname,
    [CALL_GETPEERNAME - CALL_FIRST] = call_getpeername,
    [CALL_FCNTL - CALL_FIRST] = call_fcntl,
    [CALL_SELECT - CALL_FIRST] = call_select,
    [CALL_ERRNO - CALL_FIRST] = call_errno,
};
