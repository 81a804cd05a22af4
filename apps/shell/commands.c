// SPDX-License-Identifier: BSD-2-Clause
// Commands that look at this host alone. Each is a walk, a line a step.
#include "shell/commands.h"

#include "counters.h"
#include "weir/cc.h"
#include "weir/tables.h"
#include "weir/version.h"

#define SECOND_US 1000000u

static struct weir *weir_of(const struct shell *shell) { return shell->loop->weir; }

static void put_number(struct text *out, const char *what, uint64_t value)
{
    text_put(out, what);
    text_u64(out, value);
}

// --- ifconfig --------------------------------------------------------------------------------------------------------

static void put_netif(struct text *out, const struct weir_netif *netif)
{
    const struct weir_netif_address *a = NULL;
    text_put(out, netif->name);
    text_put(out, netif->flags & WEIR_NETIF_UP ? " up" : " down");
    text_put(out, netif->flags & WEIR_NETIF_LINK ? ", carrier" : ", no carrier");
    put_number(out, ", mtu ", netif->mtu);
    text_put(out, ", ");
    text_mac(out, netif->mac);
    text_char(out, '\n');
    while ((a = weir_netif_address_next(netif, a)) != NULL) {
        text_put(out, "  address ");
        text_addr(out, a->addr);
        put_number(out, "/", a->prefix_length);
        text_put(out, a->state == WEIR_ADDRESS_CONFLICT  ? " conflict"
                      : a->state == WEIR_ADDRESS_PROBING ? " probing"
                      : a->deprecated                    ? " deprecated"
                                                         : "");
        text_char(out, '\n');
    }
    put_number(out, "  received ", netif->stats.rx_frames);
    put_number(out, " frames, ", netif->stats.rx_bytes);
    put_number(out, " bytes, dropped ", netif->stats.rx_dropped);
    put_number(out, "\n  sent ", netif->stats.tx_frames);
    put_number(out, " frames, ", netif->stats.tx_bytes);
    put_number(out, " bytes, dropped ", netif->stats.tx_dropped);
    text_char(out, '\n');
}

// Indices have gaps.
static enum shell_step ifconfig_step(struct shell *shell)
{
    while (shell->index <= UINT8_MAX) {
        const struct weir_netif *const netif = weir_netif_at(weir_of(shell), (uint8_t)shell->index++);
        if (netif == NULL)
            continue;
        put_netif(&shell->out, netif);
        return SHELL_MORE;
    }
    return SHELL_DONE;
}

static void ifconfig(struct shell *shell, int argc, char **argv)
{
    (void)argc, (void)argv;
    shell->index = 1;
    shell->step = ifconfig_step;
}

// --- netstat ---------------------------------------------------------------------------------------------------------

// Sockets may come and go between two steps: nothing is held but the cursor.
static enum shell_step netstat_step(struct shell *shell)
{
    static const char *const types[] = {"tcp", "udp", "raw", "icmp"};
    struct weir_socket_info info;
    struct text *const out = &shell->out;
    shell->cursor = weir_socket_next(weir_of(shell), shell->cursor, &info);
    if (shell->cursor == 0)
        return SHELL_DONE;
    const uint32_t start = out->length;
    text_put(out, types[info.type]);
    text_pad(out, start, 6);
    text_u64(out, info.receive_queue);
    text_pad(out, start, 14);
    text_u64(out, info.send_queue);
    text_pad(out, start, 22);
    text_endpoint(out, &info.local);
    text_char(out, ' ');
    text_pad(out, start, 44);
    text_endpoint(out, &info.peer);
    text_char(out, ' ');
    text_pad(out, start, 66);
    if (info.type == WEIR_STREAM)
        text_put(out, weir_tcp_state_name((enum weir_tcp_state)info.tcp_state));
    text_char(out, '\n');
    return SHELL_MORE;
}

static enum shell_step counters_step(struct shell *shell)
{
    for (; shell->index < WEIR_COUNT_COUNT; shell->index++) {
        const enum weir_counter counter = (enum weir_counter)shell->index;
        const uint32_t value = weir_counter_get(weir_of(shell), counter);
        const uint32_t start = shell->out.length;
        if (value == 0)
            continue;
        text_u64(&shell->out, value);
        text_right(&shell->out, start, 10);
        text_put(&shell->out, "  ");
        text_put(&shell->out, counter_rows[counter].text);
        text_char(&shell->out, '\n');
        shell->index++;
        return SHELL_MORE;
    }
    return SHELL_DONE;
}

static void netstat(struct shell *shell, int argc, char **argv)
{
    if (argc > 1 && text_equal("-s", 2, argv[1])) {
        shell->step = counters_step;
        return;
    }
    text_put(&shell->out, "proto recv-q  send-q  local                 peer                  state\n");
    shell->step = netstat_step;
}

// --- route, neigh ----------------------------------------------------------------------------------------------------

static void put_netif_name(struct text *out, const struct weir_netif *netif)
{
    text_put(out, " dev ");
    text_put(out, netif->name);
}

static enum shell_step route_step(struct shell *shell)
{
    struct weir_route_info route;
    struct text *const out = &shell->out;
    if (!weir_route_at(weir_of(shell), shell->index++, &route))
        return SHELL_DONE;
    if (route.prefix_length > 0) {
        text_addr(out, route.prefix);
        put_number(out, "/", route.prefix_length);
    } else {
        text_put(out, "default");
    }
    if (!weir_addr_is_any(route.gateway)) {
        text_put(out, " via ");
        text_addr(out, route.gateway);
    }
    put_netif_name(out, route.netif);
    put_number(out, " metric ", route.metric);
    text_put(out, route.connected ? " connected\n" : route.advertised ? " advertised\n" : "\n");
    return SHELL_MORE;
}

static enum shell_step neigh_step(struct shell *shell)
{
    struct weir_neighbour_info neighbour;
    struct text *const out = &shell->out;
    shell->index = weir_neighbour_next(weir_of(shell), shell->index, &neighbour);
    if (shell->index == 0)
        return SHELL_DONE;
    text_addr(out, neighbour.address);
    put_netif_name(out, neighbour.netif);
    text_char(out, ' ');
    if (neighbour.known)
        text_mac(out, neighbour.mac);
    text_put(out, neighbour.known ? " " : "");
    text_put(out, neighbour.state);
    text_char(out, '\n');
    return SHELL_MORE;
}

static void table_walk(struct shell *shell, enum shell_step (*step)(struct shell *shell))
{
    if (WEIR_CFG_TABLES)
        shell->step = step;
    else
        text_put(&shell->out, "this build does not show it (WEIR_CFG_TABLES)\n");
}

static void route(struct shell *shell, int argc, char **argv)
{
    (void)argc, (void)argv;
    table_walk(shell, route_step);
}

static void neigh(struct shell *shell, int argc, char **argv)
{
    (void)argc, (void)argv;
    table_walk(shell, neigh_step);
}

// --- cc, stats -------------------------------------------------------------------------------------------------------

static void cc(struct shell *shell, int argc, char **argv)
{
    (void)argc, (void)argv;
    for (uint32_t i = 0; weir_cc_list[i] != NULL; i++) {
        text_put(&shell->out, i > 0 ? " " : "");
        text_put(&shell->out, weir_cc_list[i]->name);
    }
    text_char(&shell->out, '\n');
}

static void stats(struct shell *shell, int argc, char **argv)
{
    struct text *const out = &shell->out;
    (void)argc, (void)argv;
    text_put(out, "version ");
    text_put(out, weir_version());
    put_number(out, "\nup ", (weir_now_us(weir_of(shell)) - shell->began_us) / SECOND_US);
    put_number(out, " s\nsockets ", weir_socket_count(weir_of(shell)));
    put_number(out, "\nmemory ", weir_memory_used(weir_of(shell)));
    if (weir_memory_limit(weir_of(shell)) != 0)
        put_number(out, " of ", weir_memory_limit(weir_of(shell)));
    put_number(out, " bytes\nsegments sent ", weir_counter_get(weir_of(shell), WEIR_COUNT_TCP_SENT));
    put_number(out, ", received ", weir_counter_get(weir_of(shell), WEIR_COUNT_TCP_RECEIVED));
    put_number(out, ", retransmitted ", weir_counter_get(weir_of(shell), WEIR_COUNT_TCP_RETRANSMITTED));
    text_char(out, '\n');
}

static void put_command(struct text *out, const struct shell_command *command)
{
    const uint32_t start = out->length;
    text_put(out, command->name);
    text_pad(out, start, 10);
    text_put(out, command->about);
    text_char(out, '\n');
}

static void help(struct shell *shell, int argc, char **argv)
{
    const struct shell_command *const tables[] = {shell_commands, shell_tools};
    (void)argc, (void)argv;
    for (uint32_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (const struct shell_command *command = tables[i]; command->name != NULL; command++)
            put_command(&shell->out, command);
    }
    for (uint32_t i = 0; i < shell->added_count; i++)
        put_command(&shell->out, shell->added[i]);
}

static void quit(struct shell *shell, int argc, char **argv)
{
    (void)argc, (void)argv;
    shell->ended = shell->serial == NULL;  // a line goes on
    shell->ahead_bytes = 0;
}

const struct shell_command shell_commands[] = {
    {"help", "what there is", help},
    {"ifconfig", "interfaces, their addresses and counters", ifconfig},
    {"netstat", "sockets; -s: counters that are not zero", netstat},
    {"route", "routes, the first that fits is taken", route},
    {"neigh", "neighbours and their link addresses", neigh},
    {"cc", "congestion controls", cc},
    {"stats", "version, time, memory", stats},
    {"quit", "ends the session", quit},
    {NULL, NULL, NULL},
};
