// SPDX-License-Identifier: BSD-2-Clause
// The socket calls of E. Schröder, "Development of a protocol stack for an embedded operating system" (TU Berlin,
// 2010), figures 4.1 and 4.2, for the programs of a system like the thesis's; FlockOS is the one it was meant for. A
// call returns −1 when it fails; a socket belongs to the process that made it, and on another's every call fails. What
// a system does to offer them stands in system.h.
//
// Calls block: the receiving ones until data is there, tcpconnect and tcplisten until there is a connection. Those that
// end in _for wait no longer than `timeout_ms`, and with 0 not at all; when there is nothing by then they return
// FLOCK_LATE.
#ifndef FLOCK_H
#define FLOCK_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

struct sockaddr {
    uint32_t addr;  // as pton makes it; 0: any
    uint16_t port;  // in the machine's byte order
};

enum { FLOCK_LATE = -2 };

// The address a.b.c.d in the stack's own form.
uint32_t pton(unsigned a, unsigned b, unsigned c, unsigned d);
// The same bytes in the other order. A machine whose order is the network's, big-endian, has no need of them.
uint32_t swapl(uint32_t value);
uint16_t swaps(uint16_t value);

// --- UDP -------------------------------------------------------------------------------------------------------------
int udpsocket(void);  // its number
// −1 also when another UDP socket has the port. Port 0: one that is free.
int udpbind(int socket, const struct sockaddr *src);
int udpsendto(int socket, const struct sockaddr *dst, const char *buf, unsigned len);  // `len`
// The next datagram: how many of its bytes are in `buf`. Those beyond `len` are lost. `src` may be NULL.
int udprecvfrom(int socket, struct sockaddr *src, char *buf, unsigned len);
int udprecvfrom_for(int socket, struct sockaddr *src, char *buf, unsigned len, unsigned timeout_ms);
int udpclose(int socket);

// --- TCP -------------------------------------------------------------------------------------------------------------
int tcpsocket(void);
// −1 when another socket that does not listen, a connection included, has the address already. Any number may listen on
// one address: the first to wait gets the first connection.
int tcpbind(int socket, const struct sockaddr *src);
// 0: there is a connection. −1: there is none, and the socket may be used again. After FLOCK_LATE the attempt goes on;
// call again to learn its end, whatever `dst` then says.
int tcpconnect(int socket, const struct sockaddr *dst);
int tcpconnect_for(int socket, const struct sockaddr *dst, unsigned timeout_ms);
// Waits until somebody connects to the socket's address. The socket then is that connection, and listens no more; so it
// does after FLOCK_LATE.
int tcplisten(int socket);
int tcplisten_for(int socket, unsigned timeout_ms);
// waits for room: `len`, fewer if the connection breaks meanwhile
int tcpsend(int socket, const char *buf, unsigned len);
// What is there, up to `len` bytes, from as many segments as it takes. 0: the other side has closed, and all was read.
int tcprecv(int socket, char *buf, unsigned len);
int tcprecv_for(int socket, char *buf, unsigned len, unsigned timeout_ms);
// The socket is gone at once; the stack delivers what was sent and ends the connection by itself.
int tcpclose(int socket);

WEIR_END_DECLS

#endif
