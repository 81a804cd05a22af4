// SPDX-License-Identifier: BSD-2-Clause
// What the server of weir-run and the library in its programs say to each other (docs/weir-run.md).
//
// A call is a connection of its own to the server's socket (AF_UNIX, SOCK_SEQPACKET, abstract name): one request with
// its data behind it, one answer with its data behind it. Each socket of a program is one end of an AF_UNIX socketpair;
// the server's end is bound to a name that says which socket it is, so getpeername tells it after dup, fork, exec and
// SCM_RIGHTS alike, and no process has to remember anything.
#ifndef RUN_PROTOCOL_H
#define RUN_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define RUN_ENVIRONMENT "WEIR_RUN"  // 32 hexadecimal digits of the server's token; its first half is in its name
#define RUN_NAME "weir-run-"        // of the server: a zero byte, this, 16 digits
#define RUN_END "weir"              // of a socket's server end: a zero byte, this, and struct run_end

#define RUN_TOKEN 16u      // bytes
#define RUN_DATA 131072u   // bytes behind a request or an answer at the most
#define RUN_CONTROL 512u   // bytes of ancillary data of a datagram at the most
#define RUN_ADDRESS 28u    // bytes of the longest socket address
#define RUN_FILLER 57344u  // bytes that make a program's end unwritable
#define RUN_MAGIC 0x77656972u

// Behind the zero byte and RUN_END.
struct run_end {
    uint8_t server[8];  // the token's first half
    uint8_t socket[8];  // random: who knows it may use the socket
};
#define RUN_END_LENGTH (2u + 1u + 4u + 16u)  // of the whole name

// The first `bytes` of a token as digits, two for each, and a zero byte behind them.
static inline void run_token_write(char *digits, const uint8_t *token, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        *digits++ = "0123456789abcdef"[token[i] >> 4];
        *digits++ = "0123456789abcdef"[token[i] & 15];
    }
    *digits = '\0';
}
// The token whose digits the text begins with. false: they are none.
static inline bool run_token_read(uint8_t token[RUN_TOKEN], const char *text)
{
    uint32_t i = 0;
    while (i < RUN_TOKEN && sscanf(text + 2 * (size_t)i, "%2hhx", &token[i]) == 1 && text[2 * (size_t)i + 1] != '\0')
        i++;
    return i == RUN_TOKEN;
}

// The name of the server that has the token. Returns its length.
static inline socklen_t run_server_name(struct sockaddr_un *name, const uint8_t token[RUN_TOKEN])
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    char *const digits = name->sun_path + sizeof RUN_NAME;
    memcpy(name->sun_path + 1, RUN_NAME, sizeof RUN_NAME - 1);
    run_token_write(digits, token, RUN_TOKEN / 2);
    return (socklen_t)(digits + RUN_TOKEN - (char *)name);
}

// The ancillary data that one descriptor comes with.
union run_rights {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};
#define RUN_RIGHTS \
    { \
        .header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } \
    }

enum run_call_number {
    RUN_SOCKET = 1,  // a: domain, b: type, c: protocol; the server's end comes along by SCM_RIGHTS
    RUN_BIND,        // data: address
    RUN_LISTEN,      // a: backlog
    RUN_CONNECT,     // data: address; a: bytes of filler sent before (non-blocking), -1: the answer waits for the end
    RUN_LOCAL,       // answers with the address
    RUN_PEER,        // likewise
    RUN_SET,         // a: level, b: name; data: value
    RUN_GET,         // a: level, b: name, c: bytes of room; data: the value, where it asks; answers with the value
    RUN_SHUTDOWN,    // a: how
    RUN_STATE,       // a: 1: the answer waits until the connection is made or has failed; enum run_state
    RUN_SEND,        // data: struct run_datagram and what follows it; answers when it is on its way
    RUN_URGENT,      // data: sent with the urgent mark behind it; answers with the bytes taken
    RUN_IOCTL,       // b: request; answers with the int
    RUN_INTERFACES,  // answers with struct run_interface …
    RUN_RESOLVE,     // data: name; a: AF_INET, AF_INET6 or AF_UNSPEC; answers with addresses of 16 bytes (IPv4 mapped)
    RUN_UNDONE,      // data: name of a call that is refused or passed on; counted
};

enum run_state { RUN_IDLE, RUN_CONNECTED, RUN_LISTENING, RUN_GONE };

struct run_request {
    uint8_t token[RUN_TOKEN];
    uint8_t socket[8];
    uint32_t call;  // enum run_call_number
    int32_t a, b, c;
    uint32_t length;  // of the data behind it
};

struct run_answer {
    int32_t result;   // negative: an errno
    uint32_t length;  // of the data behind it
};

// What a listener's program end receives for each connection, with the connection's own end by SCM_RIGHTS.
struct run_accepted {
    uint32_t magic;
    uint32_t length;  // of the address
    uint8_t address[RUN_ADDRESS];
};

// In front of a datagram both ways; the ancillary data, then the payload follow.
struct run_datagram {
    uint32_t magic;
    int32_t error;     // towards the program: an errno in place of a datagram
    int32_t flags;     // MSG_*
    uint32_t control;  // bytes of ancillary data
    uint32_t length;   // of the address; 0: none
    uint8_t address[RUN_ADDRESS];
};

struct run_interface {
    char name[16];
    uint32_t index, flags, mtu;  // flags: IFF_*
    uint8_t mac[6];
    uint8_t family;  // of the address: AF_INET, AF_INET6; 0: it has none
    uint8_t prefix_length;
    uint8_t address[16];
};

#endif
