// SPDX-License-Identifier: BSD-2-Clause
// A shell to look at a running stack with, on a TCP port: ifconfig, netstat, route, neigh, ping, nslookup, iperf, cc,
// stats. Telnet's negotiation is passed over, so that telnet and nc both do. One session at a time, which ends after
// SHELL_IDLE_S without a word. There is no password and no encryption: whoever reaches the port sees everything that
// the commands show, and can have this host ping others and flood them. So nothing starts it by itself. No command
// changes anything.
//
// Lock held; commands are steps of bounded work in the loop, and wait while the reader is slow.
#ifndef APPS_SHELL_H
#define APPS_SHELL_H

#include "dns/both.h"
#include "iperf3/client.h"
#include "ping.h"
#include "text.h"

#define SHELL_LINE_BYTES 128u
#define SHELL_AHEAD_BYTES 256u  // typed ahead of a command that runs
#define SHELL_OUT_BYTES 1024u   // what a step of a command may say
#define SHELL_WORDS 8u
#define SHELL_IDLE_S 600u
#define SHELL_PINGS 4u  // unless the command says how many
#define SHELL_PINGS_MAX 1000u
#define SHELL_IPERF_S 10u  // likewise
#define SHELL_IPERF_S_MAX 3600u

struct shell;
enum shell_step {
    SHELL_DONE,
    SHELL_MORE,  // call again, when what was said is on its way
    SHELL_WAIT,  // something else will call
};

struct shell {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct dns *dns;               // NULL: names are not looked up
    struct iperf3_client *iperf;   // 28 KB that the program may set after shell_start; NULL: there is no iperf
    weir_socket listener, socket;  // socket 0: no session
    bool ended;                    // the peer says no more
    bool turning;                  // shell_turn is under way
    uint8_t telnet;                // how far into one of its commands
    bool cut;                      // the line is too long
    char line[SHELL_LINE_BYTES];
    uint32_t line_bytes, ahead_bytes;
    uint8_t ahead[SHELL_AHEAD_BYTES];
    struct text out;
    char out_bytes[SHELL_OUT_BYTES];
    uint64_t began_us;
    uint64_t idle_us;  // when the session ends
    // of the command that runs
    enum shell_step (*step)(struct shell *shell);  // NULL: none
    uint64_t cursor;
    uint32_t index, wanted;
    char name[SHELL_LINE_BYTES];
    bool resolving, pinging, measuring, finished;
    bool reverse;  // what is measured comes from the server
    struct dns_both both;
    struct ping ping;
};

// A socket's error when it cannot listen.
int shell_start(struct shell *shell, struct loop *loop, uint16_t port, struct dns *dns);
void shell_stop(struct shell *shell);

#endif
