// SPDX-License-Identifier: BSD-2-Clause
// --mdns, and the command browse.
#define _GNU_SOURCE  // getopt that takes options behind words
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "text.h"

#define BROWSE_SECONDS 5u
#define PLACES 64u

static void named(struct mdns *mdns, struct mdns_service *service, const char *label, void *context)
{
    (void)mdns, (void)context;
    fprintf(stderr, "weir-host: %s%s\n", label, service != NULL ? "._http._tcp.local" : ".local");
}

static int open_mdns(struct host *host, const char *name)
{
    const struct mdns_config config = {.host = name,
                                       .named = named,
                                       .context = host,
                                       .cache = host->mdns_cache,
                                       .cache_bytes = sizeof host->mdns_cache};
    return mdns_start(&host->mdns, &host->loop, host->netif, &config);
}

bool host_mdns_start(struct host *host)
{
    static const uint8_t text[] = {6, 'p', 'a', 't', 'h', '=', '/'};
    const char *name = host->options->mdns;
    if (name == NULL)
        return true;
    host->mdns_web = (struct mdns_service){
        .name = name, .type = "_http._tcp", .txt = text, .txt_length = sizeof text, .port = host->options->http_port};
    int error = open_mdns(host, name);
    if (error == WEIR_OK)
        error = mdns_publish(&host->mdns, &host->mdns_web);
    if (error != WEIR_OK)
        fprintf(stderr, "weir-host: --mdns %s: %s\n", name, weir_error_name(error));
    return error == WEIR_OK;
}

// --- browse ----------------------------------------------------------------------------------------------------------

static struct place {
    bool used;
    struct mdns_name name;
    struct mdns_resolve resolve;
} places[PLACES];
static struct mdns_browse browse;
static struct app ending;
static uint64_t end_us;
static struct host *browsing;

static void print_place(const struct place *place)
{
    char line[600], label[MDNS_LABEL_MAX + 1], name[MDNS_NAME_MAX + 1];
    struct mdns_name rest;
    struct text text;
    if (place->resolve.port == 0 || place->resolve.lookup.count == 0 || place->resolve.text_length == 0 ||
        !mdns_name_split(&place->name, label, &rest))
        return;
    text_init(&text, line, sizeof line);
    mdns_name_print(&place->resolve.host, name, sizeof name);
    text_put(&text, name);
    text_char(&text, ' ');
    text_u64(&text, place->resolve.port);
    for (uint32_t i = 0; i < place->resolve.lookup.count; i++) {
        text_char(&text, ' ');
        text_addr(&text, place->resolve.lookup.addresses[i]);
    }
    for (uint32_t at = 0; at < place->resolve.text_length; at += 1u + place->resolve.text[at]) {
        if (place->resolve.text[at] == 0)
            continue;
        text_char(&text, ' ');
        text_bytes(&text, (const char *)place->resolve.text + at + 1, place->resolve.text[at]);
    }
    printf("= %s: %s\n", label, line);
    fflush(stdout);
}

static void place_changed(struct mdns_resolve *resolve, void *context)
{
    (void)resolve;
    print_place(context);
}

static void found(struct mdns_browse *self, const struct mdns_name *instance, bool added, void *context)
{
    struct host *host = context;
    char name[MDNS_NAME_MAX + 1];
    (void)self;
    mdns_name_print(instance, name, sizeof name);
    printf("%c %s\n", added ? '+' : '-', name);
    fflush(stdout);
    for (uint32_t i = 0; i < PLACES; i++) {
        struct place *place = &places[i];
        if (added ? place->used : !place->used || !mdns_name_equal(&place->name, instance))
            continue;
        place->used = added;
        place->name = *instance;
        if (added)
            mdns_resolve_start(&host->mdns, &place->resolve, instance, place_changed, place);
        else
            mdns_resolve_stop(&place->resolve);
        return;
    }
}

static void browse_end(struct host *host)
{
    loop_remove(&host->loop, &ending);
    mdns_browse_stop(&browse);
    host_done(host, 0);
}

static uint64_t ending_poll(struct app *app, uint64_t now_us)
{
    (void)app;
    if (now_us < end_us)
        return end_us;
    browse_end(browsing);
    return WEIR_NEVER;
}

bool command_browse(struct host *host, int argc, char **argv)
{
    int option;
    uint64_t seconds = BROWSE_SECONDS;
    while ((option = getopt(argc, argv, "t:")) != -1) {
        if (option == '?' || !host_number(optarg, 1000, &seconds))
            return command_wrong("browse", "-t takes seconds", "");
    }
    if (optind + 1 != argc)
        return command_wrong("browse", "give one type, as _http._tcp", "");
    int error = host->mdns.socket > 0 ? WEIR_OK : open_mdns(host, NULL);
    if (error == WEIR_OK)
        error = mdns_browse_start(&host->mdns, &browse, argv[optind], found, host);
    if (error != WEIR_OK)
        return command_wrong("browse", argv[optind], weir_error_name(error));
    browsing = host;
    end_us = weir_now_us(host->weir) + seconds * 1000000u;
    ending.poll = ending_poll;
    loop_add(&host->loop, &ending);
    host->interrupt = browse_end;
    return true;
}
