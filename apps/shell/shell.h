// SPDX-License-Identifier: BSD-2-Clause
// A shell to look at a running stack with, on a TCP port or a serial line: ifconfig, netstat, route, neigh, ping,
// nslookup, iperf, cc, stats. On a port Telnet's negotiation is passed over, so that telnet and nc both do; there is
// one session at a time, which ends after SHELL_IDLE_S without a word. There is no password and no encryption: whoever
// reaches the port or the line sees everything that the commands show, and can have this host ping others and flood
// them. So nothing starts it by itself. No command changes anything.
//
// Lock held; commands are steps of bounded work in the loop, and wait while the reader is slow.
#ifndef APPS_SHELL_H
#define APPS_SHELL_H

#include "../capture_file.h"
#include "../dns/both.h"
#include "../iperf3/client.h"
#include "../ping.h"
#include "../text.h"
#include "weir/linkage/shell.h"

WEIR_BEGIN_DECLS

#define SHELL_LINE_BYTES 128u
#define SHELL_AHEAD_BYTES 256u  // typed ahead of a command that runs
#define SHELL_OUT_BYTES 1024u   // what a step of a command may say
#define SHELL_WORDS 12u
#define SHELL_ADDED 2u  // commands
#define SHELL_IDLE_S 600u
#define SHELL_PINGS 4u  // unless the command says how many
#define SHELL_PINGS_MAX 1000u
#define SHELL_FRAMES 100u  // likewise, of tcpdump
#define SHELL_IPERF_S 10u  // likewise
#define SHELL_IPERF_S_MAX 3600u

struct shell;
struct shell_command;
enum shell_step {
    SHELL_DONE,
    SHELL_MORE,  // call again, when what was said is on its way
    SHELL_WAIT,  // something else will call
};

// A serial line with a terminal at its other end: what is typed is echoed, and lines end with CR LF. Neither function
// waits.
struct shell_line {
    uint32_t (*read)(void *context, uint8_t *to, uint32_t room);            // what has come, at most `room`; 0: nothing
    uint32_t (*write)(void *context, const uint8_t *from, uint32_t bytes);  // how many were taken
    void *context;
};

struct shell {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct dns *dns;              // NULL: names are not looked up
    struct iperf3_client *iperf;  // of shell_add_iperf
    struct capture *capture;      // of shell_add_tcpdump
    struct capture_file file;     // of tcpdump -w -
    uint64_t look_us;             // when the command that runs is called without news; 0: not
    const struct shell_command *added[SHELL_ADDED];
    uint32_t added_count;
    weir_socket listener, socket;     // socket 0: no session on the port
    const struct shell_line *serial;  // NULL: on a port
    bool returned;                    // the last byte on the line was CR, out
    bool entered;                     // and in
    bool ended;                       // the peer says no more
    bool filed;                       // it sent a file: nothing may follow
    bool turning;                     // shell_turn is under way
    uint8_t telnet;                   // how far into one of its commands
    bool cut;                         // the line is too long
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
    bool resolving, pinging, finished;
    void (*stop)(struct shell *shell);  // ends what the command began, where that is more than those two
    bool reverse;                       // what is measured comes from the server
    struct dns_both both;
    struct ping ping;
};

// A socket's error when it cannot listen.
int shell_start(struct shell *shell, struct loop *loop, uint16_t port, struct dns *dns);
// The same on a line, whose session never ends. `serial` is kept, not copied. The loop is to run when bytes have come.
void shell_start_serial(struct shell *shell, struct loop *loop, const struct shell_line *serial, struct dns *dns);
// Adds the command iperf, with 28 KB of the program's.
void shell_add_iperf(struct shell *shell, struct iperf3_client *client);
// Adds the command tcpdump, with 4 KB of the program's (capture.h), where WEIR_CFG_HANDLERS is set. Whoever
// reaches the shell then sees what others say to this host, and not only that they do. `tcpdump -w -` writes pcapng;
// shell->file.epoch_us may be set for its times.
#if WEIR_CFG_HANDLERS
void shell_add_tcpdump(struct shell *shell, struct capture *capture);
#else
void shell_add_tcpdump(struct shell *shell, struct capture *capture) WEIR_NOT_BUILT("tcpdump needs WEIR_CFG_HANDLERS");
#endif
void shell_stop(struct shell *shell);

WEIR_END_DECLS

#endif
