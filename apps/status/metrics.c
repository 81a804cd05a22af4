// SPDX-License-Identifier: BSD-2-Clause
#include "status/metrics.h"

#include "counters.h"
#include "weir/netif.h"
#include "weir/version.h"

struct page {
    struct text *out;
    bool open;
};

enum kind { COUNTER, GAUGE };

static void name_put(const struct page *page, const char *name, bool total)
{
    text_put(page->out, "weir_");
    for (; *name != '\0'; name++)
        text_char(page->out, *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name);
    text_put(page->out, total ? "_total" : "");
}

// # TYPE and # HELP. A counter's family is called without "_total" in OpenMetrics alone.
static void family(const struct page *page, const char *name, enum kind kind, const char *help)
{
    const bool total = kind == COUNTER && !page->open;
    text_put(page->out, "# TYPE ");
    name_put(page, name, total);
    text_put(page->out, kind == COUNTER ? " counter\n# HELP " : " gauge\n# HELP ");
    name_put(page, name, total);
    text_char(page->out, ' ');
    for (; *help != '\0'; help++) {
        if (*help == '\\' || (*help == '"' && page->open))
            text_char(page->out, '\\');
        text_char(page->out, *help);
    }
    text_char(page->out, '\n');
}

static void sample(const struct page *page, const char *name, enum kind kind, const char *netif, uint64_t value)
{
    name_put(page, name, kind == COUNTER);
    if (netif != NULL) {
        text_put(page->out, "{netif=");
        text_json(page->out, netif);
        text_char(page->out, '}');
    }
    text_char(page->out, ' ');
    text_u64(page->out, value);
    text_char(page->out, '\n');
}

static void single(const struct page *page, const char *name, enum kind kind, const char *help, uint64_t value)
{
    family(page, name, kind, help);
    sample(page, name, kind, NULL, value);
}

static void render_counters(const struct page *page, const struct status *status)
{
    for (uint32_t i = 0; i < WEIR_COUNT_COUNT; i++)
        single(page, counter_rows[i].name, COUNTER, counter_rows[i].text, status->counted[i]);
}

// Behind the bytes, which have 64 bits, the rows are in the order of enum status_netif_count.
static uint64_t netif_value(const struct status *status, uint32_t netif, uint32_t which)
{
    const struct weir_netif_stats *const stats = &status->netifs[netif]->stats;
    return which == 0 ? stats->rx_bytes : which == 1 ? stats->tx_bytes : status->netif_counted[netif][which - 2];
}

static void render_netifs(const struct page *page, const struct status *status)
{
    static const struct {
        const char *name, *text;
    } rows[] = {{"netif_receive_bytes", "bytes received"},
                {"netif_transmit_bytes", "bytes sent"},
                {"netif_receive_frames", "frames received"},
                {"netif_transmit_frames", "frames sent"},
                {"netif_receive_dropped", "frames received and dropped"},
                {"netif_transmit_dropped", "frames dropped before they were sent"},
                {"netif_receive_runt", "frames shorter than their headers"},
                {"netif_receive_unknown", "frames without a handler, or for others"},
                {"netif_transmit_full", "frames the driver had no room for"}};
    for (uint32_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        family(page, rows[row].name, COUNTER, rows[row].text);
        for (uint32_t i = 0; i < status->netif_count; i++)
            sample(page, rows[row].name, COUNTER, status->netifs[i]->name, netif_value(status, i, row));
    }
    family(page, "netif_up", GAUGE, "whether the interface is up and has a link");
    for (uint32_t i = 0; i < status->netif_count; i++) {
        const unsigned both = WEIR_NETIF_UP | WEIR_NETIF_LINK;
        sample(page, "netif_up", GAUGE, status->netifs[i]->name, (status->netifs[i]->flags & both) == both);
    }
}

void status_metrics_render(struct status *status, bool open, struct text *out)
{
    const struct page page = {out, open};
    status_count(status);
    single(&page, "uptime_seconds", GAUGE, "since the status server began",
           (weir_now_us(status->weir) - status->began_us) / 1000000u);
    single(&page, "memory_bytes", GAUGE, "memory in use", weir_memory_used(status->weir));
    single(&page, "sockets", GAUGE, "sockets of all kinds", weir_socket_count(status->weir));
    render_netifs(&page, status);
    render_counters(&page, status);
    text_put(out, open ? "# TYPE weir_build info\n# HELP weir_build the version\n"
                       : "# TYPE weir_build_info gauge\n# HELP weir_build_info the version\n");
    text_put(out, "weir_build_info{version=\"" WEIR_VERSION_STRING "\"} 1\n");
    text_put(out, open ? "# EOF\n" : "");
}
