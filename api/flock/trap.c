// SPDX-License-Identifier: BSD-2-Clause
// flock.h by system calls, for processes; calls.c has the same functions for systems without. Linked to programs with
// processes only.
#include "trap.h"

#include "api/flock/system.h"

static int call(uint32_t number, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e)
{
    return (int)process_call(number, a, b, c, d, e, 0);
}

int udpsocket(void) { return call(CALL_UDPSOCKET, 0, 0, 0, 0, 0); }
int udpbind(int socket, const struct sockaddr *src) { return call(CALL_UDPBIND, socket, (intptr_t)src, 0, 0, 0); }
int udpsendto(int socket, const struct sockaddr *dst, const char *buf, unsigned len)
{
    return call(CALL_UDPSENDTO, socket, (intptr_t)dst, (intptr_t)buf, (intptr_t)len, 0);
}
int udprecvfrom(int socket, struct sockaddr *src, char *buf, unsigned len)
{
    return udprecvfrom_for(socket, src, buf, len, FLOCK_FOREVER);
}
int udprecvfrom_for(int socket, struct sockaddr *src, char *buf, unsigned len, unsigned timeout_ms)
{
    return call(CALL_UDPRECVFROM, socket, (intptr_t)src, (intptr_t)buf, (intptr_t)len, (intptr_t)timeout_ms);
}
int udpclose(int socket) { return call(CALL_UDPCLOSE, socket, 0, 0, 0, 0); }

int tcpsocket(void) { return call(CALL_TCPSOCKET, 0, 0, 0, 0, 0); }
int tcpbind(int socket, const struct sockaddr *src) { return call(CALL_TCPBIND, socket, (intptr_t)src, 0, 0, 0); }
int tcpconnect(int socket, const struct sockaddr *dst) { return tcpconnect_for(socket, dst, FLOCK_FOREVER); }
int tcpconnect_for(int socket, const struct sockaddr *dst, unsigned timeout_ms)
{
    return call(CALL_TCPCONNECT, socket, (intptr_t)dst, (intptr_t)timeout_ms, 0, 0);
}
int tcplisten(int socket) { return tcplisten_for(socket, FLOCK_FOREVER); }
int tcplisten_for(int socket, unsigned timeout_ms)
{
    return call(CALL_TCPLISTEN, socket, (intptr_t)timeout_ms, 0, 0, 0);
}
int tcpsend(int socket, const char *buf, unsigned len)
{
    return call(CALL_TCPSEND, socket, (intptr_t)buf, (intptr_t)len, 0, 0);
}
int tcprecv(int socket, char *buf, unsigned len) { return tcprecv_for(socket, buf, len, FLOCK_FOREVER); }
int tcprecv_for(int socket, char *buf, unsigned len, unsigned timeout_ms)
{
    return call(CALL_TCPRECV, socket, (intptr_t)buf, (intptr_t)len, (intptr_t)timeout_ms, 0);
}
int tcpclose(int socket) { return call(CALL_TCPCLOSE, socket, 0, 0, 0, 0); }
