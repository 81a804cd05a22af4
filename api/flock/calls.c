// SPDX-License-Identifier: BSD-2-Clause
// flock.h as plain functions: for systems without system calls, and for whoever handles them.
#include "api/flock/system.h"

static const struct flock *(*self)(void);  // set once, before any call

void flock_use(const struct flock *(*caller)(void)) { self = caller; }

int udpsocket(void) { return flock_udpsocket(self()); }
int udpbind(int socket, const struct sockaddr *src) { return flock_udpbind(self(), socket, src); }
int udpsendto(int socket, const struct sockaddr *dst, const char *buf, unsigned len)
{
    return flock_udpsendto(self(), socket, dst, buf, len);
}
int udprecvfrom(int socket, struct sockaddr *src, char *buf, unsigned len)
{
    return flock_udprecvfrom(self(), socket, src, buf, len, FLOCK_FOREVER);
}
int udprecvfrom_for(int socket, struct sockaddr *src, char *buf, unsigned len, unsigned timeout_ms)
{
    return flock_udprecvfrom(self(), socket, src, buf, len, timeout_ms);
}
int udpclose(int socket) { return flock_udpclose(self(), socket); }

int tcpsocket(void) { return flock_tcpsocket(self()); }
int tcpbind(int socket, const struct sockaddr *src) { return flock_tcpbind(self(), socket, src); }
int tcpconnect(int socket, const struct sockaddr *dst) { return flock_tcpconnect(self(), socket, dst, FLOCK_FOREVER); }
int tcpconnect_for(int socket, const struct sockaddr *dst, unsigned timeout_ms)
{
    return flock_tcpconnect(self(), socket, dst, timeout_ms);
}
int tcplisten(int socket) { return flock_tcplisten(self(), socket, FLOCK_FOREVER); }
int tcplisten_for(int socket, unsigned timeout_ms) { return flock_tcplisten(self(), socket, timeout_ms); }
int tcpsend(int socket, const char *buf, unsigned len) { return flock_tcpsend(self(), socket, buf, len); }
int tcprecv(int socket, char *buf, unsigned len) { return flock_tcprecv(self(), socket, buf, len, FLOCK_FOREVER); }
int tcprecv_for(int socket, char *buf, unsigned len, unsigned timeout_ms)
{
    return flock_tcprecv(self(), socket, buf, len, timeout_ms);
}
int tcpclose(int socket) { return flock_tcpclose(self(), socket); }
