// SPDX-License-Identifier: BSD-2-Clause
// The command tcpdump, of programs that add it.
#include "capture.h"

#include "shell/commands.h"

#define LOOK_US 20000u  // at frames that have passed: taps cannot call

static const char usage[] = "tcpdump [-w -] [count N] [port PORT] [host ADDRESS] [proto tcp|udp|icmp|arp]\n";

static void stop(struct shell *shell)
{
    shell->stop = NULL;
    shell->look_us = 0;
    capture_stop(shell->capture);
    if (shell->capture->lost == 0)
        return;
    text_u64(&shell->out, shell->capture->lost);
    text_put(&shell->out, " found no room\n");
}

static void put_blocks(struct shell *shell, const uint8_t *blocks, uint32_t length)
{
    text_bytes(&shell->out, (const char *)blocks, length);
}

static void stop_file(struct shell *shell)
{
    uint8_t blocks[CAPTURE_BLOCKS];
    shell->stop = NULL;
    shell->look_us = 0;
    capture_stop(shell->capture);
    put_blocks(shell, blocks,
               capture_file_end(&shell->file, shell->capture->lost, weir_now_us(shell->loop->weir), blocks));
    shell->ended = shell->filed = true;
}

// A reader that takes frames is at work, whatever it says.
static enum shell_step step_file(struct shell *shell)
{
    const uint64_t now_us = weir_now_us(shell->loop->weir);
    const struct capture_frame *const frame = capture_oldest(shell->capture);
    uint8_t blocks[CAPTURE_BLOCKS];
    if (frame == NULL) {
        shell->look_us = now_us + LOOK_US;
        return SHELL_WAIT;
    }
    put_blocks(shell, blocks, capture_file_frame(&shell->file, frame, blocks));
    capture_drop(shell->capture);
    shell->idle_us = now_us + SHELL_IDLE_S * 1000000ull;
    if (++shell->index != shell->wanted)
        return SHELL_MORE;
    stop_file(shell);
    return SHELL_DONE;
}

static enum shell_step step(struct shell *shell)
{
    const struct capture_frame *const frame = capture_oldest(shell->capture);
    if (frame == NULL) {
        shell->look_us = weir_now_us(shell->loop->weir) + LOOK_US;
        return SHELL_WAIT;
    }
    capture_tell(frame, &shell->out);
    capture_drop(shell->capture);
    if (++shell->index < shell->wanted)
        return SHELL_MORE;
    stop(shell);
    return SHELL_DONE;
}

static const char *protocol_named(const char *name)
{
    static const char *const names[] = {"tcp", "udp", "icmp", "arp"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (text_equal(name, text_length(name), names[i]))
            return names[i];
    return NULL;
}

static bool take_number(const char *word, uint64_t most, uint64_t *value)
{
    const uint32_t length = text_length(word);
    return text_read_u64(word, length, most, value) == length && *value > 0;
}

// A pair of words.
static bool take(struct shell *shell, struct capture_filter *filter, const char *what, const char *value)
{
    const uint32_t length = text_length(what);
    uint64_t number = 0;
    if (text_equal(what, length, "count") && take_number(value, UINT32_MAX, &number))
        shell->wanted = (uint32_t)number;
    else if (text_equal(what, length, "port") && take_number(value, UINT16_MAX, &number))
        filter->port = (uint16_t)number;
    else if (text_equal(what, length, "proto"))
        return (filter->protocol = protocol_named(value)) != NULL;
    else
        return text_equal(what, length, "host") && text_read_addr(value, text_length(value), &filter->host);
    return true;
}

// The session's own frames are not shown: each line would make another. On the wire no address has a zone.
static bool leave_out_session(struct shell *shell, struct capture_filter *filter)
{
    struct weir *const weir = shell->loop->weir;
    if (shell->socket == 0)
        return true;
    if (weir_socket_local(weir, shell->socket, &filter->but_local) < 0 ||
        weir_socket_peer(weir, shell->socket, &filter->but_peer) < 0)
        return false;
    filter->but_local.addr = weir_addr_with_zone(filter->but_local.addr, 0);
    filter->but_peer.addr = weir_addr_with_zone(filter->but_peer.addr, 0);
    return true;
}

static void start(struct shell *shell, const struct capture_filter *filter, bool to_file)
{
    capture_start(shell->capture, shell->loop->weir, filter);
    shell->stop = to_file ? stop_file : stop;
    shell->step = to_file ? step_file : step;
    if (to_file) {
        uint8_t blocks[CAPTURE_BLOCKS];
        put_blocks(shell, blocks, capture_file_begin(&shell->file, blocks));
    }
}

static void tcpdump(struct shell *shell, int argc, char **argv)
{
    struct capture_filter filter = {.protocol = NULL};
    const bool to_file =
        argc >= 3 && text_equal(argv[1], text_length(argv[1]), "-w") && text_equal(argv[2], text_length(argv[2]), "-");
    shell->wanted = to_file ? 0 : SHELL_FRAMES;  // 0: until it is ended
    for (int i = to_file ? 3 : 1; i < argc; i += 2) {
        if (i + 1 == argc || !take(shell, &filter, argv[i], argv[i + 1])) {
            text_put(&shell->out, usage);
            return;
        }
    }
    if (to_file && shell->serial != NULL)
        text_put(&shell->out, "a file goes over a port, not over a serial line\n");
    else if (leave_out_session(shell, &filter))
        start(shell, &filter, to_file);
}

void shell_add_tcpdump(struct shell *shell, struct capture *capture)
{
    static const struct shell_command command = {
        "tcpdump", "[-w -] [count N] [port P] [host A] [proto P]: frames as they pass; Ctrl-C ends it", tcpdump};
    shell->capture = capture;
    shell_add(shell, &command);
}
