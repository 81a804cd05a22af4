// SPDX-License-Identifier: BSD-2-Clause
// The server's side of window.h, wherever it runs: sessions of clients, their sockets, and data between rings and
// sockets. It never waits for a client, moves at most a ring's bytes of each channel in a turn, and keeps all indices
// in its own memory.
//
//     micro_server_init(&server, weir, &host, context);
//     micro_server_attach(&server, session, window, channels, ring_bytes);
//     for (;;) {
//         messages: if (micro_server_message(&server, session, &message)) reply
//         frames in (netif.h);
//         weir_clock; micro_server_turn(&server); deadline = weir_poll(now); micro_server_turn(&server);
//         deadline, or micro_server_due(&server) if that is earlier
//         if (micro_server_rest(&server)) sleep until something comes or the deadline;
//     }
//     a client died: micro_server_detach(&server, session), then its window may be unmapped
#ifndef MICRO_SERVER_H
#define MICRO_SERVER_H

#include <stdbool.h>

#include "weir/language.h"
#include "weir/socket.h"
#include "quota.h"
#include "window.h"

WEIR_BEGIN_DECLS

#ifndef MICRO_SESSIONS
#define MICRO_SESSIONS 32  // clients at once; at most 32
#endif
#ifndef MICRO_CHANNELS
#define MICRO_CHANNELS 32  // of a client; at most 32
#endif
#ifndef MICRO_ORPHANS
// of all clients; when there are more, the oldest of the client that has most is reset
#define MICRO_ORPHANS (4 * MICRO_SESSIONS)
#endif

struct micro_session;
struct micro_channel {
    struct weir_watch watch;  // first: the socket's user pointer points here
    struct micro_session *session;
    weir_socket socket;
    uint32_t accepted, received;     // the rings' indices
    uint32_t last;                   // closing or shut down: the send ring ends here
    uint32_t seen_sent, seen_taken;  // the client's counters when the channel last had its turn
    uint32_t generation;
    uint32_t backlog;  // of a listener
    uint8_t type;      // enum weir_socket_type
    uint8_t flags;     // enum channel_flag
};

struct micro_session {
    struct micro_server *server;
    struct window *window;  // NULL: no client
    uint32_t channels, ring_bytes;
    uint32_t used;  // channels, a bit each
    uint32_t news;  // those that are to be looked at
    struct micro_quota quota;
    uint64_t calls_us;          // micro_quota_call's
    uint64_t held_us;           // `held` is answered then; 0: no call is
    struct micro_message held;  // it came too soon
    struct micro_channel channel[MICRO_CHANNELS];
};

// What the server asks of its surroundings.
struct micro_server_host {
    void (*notify)(void *context, uint32_t session);
    // A call that was held is answered.
    void (*reply)(void *context, uint32_t session, struct micro_message *message);
};

struct micro_server {
    struct weir *weir;
    const struct micro_server_host *host;
    void *context;
    uint32_t attached, news, notices, held;  // sessions, a bit each; notices: are to be notified; held: a call is
    struct micro_orphan orphan[MICRO_ORPHANS];
    struct micro_session session[MICRO_SESSIONS];
};

void micro_server_init(struct micro_server *server, struct weir *weir, const struct micro_server_host *host,
                       void *context);
// The window is zeroed memory of window_bytes. false: the session is taken, or the sizes are out of range.
bool micro_server_attach(struct micro_server *server, uint32_t session, void *window, uint32_t channels,
                         uint32_t ring_bytes);
// What the client may take, before its first call; micro_quota_default otherwise.
void micro_server_limit(struct micro_server *server, uint32_t session, const struct micro_quota *quota);
// Closes the client's sockets; on return the window is not touched again.
void micro_server_detach(struct micro_server *server, uint32_t session);
// Any bytes. true: it has become the reply; false: the client calls too often, its reply comes by host->reply in a
// later turn, and until then nothing of the client's is to be heard.
bool micro_server_message(struct micro_server *server, uint32_t session, struct micro_message *message);
// The client notified the server.
void micro_server_rung(struct micro_server *server, uint32_t session);
// Sockets with news and clients that rang: data moves, clients are notified. true: there is output, weir_poll is to be
// called again.
bool micro_server_turn(struct micro_server *server);
// When the next turn is due, whatever comes, µs; WEIR_NEVER: not.
uint64_t micro_server_due(const struct micro_server *server);
// Before sleep: asks clients to ring, and looks once more. false: something came meanwhile.
bool micro_server_rest(struct micro_server *server);

// Between server.c and channel.c.
enum channel_flag {
    CHANNEL_LISTENS = 1,
    CHANNEL_CONNECTED = 2,
    CHANNEL_SHUT = 4,
    CHANNEL_CLOSING = 8,
    CHANNEL_SEND_ENDED = 16,
    CHANNEL_READ_ENDED = 32,
    CHANNEL_CONNECTING = 64
};
bool micro_channel_idle(const struct micro_channel *channel);  // the client has done nothing that is to be looked at
void micro_channel_turn(struct micro_channel *channel);
void micro_channel_look(struct micro_channel *channel);   // shows the socket's state in the window
void micro_channel_close(struct micro_channel *channel);  // at once
struct window_channel *micro_channel_window(const struct micro_channel *channel);

WEIR_END_DECLS

#endif
