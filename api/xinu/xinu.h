// SPDX-License-Identifier: BSD-2-Clause
// Embedded Xinu's device calls for the network, for programs of that system: everything is a device with a number,
// which is opened, read, written, controlled and closed. ETH0 and ETH1 are interfaces, TCP0 … and UDP0 … conversations.
// Calls block as Xinu's do and return OK, a count, or SYSERR. What differs from Xinu, and where its slips are mended:
// docs/xinu.md.
//
// On a system whose C library has open, read, write, close and control of its own the plain names are macros (all
// others are functions): include this last. Never with the instance's lock held, nor from an interrupt.
#ifndef XINU_H
#define XINU_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

typedef int devcall;
typedef int syscall_t;  // `syscall` itself is a function of C libraries
enum { OK = 1, SYSERR = -1, TIMEOUT = -3 };

#ifndef NETHER
#define NETHER 2  // interfaces
#endif
#ifndef NTCP
#define NTCP 8
#endif
#ifndef NUDP
#define NUDP 8
#endif
enum { ETH0, ETH1, TCP0 = NETHER, UDP0 = TCP0 + NTCP, NDEVS = UDP0 + NUDP };

#define NET_MAX_ALEN 6
struct netaddr {
    unsigned short type;  // 0: none
    unsigned char len;
    unsigned char addr[NET_MAX_ALEN];
};
enum { NETADDR_ETHERNET = 1, NETADDR_IPv4 = 0x0800 };
enum {
    NET_GET_MTU = 200,
    NET_GET_LINKHDRLEN = 201,
    NET_GET_HWADDR = 203,
    NET_GET_HWBRC = 204
};  // control of ETH; the last two: arg1 a netaddr

enum { TCP_PASSIVE = 0, TCP_ACTIVE = 1 };
enum { TCP_CTRL_RECVBYTES = 2, TCP_CTRL_SENTBYTES = 3 };  // what the program has read and written so far
// Not Xinu's. READSOME, arg1 1: read returns what is there instead of waiting for all. REALTIME, arg1 an enum
// weir_realtime_mode, arg2 the address of a struct tcpRealtime (NULL where the mode is WEIR_REALTIME_OFF): from here on
// read returns one whole frame, or 0 for a frame that did not come in time. SYSERR: no frame; no period in the mode
// WEIR_REALTIME_WEIR, which without has no deadlines; a build without WEIR_CFG_REALTIME. docs/xinu.md says when read
// waits in which mode.
enum { TCP_CTRL_READSOME = 100, TCP_CTRL_REALTIME = 101 };
struct tcpRealtime {
    unsigned frame_bytes;
    unsigned period_us;  // from one deadline to the next
    unsigned first_us;   // from the call of control to the first frame's deadline; 0: a period
};

enum { UDP_FLAG_PASSIVE = 1, UDP_FLAG_NOBLOCK = 2, UDP_FLAG_BINDFIRST = 4 };
enum { UDP_CTRL_ACCEPT = 1, UDP_CTRL_BIND = 2, UDP_CTRL_CLRFLAG = 3, UDP_CTRL_SETFLAG = 4 };
enum { UDP_MAX_DATALEN = 1024, UDP_PSEUDO_LEN = 12, UDP_HDR_LEN = 8 };

#undef getc
#undef putc
#define open xinu_open
#define close xinu_close
#define read xinu_read
#define write xinu_write
#define control xinu_control
#define getc xinu_getc
#define putc xinu_putc
// ETH: open(ETH0). UDP: open(dev, localip, remoteip, localpt, remotept). TCP: the same and TCP_ACTIVE or TCP_PASSIVE;
// returns when there is a connection. Addresses are const struct netaddr *, ports unsigned.
devcall open(int descrp, ...);
devcall close(int descrp);
devcall read(int descrp, void *buf, unsigned len);
devcall write(int descrp, const void *buf, unsigned len);
devcall control(int descrp, int func, intptr_t arg1, intptr_t arg2);
devcall getc(int descrp);  // a byte, SYSERR
devcall putc(int descrp, char ch);

int tcpAlloc(void);  // a device that nobody has, to be opened next; SYSERR: there is none
int udpAlloc(void);

// An interface's address and gateway (may be NULL), in use at once. netDown takes both away.
syscall_t netUp(int descrp, const struct netaddr *ip, const struct netaddr *mask, const struct netaddr *gateway);
syscall_t netDown(int descrp);
struct dhcpData {
    struct netaddr ip, gateway, mask;
};
// Waits until a server gave the interface an address, which is in use then (netUp with it changes nothing): OK,
// TIMEOUT, SYSERR.
syscall_t dhcpClient(int descrp, unsigned timeout_ms, struct dhcpData *data);

// not Xinu's, which has dot2ipv4 for text
struct netaddr *netaddr4(struct netaddr *out, unsigned a, unsigned b, unsigned c, unsigned d);
int netaddrequal(const struct netaddr *a, const struct netaddr *b);  // 1 or 0

WEIR_END_DECLS

#endif
