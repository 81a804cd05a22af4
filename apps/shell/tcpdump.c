// SPDX-License-Identifier: BSD-2-Clause
// The command tcpdump, of programs that add it.
#include "shell/capture.h"

#include "shell/commands.h"

#define LOOK_US 20000u  // at frames that have passed: taps cannot call

static const char usage[] = "tcpdump [count N] [port PORT] [host ADDRESS] [proto tcp|udp|icmp|arp]\n";

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

static void tcpdump(struct shell *shell, int argc, char **argv)
{
    struct capture_filter filter = {.protocol = NULL};
    shell->wanted = SHELL_FRAMES;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !take(shell, &filter, argv[i], argv[i + 1])) {
            text_put(&shell->out, usage);
            return;
        }
    }
    if (!leave_out_session(shell, &filter))
        return;
    capture_start(shell->capture, shell->loop->weir, &filter);
    shell->stop = stop;
    shell->step = step;
}

void shell_add_tcpdump(struct shell *shell, struct capture *capture)
{
    static const struct shell_command command = {
        "tcpdump", "[count N] [port P] [host A] [proto P]: frames as they pass; Ctrl-C ends it", tcpdump};
    shell->capture = capture;
    shell_add(shell, &command);
}
