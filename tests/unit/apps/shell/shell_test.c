// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
#include "apps/bench.h"
#include "apps/blocks.h"

#include "capture.h"
#include "iperf3/client.h"
#include "shell/shell.h"
#include "weir/tables.h"

#define PORT 2323u
#define SECOND 1000000u

static struct bench b;
static struct shell shell;
static struct dns dns;
static weir_socket peer;
static char got[65536];
static bool over;

static void open_session(void)
{
    bench_open(&b);
    dns_start(&dns, &b.loop);
    assert_int_equal(shell_start(&shell, &b.loop, PORT, &dns), WEIR_OK);
    peer = bench_connect(&b, PORT);
}

static void close_session(void)
{
    if (peer > 0)
        assert_int_equal(weir_socket_close(b.f.weir, peer), WEIR_OK);
    shell_stop(&shell);
    dns_stop(&dns);
    bench_close(&b);
}

// Everything that the shell has said by now.
static const char *heard(void)
{
    (void)bench_read(&b, peer, got, sizeof got, &over);
    return got;
}

static const char *say(const char *text)
{
    (void)heard();
    bench_write(&b, peer, text);
    return heard();
}

static void commands_answer(void **state)
{
    (void)state;
    open_session();
    assert_string_equal(heard(), "weir> ");
    assert_non_null(strstr(say("help\n"), "ifconfig  interfaces, their addresses"));
    assert_non_null(strstr(say("ifconfig\r\n"), "address 10.0.0.1/24\n"));
    assert_non_null(strstr(got, "lo up"));
    assert_non_null(strstr(say("netstat\n"), "ESTABLISHED\n"));
    assert_non_null(strstr(got, "127.0.0.1:2323"));
    assert_non_null(strstr(say("netstat -s\n"), "active connections established\n"));
    assert_non_null(strstr(say("cc\n"), "cubic"));
    assert_non_null(strstr(say("route\n"), "10.0.0.0/24 dev test0 metric 0 connected\n"));
    assert_string_equal(say("neigh\n"), "weir> ");  // everything went over the loopback
    assert_string_equal(say("iperf 10.0.0.9\n"), "no such command: help lists them\nweir> ");  // it was not added
    assert_string_equal(say("tcpdump\n"), "no such command: help lists them\nweir> ");
    assert_non_null(strstr(say("stats\n"), "version "));
    assert_string_equal(say("nonsense\n"), "no such command: help lists them\nweir> ");
    assert_string_equal(say("\n"), "weir> ");
    (void)say("quit\n");
    assert_true(over);
    close_session();
}

static void what_is_typed_ahead_waits(void **state)
{
    (void)state;
    open_session();
    (void)heard();
    bench_write(&b, peer, "ping 127.0.0.1 2\ncc\n");
    assert_null(strstr(heard(), "cubic"));
    bench_run(&b, 3 * SECOND);
    const char *const text = heard();
    assert_non_null(strstr(text, "64 bytes from 127.0.0.1: seq "));
    const char *const sent = strstr(text, "2 sent, 2 received\nweir> "), *const next = strstr(text, "cubic");
    assert_true(sent != NULL && next != NULL && sent < next);
    close_session();
}

static void an_interrupt_ends_what_runs(void **state)
{
    (void)state;
    open_session();
    (void)say("ping 127.0.0.1 1000\n");
    bench_run(&b, 2 * SECOND);
    assert_non_null(strstr(say("\x03"), "\nweir> "));
    assert_false(shell.pinging);
    assert_non_null(strstr(say("cc\n"), "cubic"));
    assert_string_equal(say("half a line\x03"), "\nweir> ");
    assert_string_equal(say("\n"), "weir> ");
    close_session();
}

static void names_are_looked_up(void **state)
{
    (void)state;
    open_session();
    assert_non_null(strstr(say("nslookup localhost\n"), "127.0.0.1\n"));
    assert_string_equal(say("nslookup\n"), "nslookup NAME\nweir> ");
    assert_string_equal(say("ping\n"), "ping HOST [COUNT]\nweir> ");
    assert_string_equal(say("ping 10.0.0.1 0\n"), "ping HOST [COUNT]\nweir> ");
    assert_string_equal(say("ping 10.0.0.1 1001\n"), "ping HOST [COUNT]\nweir> ");
    assert_non_null(strstr(say("nslookup no.such.name\n"), "no name server is known\nweir> "));
    assert_string_equal(say("ping 192.0.2.1 1\n"), "no route to it\nweir> ");
    close_session();
}

// What carries the session cannot be cut off under it: no command changes anything, whatever is written behind it.
static void no_command_changes_an_interface(void **state)
{
    static const char *const tries[] = {
        "ifconfig lo down\n",    "ifconfig lo 0.0.0.0\n", "ifconfig test0 down\n",        "ifconfig test0 10.9.9.9\n",
        "ifconfig test0 -arp\n", "route del default\n",   "route add default 10.0.0.9\n", "neigh flush\n"};
    struct weir_route_info route, now;
    (void)state;
    open_session();
    const struct weir_netif before = b.f.netif;
    assert_true(weir_route_at(b.f.weir, 0, &route));
    for (uint32_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        assert_non_null(strstr(say(tries[i]), "weir> "));
        const struct weir_netif *const lo = weir_netif_find(b.f.weir, "lo");
        assert_true(lo != NULL && (lo->flags & WEIR_NETIF_UP) && !weir_addr_is_any(lo->address.addr));
        assert_int_equal(b.f.netif.flags, before.flags);
        assert_true(weir_addr_equal(b.f.netif.address.addr, before.address.addr));
        assert_true(weir_route_at(b.f.weir, 0, &now) && weir_addr_equal(now.prefix, route.prefix) &&
                    now.netif == route.netif);
    }
    assert_non_null(strstr(say("cc\n"), "cubic"));
    close_session();
}

// Commands run where the loop is run, and nowhere else: neither what comes in nor the stack's own turn starts or goes
// on with one.
static void commands_run_in_the_loop_alone(void **state)
{
    (void)state;
    open_session();
    (void)heard();
    assert_int_equal(weir_socket_write(b.f.weir, peer, "help\ncc\n", 8), 8);
    for (uint32_t turns = 0; turns < 20; turns++)
        (void)weir_poll(b.f.weir, b.f.now_us += 1000);
    assert_true(weir_socket_ready(b.f.weir, shell.socket) & WEIR_READABLE);  // it has come
    assert_false(weir_socket_ready(b.f.weir, peer) & WEIR_READABLE);
    assert_true(shell.ahead_bytes == 0 && shell.line_bytes == 0 && shell.out.length == 0);
    bench_run(&b, SECOND);
    assert_non_null(strstr(heard(), "cubic"));
    close_session();
}

static void telnets_commands_are_passed_over(void **state)
{
    static const uint8_t bytes[] = {255, 253, 3, 'c', 255, 250, 24, 'x', '\n', 255, 240, 'c', 255, 241, 0, '\r', '\n'};
    (void)state;
    open_session();
    (void)heard();
    assert_int_equal(weir_socket_write(b.f.weir, peer, bytes, sizeof bytes), sizeof bytes);
    bench_run(&b, 100000);
    assert_non_null(strstr(heard(), "cubic"));
    close_session();
}

static void lines_are_bounded(void **state)
{
    char line[SHELL_LINE_BYTES * 4 + 2];
    (void)state;
    open_session();
    memset(line, 'x', sizeof line - 2);
    line[sizeof line - 2] = '\n';
    line[sizeof line - 1] = '\0';
    assert_string_equal(say(line), "the line is too long\nweir> ");
    assert_string_equal(say("a b c d e f g h i j k\n"), "no such command: help lists them\nweir> ");
    assert_non_null(strstr(say("xx\b\bcc\n"), "cubic"));
    close_session();
}

// Begins a session anew with buffers so small that what the shell says has to wait.
static void narrow_session(void)
{
    const struct weir_endpoint server = bench_here(PORT);
    assert_int_equal(weir_socket_close(b.f.weir, peer), WEIR_OK);
    bench_run(&b, SECOND);
    peer = weir_socket_open(b.f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_set(b.f.weir, peer, WEIR_OPTION_RECEIVE_BUFFER, 4096), WEIR_OK);
    assert_int_equal(weir_socket_connect(b.f.weir, peer, &server), WEIR_IN_PROGRESS);
    bench_run(&b, 10000);
    assert_int_equal(weir_socket_set(b.f.weir, shell.socket, WEIR_OPTION_SEND_BUFFER, 1000), WEIR_OK);
}

static void a_reader_that_is_slow_loses_nothing(void **state)
{
    static char help[SHELL_OUT_BYTES];
    uint32_t helps = 0, bytes = 0;
    (void)state;
    open_session();
    narrow_session();
    strcpy(help, say("help\n"));
    for (; helps < 60; helps++)
        bench_write(&b, peer, "help\n");
    bench_write(&b, peer, "cc\n");
    bench_run(&b, 10 * SECOND);
    assert_true(shell.out.length > 0);  // it waits
    while (weir_socket_ready(b.f.weir, peer) & WEIR_READABLE) {
        bytes += bench_read(&b, peer, got + bytes, sizeof got - bytes, NULL);
        bench_run(&b, 10 * SECOND);
    }
    const char *text = got;
    for (; helps > 0; helps--, text += strlen(help))
        assert_memory_equal(text, help, strlen(help));
    assert_non_null(strstr(text, "cubic"));
    close_session();
}

static void there_is_one_session_and_it_ends_in_time(void **state)
{
    (void)state;
    open_session();
    const weir_socket other = bench_connect(&b, PORT);
    bench_run(&b, 100000);
    (void)bench_read(&b, other, got, sizeof got, &over);
    assert_string_equal(got, "somebody else is here\n");
    assert_true(over);
    assert_int_equal(weir_socket_close(b.f.weir, other), WEIR_OK);
    assert_non_null(strstr(say("cc\n"), "cubic"));
    bench_run(&b, (uint64_t)SHELL_IDLE_S * SECOND + SECOND);
    (void)heard();
    assert_true(over);
    assert_int_equal(shell.socket, 0);
    close_session();
}

static void a_peer_that_ends_hears_the_rest(void **state)
{
    (void)state;
    open_session();
    (void)heard();
    assert_int_equal(weir_socket_write(b.f.weir, peer, "ping 127.0.0.1 2\ncc\n", 20), 20);
    assert_int_equal(weir_socket_shutdown(b.f.weir, peer, WEIR_SHUT_WRITE), WEIR_OK);
    bench_run(&b, 4 * SECOND);
    const char *const text = heard();
    assert_non_null(strstr(text, "2 sent, 2 received"));
    assert_non_null(strstr(text, "cubic"));
    assert_true(over);
    close_session();
}

// --- tcpdump ---------------------------------------------------------------------------------------------------------

static struct capture capture;

static void open_capturing(void)
{
    open_session();
    shell_add_tcpdump(&shell, &capture);
    (void)heard();
}

static void frames_are_told_but_the_sessions_own(void **state)
{
    (void)state;
    open_capturing();
    bench_write(&b, peer, "tcpdump count 3 port 2323\n");
    bench_run(&b, SECOND);
    assert_string_equal(heard(), "");
    const weir_socket other = bench_connect(&b, PORT);
    bench_run(&b, SECOND);
    const char *const text = heard();
    assert_non_null(strstr(text, " lo out 127.0.0.1:"));
    assert_non_null(strstr(text, " > 127.0.0.1:2323: tcp S seq "));
    assert_non_null(strstr(text, " data 0\n"));
    uint32_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 3 + (capture.lost > 0));
    assert_non_null(strstr(text, "weir> "));
    assert_int_equal(capture.head, capture.tail);
    assert_int_equal(weir_socket_close(b.f.weir, other), WEIR_OK);
    close_session();
}

static void what_is_not_asked_for_is_not_kept(void **state)
{
    (void)state;
    open_capturing();
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const filters[] = {"tcpdump proto udp\n", "tcpdump port 7\n", "tcpdump host 10.0.0.77\n"};
        bench_write(&b, peer, filters[i]);
        const weir_socket other = bench_connect(&b, PORT);
        bench_run(&b, SECOND);
        assert_string_equal(heard(), "");
        assert_string_equal(say("\x03"), "\nweir> ");
        assert_int_equal(weir_socket_close(b.f.weir, other), WEIR_OK);
    }
    assert_non_null(strstr(say("tcpdump port\n"), "tcpdump [-w -] [count N]"));
    assert_non_null(strstr(say("tcpdump count 0\n"), "tcpdump [-w -] [count N]"));
    assert_non_null(strstr(say("tcpdump proto xns\n"), "tcpdump [-w -] [count N]"));
    close_session();
}

// Whoever leaves takes the capture along, and of what waited nothing stays.
static void a_capture_ends_with_its_session(void **state)
{
    static const uint8_t zero[sizeof capture.frames];
    (void)state;
    open_capturing();
    bench_write(&b, peer, "tcpdump\n");
    bench_run(&b, (uint64_t)SHELL_IDLE_S * SECOND + SECOND);
    (void)heard();
    assert_true(over);
    assert_null(shell.stop);
    const weir_socket other = bench_connect(&b, PORT);
    bench_run(&b, SECOND);
    assert_null(capture_oldest(&capture));
    assert_memory_equal(capture.frames, zero, sizeof zero);
    assert_int_equal(weir_socket_close(b.f.weir, other), WEIR_OK);
    close_session();
}

// `tcpdump -w -`: behind the prompt a file and nothing else, and the session ends with it.
static void frames_are_written_as_a_file(void **state)
{
    (void)state;
    open_capturing();
    shell.file.epoch_us = 5000000000000000u;
    bench_write(&b, peer, "tcpdump -w - count 3 port 2323 proto tcp host 127.0.0.1\n");
    uint32_t length = bench_read(&b, peer, got, sizeof got, &over);
    assert_int_equal(length, CAPTURE_FILE_HEAD);  // at once: who reads it need not wait for a frame
    assert_false(over);
    const weir_socket other = bench_connect(&b, PORT);
    bench_run(&b, SECOND);
    length += bench_read(&b, peer, got + length, (uint32_t)sizeof got - length, &over);
    assert_true(over);
    const struct blocks_found found = blocks_walk(got, length);
    assert_int_equal(found.sections, 1);
    assert_int_equal(found.interfaces, 1);
    assert_int_equal(found.packets, 3);
    assert_int_equal(found.statistics, 1);
    assert_int_equal(found.dropped, capture.lost);
    assert_true(found.longest > 40 && found.last_us > shell.file.epoch_us &&
                found.last_us <= shell.file.epoch_us + weir_now_us(b.f.weir));
    assert_null(capture_oldest(&capture));
    assert_int_equal(weir_socket_close(b.f.weir, other), WEIR_OK);
    close_session();
}

// It has no end of its own, and a reader that takes it is not idle; Ctrl-C makes it whole.
static void a_file_goes_on_until_it_is_ended(void **state)
{
    (void)state;
    open_capturing();
    bench_write(&b, peer, "tcpdump -w -\n");
    uint32_t length = 0, packets = 0;
    for (uint32_t i = 0; i < 8; i++) {
        bench_run(&b, (uint64_t)SHELL_IDLE_S * SECOND / 2);
        const weir_socket other = bench_connect(&b, PORT);
        bench_run(&b, SECOND);
        assert_int_equal(weir_socket_close(b.f.weir, other), WEIR_OK);
        bench_run(&b, SECOND);
        length += bench_read(&b, peer, got + length, (uint32_t)sizeof got - length, &over);
        assert_false(over);
        const struct blocks_found found = blocks_walk(got, length);
        assert_true(found.packets > packets && found.statistics == 0);
        packets = found.packets;
    }
    assert_true(packets > SHELL_FRAMES / 2);
    bench_write(&b, peer, "\x03");
    length += bench_read(&b, peer, got + length, (uint32_t)sizeof got - length, &over);
    assert_true(over);
    assert_int_equal(blocks_walk(got, length).statistics, 1);
    close_session();
    open_capturing();
    assert_non_null(strstr(say("tcpdump -w file\n"), "tcpdump [-w -]"));
    assert_non_null(strstr(say("tcpdump -w\n"), "tcpdump [-w -]"));
    assert_non_null(strstr(say("tcpdump -w - count\n"), "tcpdump [-w -]"));
    close_session();
}

// Of more interfaces than a file names, frames are left out and counted.
static void a_file_names_some_interfaces(void **state)
{
    struct capture_file file = {.epoch_us = 0};
    struct capture_frame frame = {.bytes = CAPTURE_BYTES, .length = 2000};
    char bytes[(CAPTURE_NETIFS + 4) * CAPTURE_BLOCKS];
    uint32_t length = capture_file_begin(&file, (uint8_t *)bytes);
    (void)state;
    assert_int_equal(length, CAPTURE_FILE_HEAD);
    for (uint32_t i = 0; i < CAPTURE_NETIFS + 2; i++) {
        memcpy(frame.netif, "network0", sizeof frame.netif);  // without a zero at its end
        frame.netif[7] = (char)('0' + i);
        frame.raw_ip = i & 1;
        const uint32_t made = capture_file_frame(&file, &frame, (uint8_t *)bytes + length);
        assert_true(made <= CAPTURE_BLOCKS && (made == 0) == (i >= CAPTURE_NETIFS));
        length += made;
    }
    length += capture_file_end(&file, 3, 0, (uint8_t *)bytes + length);
    const struct blocks_found found = blocks_walk(bytes, length);
    assert_int_equal(found.interfaces, CAPTURE_NETIFS);
    assert_int_equal(found.packets, CAPTURE_NETIFS);
    assert_int_equal(found.dropped, 3 + 2);
}

// A frame whose checksum or cutting is a device's says so, in the file and in its line.
static void offload_is_told(void **state)
{
    struct capture_file file = {.epoch_us = 0};
    struct capture_frame frame = {.netif = "eth0", .bytes = 60, .length = 30000, .outgoing = true};
    char bytes[8 * CAPTURE_BLOCKS], line[256];
    struct text out;
    uint32_t length = capture_file_begin(&file, (uint8_t *)bytes);
    (void)state;
    text_init(&out, line, sizeof line);
    capture_tell(&frame, &out);
    assert_non_null(strstr(line, " frame 30000\n"));
    frame.offload = WEIR_TAP_CHECKSUM_OPEN | WEIR_TAP_SEGMENTS;
    length += capture_file_frame(&file, &frame, (uint8_t *)bytes + length);
    assert_int_equal(blocks_walk(bytes, length).flags, 2 | 1 << 9 | 1 << 11);
    text_init(&out, line, sizeof line);
    capture_tell(&frame, &out);
    assert_non_null(strstr(line, " frame 30000 tso\n"));
    frame.outgoing = false;
    frame.offload = WEIR_TAP_CHECKSUM_VERIFIED | WEIR_TAP_SEGMENTS;
    length += capture_file_frame(&file, &frame, (uint8_t *)bytes + length);
    assert_int_equal(blocks_walk(bytes, length).flags, 1 | 1 << 10 | 1 << 11);
    text_init(&out, line, sizeof line);
    capture_tell(&frame, &out);
    assert_non_null(strstr(line, " frame 30000 gro\n"));
}

// Frames of every length and any bytes: a view never passes what was kept (sanitizers see it).
static void any_bytes_are_looked_at(void **state)
{
    struct capture_frame frame = {.netif = "eth0"};
    char line[256];
    uint32_t random = 1;
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        struct text out;
        for (uint32_t at = 0; at < CAPTURE_BYTES; at++)
            frame.data[at] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
        frame.raw_ip = i & 1;
        frame.bytes = (uint8_t)(random % (CAPTURE_BYTES + 1));
        if (i & 2) {  // an IP packet
            static const uint8_t types[] = {8, 0};
            memcpy(frame.data + 12, types, sizeof types);
            frame.data[frame.raw_ip ? 0 : 14] = i & 4 ? 0x45 : 0x4f;
            frame.data[frame.raw_ip ? 9 : 23] = i & 8 ? 6 : 17;
        }
        text_init(&out, line, sizeof line);
        capture_tell(&frame, &out);
        assert_false(out.cut);
        const struct capture_view view = capture_look(&frame);
        assert_true(view.transport == NULL ||
                    (view.transport >= frame.data && view.transport + 8 <= frame.data + frame.bytes));
    }
}

// --- iperf -----------------------------------------------------------------------------------------------------------

static struct iperf3_client measuring;

static void open_measuring(void)
{
    open_session();
    shell_add_iperf(&shell, &measuring);
    (void)heard();
}

static void a_measurement_without_a_server_fails(void **state)
{
    (void)state;
    open_measuring();
    const char *const text = say("iperf 127.0.0.1 2\n");
    assert_non_null(strstr(text, "weir> "));
    assert_true(strcspn(text, "\n") > 5);  // it says why
    assert_null(shell.stop);
    assert_non_null(strstr(say("cc\n"), "cubic"));
    close_session();
}

static void a_measurement_that_is_none_is_refused(void **state)
{
    static const char *const lines[] = {"iperf\n", "iperf 127.0.0.1 0\n", "iperf 127.0.0.1 3601\n",
                                        "iperf 127.0.0.1 x\n", "iperf 127.0.0.1 2 3\n"};
    (void)state;
    open_measuring();
    for (uint32_t i = 0; i < 5; i++)
        assert_string_equal(say(lines[i]), "iperf HOST [SECONDS] [-R]\nweir> ");
    assert_non_null(strstr(say("iperf no.such.name\n"), "no name server is known\nweir> "));
    assert_non_null(strstr(say("help\n"), "(-R) from it"));
    close_session();
}

// --- on a serial line ------------------------------------------------------------------------------------------------

static struct {
    const char *typed;  // not read yet
    char shown[8192];
    uint32_t length, room;  // room: what the line takes before it is full
} terminal;

static uint32_t terminal_read(void *context, uint8_t *to, uint32_t room)
{
    uint32_t taken = 0;
    (void)context;
    for (; taken < room && *terminal.typed != '\0'; taken++)
        to[taken] = (uint8_t)*terminal.typed++;
    return taken;
}

static uint32_t terminal_write(void *context, const uint8_t *from, uint32_t bytes)
{
    const uint32_t taken = bytes < terminal.room ? bytes : terminal.room;
    (void)context;
    assert_true(terminal.length + taken < sizeof terminal.shown);
    memcpy(terminal.shown + terminal.length, from, taken);
    terminal.length += taken;
    terminal.room -= taken;
    terminal.shown[terminal.length] = '\0';
    return taken;
}

static void open_serial(void)
{
    static const struct shell_line line = {terminal_read, terminal_write, NULL};
    memset(&terminal, 0, sizeof terminal);
    terminal.typed = "";
    terminal.room = UINT32_MAX;
    bench_open(&b);
    shell_start_serial(&shell, &b.loop, &line, NULL);
    bench_run(&b, 1000);
}

static void close_serial(void)
{
    shell_stop(&shell);
    bench_close(&b);
}

static const char *type(const char *text)
{
    terminal.length = 0;
    terminal.typed = text;
    bench_run(&b, 100000);
    return terminal.shown;
}

static void a_terminal_is_echoed(void **state)
{
    (void)state;
    open_serial();
    assert_string_equal(terminal.shown, "weir> ");
    assert_string_equal(type("no\r"), "no\r\nno such command: help lists them\r\nweir> ");
    assert_string_equal(type("\r\n\n"), "\r\nweir> \r\nweir> ");
    assert_non_null(strstr(type("xx\b\x7f\x7f"
                                "cc\r"),
                           "xx\b \b\b \bcc\r\n"));
    assert_non_null(strstr(terminal.shown, "cubic"));
    assert_string_equal(type("ha\xff\xfalf\x03"), "\r\nweir> ");  // forgotten before it was taken
    close_serial();
}

// Of a serial line, too: bytes wait for the loop, which alone reads them.
static void what_is_typed_waits_for_the_loop(void **state)
{
    (void)state;
    open_serial();
    terminal.length = 0;
    terminal.typed = "cc\r";
    for (uint32_t turns = 0; turns < 20; turns++)
        (void)weir_poll(b.f.weir, b.f.now_us += 1000);
    assert_true(terminal.length == 0 && *terminal.typed == 'c');
    (void)loop_run(&b.loop, b.f.now_us);
    assert_non_null(strstr(terminal.shown, "cubic"));
    close_serial();
}

static void a_line_has_no_end(void **state)
{
    (void)state;
    open_serial();
    bench_run(&b, 2 * (uint64_t)SHELL_IDLE_S * SECOND);
    assert_string_equal(type("quit\r"), "quit\r\nweir> ");
    assert_non_null(strstr(type("stats\r"), "version "));
    close_serial();
}

// Whatever the line takes at once, nothing is lost or doubled: also not between CR and LF.
static void a_line_that_is_slow_loses_nothing(void **state)
{
    static char whole[sizeof terminal.shown];
    (void)state;
    open_serial();
    strcpy(whole, type("help\r"));
    terminal.length = terminal.room = 0;
    terminal.typed = "help\r";
    for (uint32_t turns = 0; turns < 2 * sizeof whole; turns++) {
        terminal.room = turns % 2;
        (void)loop_run(&b.loop, b.f.now_us);
    }
    assert_string_equal(terminal.shown, whole);
    close_serial();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_answer),
        cmocka_unit_test(what_is_typed_ahead_waits),
        cmocka_unit_test(an_interrupt_ends_what_runs),
        cmocka_unit_test(names_are_looked_up),
        cmocka_unit_test(no_command_changes_an_interface),
        cmocka_unit_test(commands_run_in_the_loop_alone),
        cmocka_unit_test(telnets_commands_are_passed_over),
        cmocka_unit_test(lines_are_bounded),
        cmocka_unit_test(a_reader_that_is_slow_loses_nothing),
        cmocka_unit_test(there_is_one_session_and_it_ends_in_time),
        cmocka_unit_test(a_peer_that_ends_hears_the_rest),
        cmocka_unit_test(a_measurement_without_a_server_fails),
        cmocka_unit_test(a_measurement_that_is_none_is_refused),
        cmocka_unit_test(frames_are_told_but_the_sessions_own),
        cmocka_unit_test(what_is_not_asked_for_is_not_kept),
        cmocka_unit_test(a_capture_ends_with_its_session),
        cmocka_unit_test(frames_are_written_as_a_file),
        cmocka_unit_test(a_file_goes_on_until_it_is_ended),
        cmocka_unit_test(a_file_names_some_interfaces),
        cmocka_unit_test(offload_is_told),
        cmocka_unit_test(any_bytes_are_looked_at),
        cmocka_unit_test(a_terminal_is_echoed),
        cmocka_unit_test(what_is_typed_waits_for_the_loop),
        cmocka_unit_test(a_line_has_no_end),
        cmocka_unit_test(a_line_that_is_slow_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
