// SPDX-License-Identifier: BSD-2-Clause
// What iperf3's server and client share: one test, its parameters, its streams, the control connection. The control
// connection carries states of one byte, and JSON texts behind a length of four bytes. Every stream begins with the
// test's cookie (TCP) or a greeting of four bytes that is answered (UDP).
#ifndef APPS_IPERF3_TEST_H
#define APPS_IPERF3_TEST_H

#include "json.h"
#include "../loop.h"
#include "../text.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#ifndef IPERF3_STREAMS
#define IPERF3_STREAMS 32u  // in a test
#endif
#define IPERF3_PORT 5201u
#define IPERF3_COOKIE 37u  // 36 letters and digits, and a NUL
#define IPERF3_JSON (1024u + 256u * IPERF3_STREAMS)
#define IPERF3_BLOCK_TCP 131072u
#define IPERF3_BLOCK_UDP 1460u
#define IPERF3_BLOCK_MAX (1u << 20)
#define IPERF3_DATAGRAM_MAX 65507u
#define IPERF3_BURST 64u  // datagrams of a paced stream in one poll

enum iperf3_state {
    IPERF3_TEST_START = 1,
    IPERF3_TEST_RUNNING = 2,
    IPERF3_TEST_END = 4,
    IPERF3_PARAM_EXCHANGE = 9,
    IPERF3_CREATE_STREAMS = 10,
    IPERF3_SERVER_TERMINATE = 11,
    IPERF3_CLIENT_TERMINATE = 12,
    IPERF3_EXCHANGE_RESULTS = 13,
    IPERF3_DISPLAY_RESULTS = 14,
    IPERF3_DONE = 16,
    IPERF3_ACCESS_DENIED = 255,
    IPERF3_SERVER_ERROR = 254
};

struct iperf3_parameters {
    bool udp, reverse, no_delay, counters64;
    bool bidirectional;  // as many streams again, in which the server sends
    uint32_t parallel, block, time_s, omit_s, mss, window;
    uint64_t bytes, blocks;  // end conditions; 0: none
    uint64_t rate;           // bit/s of each stream; 0: as fast as it goes
    char congestion[16];     // empty: the default
};

// What one end counted of a stream.
struct iperf3_count {
    uint64_t bytes, packets, lost, reordered;
    int64_t retransmits;  // -1: not known
    uint32_t jitter_us;
    uint64_t time_us;
};

struct iperf3_stream {
    struct weir_watch watch;
    struct iperf3_test *test;
    weir_socket socket;  // 0: none; of a UDP server all streams share one
    struct weir_endpoint local, peer;
    bool sender, ready;
    bool blocked;                               // no room in the send queue: WRITABLE will come
    struct iperf3_count count, before, remote;  // before: when the last interval ended
    int64_t retransmits_at_start;
    uint64_t paced_bytes, paced_from_us;
    uint64_t hello_us;  // UDP client: greet again then
    uint32_t hellos, jitter16_us, cwnd_max, rtt_us;
    int64_t transit_us;
};

struct iperf3_test {
    struct weir_watch control_watch;
    struct loop *loop;
    weir_socket control;  // 0: none
    bool server, running, udp_shared;
    bool copies;  // data is read into a buffer, not in place: to compare
    struct iperf3_parameters parameters;
    char cookie[IPERF3_COOKIE];
    uint64_t start_us, end_us;  // of the counting; end_us 0: it goes on
    bool omitting;
    struct iperf3_stream streams[IPERF3_STREAMS];
    uint32_t stream_count, turn;          // turn: who is served first, where streams share a socket
    uint64_t bytes, datagrams;            // of all streams, for the end conditions
    uint64_t bytes_sent, datagrams_sent;  // of these, what this end sent
    uint32_t in_length, out_at, out_length;
    char in[IPERF3_JSON], out[IPERF3_JSON];
};

// Fills in defaults and bounds. false: a parameter is out of range.
bool iperf3_parameters_check(struct iperf3_parameters *parameters);
void iperf3_parameters_emit(const struct iperf3_parameters *parameters, struct text *out);
bool iperf3_parameters_parse(const char *text, uint32_t length, struct iperf3_parameters *out);
uint32_t iperf3_stream_total(const struct iperf3_parameters *parameters);  // of both directions
// Our counts of all streams as JSON; the other end's out of its JSON.
void iperf3_results_emit(struct iperf3_test *test, struct text *out);
bool iperf3_results_parse(struct iperf3_test *test, const char *text, uint32_t length);

// Control connection. Reads until test->in holds `want` bytes: 1 they are there, 0 not yet, negative: WEIR_CLOSED at
// its end, or an error.
int iperf3_control_read(struct iperf3_test *test, uint32_t want);
// The same for a JSON text behind its length: 1: the text begins at in + 4 and is in_length - 4 bytes.
int iperf3_control_read_json(struct iperf3_test *test);
uint32_t iperf3_length(const char *text);  // these four bytes
// Appends to what is to be sent, and sends what can be; false: the connection is gone.
bool iperf3_control_state(struct iperf3_test *test, enum iperf3_state state);
bool iperf3_control_json(struct iperf3_test *test, void (*emit)(struct iperf3_test *, struct text *));
bool iperf3_control_flush(struct iperf3_test *test);

// Streams. Those in which the client sends are opened first.
// the next; NULL: too many
struct iperf3_stream *iperf3_stream_new(struct iperf3_test *test, weir_socket socket);
uint32_t iperf3_stream_id(const struct iperf3_test *test, const struct iperf3_stream *stream);  // 1, 3, 4, 5 …
void iperf3_stream_tune(struct iperf3_test *test, weir_socket socket);  // options that the parameters ask for
void iperf3_stream_opened(struct iperf3_stream *stream);                // takes note of its addresses
// Reads all there is, or sends what may be sent. false: the stream is gone.
bool iperf3_stream_receive(struct iperf3_stream *stream);
bool iperf3_stream_send(struct iperf3_stream *stream, uint64_t now_us);
void iperf3_stream_datagram(struct iperf3_stream *stream, const uint8_t *data, uint32_t length, uint64_t now_us);
// When the stream may send again: 0 at once, WEIR_NEVER: it waits for room, has sent all, or only receives.
uint64_t iperf3_stream_due(const struct iperf3_stream *stream, uint64_t now_us);
// Sends on all streams that are due. Returns when the next is.
uint64_t iperf3_test_send(struct iperf3_test *test, uint64_t now_us);
// Reads retransmissions, window and round-trip time of a TCP sender.
void iperf3_stream_sample(struct iperf3_stream *stream);

void iperf3_test_begin(struct iperf3_test *test, uint64_t now_us);  // counting starts (again, after omitted seconds)
void iperf3_test_end(struct iperf3_test *test, uint64_t now_us);    // and ends
bool iperf3_test_reached(const struct iperf3_test *test);           // an end condition in bytes or blocks is met
void iperf3_streams_close(struct iperf3_test *test);                // the data sockets; their counts stay
void iperf3_test_close(struct iperf3_test *test);                   // all sockets

extern const char iperf3_hello[4], iperf3_hello_reply[4];
bool iperf3_is_hello(const uint8_t *data, uint32_t length);

WEIR_END_DECLS

#endif
