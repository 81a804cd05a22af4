// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "scenario.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay.h"
#include "weir/cc.h"

enum kind { TEXT, WHOLE, DECIMAL, PERCENT };  // PERCENT: a decimal of 100 at most
enum { BULK = 1, HOSTS = 2, CAMPAIGN = 4, ATTACK = 8 };

struct setting {
    const char *name;
    enum kind kind;
    uint32_t users;  // the scenarios that look at it
    size_t at;
    const char *otherwise, *text;
};

#define ROW(field, kind, users, otherwise, text) \
    { \
#field, kind, users, offsetof(struct scenario, field), otherwise, text \
    }
static const struct setting settings[] = {
    ROW(seed, WHOLE, BULK | HOSTS | CAMPAIGN | ATTACK, "1", "what decides everything random"),
    ROW(count, WHOLE, CAMPAIGN | ATTACK, "1", "so many seeds, from `seed` on"),
    ROW(seconds, DECIMAL, BULK | CAMPAIGN | ATTACK, "15",
        "virtual time; campaign, attack: real time at most (0: no limit)"),
    ROW(cc, TEXT, BULK | HOSTS, "cubic", "congestion control"),
    ROW(flows, WHOLE, BULK, "1", "flows with `cc`; more than one: each between hosts of its own"),
    ROW(others, WHOLE, BULK, "0", "flows with `other_cc` beside them"),
    ROW(other_cc, TEXT, BULK, "cubic", ""),
    ROW(start, DECIMAL, BULK, "0", "seconds between the starts of two flows"),
    ROW(bytes, WHOLE, BULK | HOSTS, "0",
        "each flow sends so many, and the run ends when all have come; 0: as many as it can"),
    ROW(greeting, WHOLE, BULK, "0",
        "each flow sends so many bytes first, the others when an answer may have come: iperf3 begins so, with 37"),
    ROW(rate, DECIMAL, BULK, "10", "Mbit/s of layer 2 at the bottleneck; 0: no bottleneck"),
    ROW(delay, DECIMAL, BULK, "10", "ms, each way"),
    ROW(bdp, DECIMAL, BULK, "1", "queue in products of rate and round trip time"),
    ROW(queue, DECIMAL, BULK, "0", "queue in bytes; 0: as `bdp` says"),
    ROW(queue_frames, WHOLE, BULK, "0", "queue in frames, besides"),
    ROW(police, DECIMAL, BULK, "0", "Mbit/s that a policer before the queue lets pass, there; 0: no policer"),
    ROW(police_bytes, WHOLE, BULK, "50000", "the bytes that it lets pass at once"),
    ROW(aqm, TEXT, BULK, "droptail", "droptail, codel, or codel-ecn"),
    ROW(mark, WHOLE, BULK, "0", "bytes in the queue from which frames are marked (ECN); 0: none"),
    ROW(ecn, TEXT, BULK, "passive",
        "off, passive (agreed to, asked for by nobody), on (RFC 3168), or accurate (RFC 9768)"),
    ROW(loss, PERCENT, BULK | HOSTS, "0", "% of the frames, there, after the bottleneck"),
    ROW(back_loss, PERCENT, BULK, "0", "% on the way back"),
    ROW(spare_arp, WHOLE, BULK, "0", "1: losses strike IP only"),
    ROW(burst, PERCENT, BULK, "0", "Gilbert–Elliott: % chance to go bad,"),
    ROW(burst_end, PERCENT, BULK, "25", "… % to become good again,"),
    ROW(burst_loss, PERCENT, BULK, "100", "… and % lost while bad"),
    ROW(jitter, DECIMAL, BULK, "0", "ms at most, order is kept"),
    ROW(reorder, PERCENT, BULK, "0", "% of the frames, each way"),
    ROW(reorder_ms, DECIMAL, BULK, "3", "so much later they come"),
    ROW(duplicate, PERCENT, BULK, "0", "%, each way"),
    ROW(corrupt, PERCENT, BULK, "0", "%, each way"),
    ROW(mtu, WHOLE, BULK, "1500", "of the hosts"),
    ROW(family, WHOLE, BULK | HOSTS, "4", "6: the hosts speak IPv6"),
    ROW(send_buffer, WHOLE, BULK, "0", "bytes; 0: the default"),
    ROW(receive_buffer, WHOLE, BULK, "0", "bytes; 0: the default"),
    ROW(tick_us, WHOLE, BULK, "0", "granularity of the hosts' clocks, µs"),
    ROW(hosts, WHOLE, HOSTS, "1000", "how many"),
    ROW(pcap, TEXT, BULK | CAMPAIGN | ATTACK, "", "folder for a pcapng file of each link"),
    ROW(trace, TEXT, BULK, "",
        "CSV file with what the first flow's sender thinks, every ms; FILE.json: what all hosts do, for Perfetto"),
    ROW(counters, WHOLE, BULK, "0", "1: prints what both ends of each flow counted, too"),
    ROW(unchecked, WHOLE, BULK | HOSTS, "0", "1: nothing is checked, to see what checking costs"),
};
#define SETTINGS (sizeof settings / sizeof settings[0])
_Static_assert(SETTINGS <= 64, "struct scenario has a bit for each in `given`");

static int set(struct scenario *scenario, const struct setting *setting, const char *value)
{
    char *field = (char *)scenario + setting->at, *end = NULL;
    if (setting->kind == TEXT) {
        if (strlen(value) >= SCENARIO_TEXT)
            return -1;
        strcpy(field, value);
        return 0;
    }
    errno = 0;
    if (setting->kind == WHOLE) {
        const unsigned long long number = strtoull(value, &end, 0);
        *(uint64_t *)(void *)field = number;
    } else {
        const double number = strtod(value, &end);
        *(double *)(void *)field = number;
        if (!(number >= 0) || (setting->kind == PERCENT && number > 100))
            return -1;
    }
    return errno || end == value || *end ? -1 : 0;
}

static const struct setting *find(const char *name)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *a = settings[i].name, *b = name;
        while (*a && (*a == *b || (*a == '_' && *b == '-')))
            a++, b++;
        if (!*a && !*b)
            return &settings[i];
    }
    return NULL;
}

bool scenario_given(const struct scenario *scenario, const char *name)
{
    const struct setting *setting = find(name);
    return setting && scenario->given >> (setting - settings) & 1;
}

void scenario_defaults(struct scenario *scenario)
{
    memset(scenario, 0, sizeof *scenario);
    scenario->program = "weir-sim";
    strcpy(scenario->name, "bulk");
    for (size_t i = 0; i < SETTINGS; i++)
        (void)set(scenario, &settings[i], settings[i].otherwise);
}

int scenario_set(struct scenario *scenario, const char *name, const char *value)
{
    if (!strcmp(name, "scenario")) {
        if (strlen(value) >= SCENARIO_TEXT)
            return -1;
        strcpy(scenario->name, value);
        return 0;
    }
    const struct setting *setting = find(name);
    if (!setting) {
        fprintf(stderr, "weir-sim: there is no setting %s; --help lists them\n", name);
        return -1;
    }
    if (set(scenario, setting, value)) {
        fprintf(stderr, "weir-sim: %s cannot be %s\n", name, value);
        return -1;
    }
    scenario->given |= UINT64_C(1) << (setting - settings);
    return 0;
}

const struct scenario_kind *scenario_kind(const struct scenario *scenario)
{
    const struct scenario_kind *kind = scenario_kinds;
    while (kind->name && strcmp(kind->name, scenario->name) != 0)
        kind++;
    if (!kind->name) {
        fprintf(stderr, "weir-sim: there is no scenario %s; --help lists them\n", scenario->name);
        return NULL;
    }
    for (size_t i = 0; i < SETTINGS; i++)
        if (scenario->given >> i & 1 && !(settings[i].users & kind->user)) {
            fprintf(stderr, "weir-sim: the scenario %s does not use --%s; --help lists what it uses\n", kind->name,
                    settings[i].name);
            return NULL;
        }
    return kind;
}

static char *trimmed(char *text)
{
    while (*text == ' ' || *text == '\t' || *text == '"')
        text++;
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n\"", text[length - 1]))
        text[--length] = 0;
    return text;
}

int scenario_read(struct scenario *scenario, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[2 * SCENARIO_TEXT];
    int number = 0, status = 0;
    if (!file) {
        fprintf(stderr, "weir-sim: %s: %s\n", path, strerror(errno));
        return -1;
    }
    while (!status && fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "#")] = 0;
        char *equals = strchr(line, '=');
        if (equals) {
            *equals = 0;
            status = scenario_set(scenario, trimmed(line), trimmed(equals + 1));
        } else if (*trimmed(line)) {
            status = -1;
        }
    }
    fclose(file);
    if (status)
        fprintf(stderr, "weir-sim: %s, line %d: a line is name = value\n", path, number);
    return status;
}

// The shorter list.
static void tell_uses(FILE *out, const struct scenario_kind *kind)
{
    uint32_t used = 0, told = 0;
    for (size_t i = 0; i < SETTINGS; i++)
        used += (settings[i].users & kind->user) != 0;
    const bool few = 2 * used < SETTINGS;
    fputs(!used ? "no settings" : few ? "settings: " : "all settings but ", out);
    for (size_t i = 0; i < SETTINGS; i++)
        if (((settings[i].users & kind->user) != 0) == few)
            fprintf(out, "%s%s", told++ ? ", " : "", settings[i].name);
    fputc('\n', out);
}

bool scenario_family_refused(const struct scenario *scenario)
{
    if (scenario->family == 4 || (scenario->family == 6 && WEIR_CFG_IP6))
        return false;
    fprintf(stderr, "weir-sim: family is 4 or, in a build with IPv6, 6\n");
    return true;
}

void scenario_help(FILE *out)
{
    fputs("usage: weir-sim [--scenario NAME] [--file FILE] [--SETTING VALUE]...\n\nscenarios:\n", out);
    for (const struct scenario_kind *kind = scenario_kinds; kind->name; kind++) {
        fprintf(out, "  %-14s %s\n%17s", kind->name, kind->text, "");
        tell_uses(out, kind);
    }
    fputs("\nsettings (a file has lines: name = value):\n", out);
    for (size_t i = 0; i < SETTINGS; i++)
        fprintf(out, "  --%-14s %s%s%s%s\n", settings[i].name, settings[i].text, *settings[i].otherwise ? " [" : "",
                settings[i].otherwise, *settings[i].otherwise ? "]" : "");
}

struct text {
    char *at;
    size_t room;  // with the 0 at its end
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->at, text->room, format, arguments);
    va_end(arguments);
    const size_t added = length > 0 && (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += added;
    text->room -= added;
}

// As a shell takes it for one word.
static void add_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:=@%";
    if (*word && !word[strspn(word, plain)]) {
        add(text, "%s", word);
        return;
    }
    add(text, "'");
    for (; *word; word++)
        add(text, *word == '\'' ? "'\\''" : "%c", *word);
    add(text, "'");
}

void scenario_replay(const struct scenario *scenario)
{
    static char command[8192];
    struct text text = {command, sizeof command};
    struct scenario plain;
    scenario_defaults(&plain);
    add_word(&text, scenario->program);
    add(&text, " --scenario %s", scenario->name);
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *field = (const char *)scenario + settings[i].at, *other = (const char *)&plain + settings[i].at;
        const bool seed = !strcmp(settings[i].name, "seed");
        if (settings[i].kind == TEXT ? !strcmp(field, other) : !seed && !memcmp(field, other, sizeof(uint64_t)))
            continue;
        add(&text, " --%s ", settings[i].name);
        if (settings[i].kind == TEXT)
            add_word(&text, field);
        else if (settings[i].kind == WHOLE)
            add(&text, "%llu", (unsigned long long)*(const uint64_t *)(const void *)field);
        else
            add(&text, "%.10g", *(const double *)(const void *)field);
    }
    replay_set("%s", command);
}

void scenario_replay_seed(const struct scenario *scenario, uint64_t seed)
{
    struct scenario one;
    scenario_defaults(&one);
    one.program = scenario->program;
    strcpy(one.name, scenario->name);
    one.seed = seed;
    scenario_replay(&one);
}

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double scenario_real_s(void) { return clock_s(CLOCK_MONOTONIC); }
double scenario_cpu_s(void) { return clock_s(CLOCK_PROCESS_CPUTIME_ID); }

static int algorithms_run(const struct scenario *scenario)
{
    for (const struct weir_cc *const *cc = weir_cc_list; *cc; cc++)
        puts((*cc)->name);
    for (const struct weir_cc *const *cc = scenario->congestion_controls; cc && *cc; cc++)
        puts((*cc)->name);
    return 0;
}

const struct scenario_kind scenario_kinds[] = {
    {"bulk", "flows over one bottleneck; prints one line of JSON", BULK, bulk_run},
    {"hosts", "so many hosts in one process", HOSTS, hosts_run},
    {"algorithms", "lists the congestion controls: those built in, and the program's own", 0, algorithms_run},
    {"campaign", "random networks, one a seed: everything is checked", CAMPAIGN, campaigns_run},
    {"attack", "liars beside honest hosts, a network a seed: who is honest keeps his goodput", ATTACK, attacks_run},
    {NULL, NULL, 0, NULL},
};
