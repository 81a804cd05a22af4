// SPDX-License-Identifier: BSD-2-Clause
// The command line of --run, and the short commands: ping, resolve, sntp, dhcp.
#define _POSIX_C_SOURCE 200809L
#include "host/command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ping.h"
#include "sntp.h"

static const struct {
    const char *name, *arguments;
    command_function *start;
} commands[] = {
    {"ping", "HOST [-c N] [-i SECONDS] [-s BYTES]", command_ping},
    {"iperf3", "-c HOST ... (see weir-host --help)", command_iperf3},
    {"play", "HOST PORT [name=value ...]", command_play},
    {"stream", "FILE PORT [name=value ...]", command_stream},
    {"resolve", "NAME", command_resolve},
    {"sntp", "HOST", command_sntp},
    {"dhcp", "(with --dhcp)", command_dhcp},
    {"browse", "TYPE [-t SECONDS]", command_browse},
    {"dhcp6", "(with --dhcp6)", command_dhcp6},
    {"mqtt", "SERVER[:PORT] ... (see weir-host --help)", command_mqtt},
    {"tftp", "HOST[:PORT] get|put FILE [LOCAL] [-b BYTES] [-w BLOCKS]", command_tftp},
    {"syslog", "HOST[:PORT] TEXT ... [-t] [-S] [-n HOST] [-a APP] [-p PRIORITY]", command_syslog},
    {"dhcp-serve", "FIRST LAST [-l SECONDS] [-r ROUTER] [-d DNS] [-n DOMAIN]", command_dhcp_serve},
    {"get", "URL [-o FILE] [-r FIRST-LAST] [-d DATA]", command_get},
    {"send", "FILE HOST PORT", command_send},
    {"receive", "HOST PORT FILE", command_receive},
    {"listen", "PORT FILE", command_listen},
    {"serve", "PORT FILE", command_serve},
};

bool command_wrong(const char *command, const char *what, const char *why)
{
    fprintf(stderr, "weir-host: %s: %s%s%s\n", command, what, why[0] != '\0' ? ": " : "", why);
    return false;
}

bool command_port(const char *command, const char *word, uint16_t *port)
{
    uint64_t number;
    uint32_t length = text_length(word);
    if (length == 0 || text_read_u64(word, length, 65535, &number) != length || number == 0)
        return command_wrong(command, word, "a port is a number from 1 to 65535");
    *port = (uint16_t)number;
    return true;
}

bool command_server(const char *command, const char *word, char *host, size_t room, uint16_t *port)
{
    const char *colon = strchr(word, ':');
    if (colon != NULL && strchr(colon + 1, ':') != NULL)
        colon = NULL;
    const size_t length = colon != NULL ? (size_t)(colon - word) : strlen(word);
    if (length == 0 || length >= room)
        return command_wrong(command, word, "not a host");
    memcpy(host, word, length);
    host[length] = '\0';
    return colon == NULL || command_port(command, colon + 1, port);
}

static char *after_blanks(char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

// Cuts the line into words at blanks; quotes keep blanks together. Negative: it was told why it cannot.
static int split(char *line, char **words)
{
    int count = 0;
    for (char *at = after_blanks(line); *at != '\0'; at = after_blanks(at)) {
        if (count == COMMAND_WORDS - 1)
            return command_wrong("--run", at, "too many words before this"), -1;
        char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
        words[count++] = at;
        while (*at != '\0' && (quote != '\0' ? *at != quote : *at != ' ' && *at != '\t'))
            at++;
        if (quote != '\0' && *at == '\0')
            return command_wrong("--run", words[count - 1], "its quote is never closed"), -1;
        if (*at != '\0')
            *at++ = '\0';
    }
    words[count] = NULL;
    return count;
}

bool command_start(struct host *host, const char *line)
{
    static char copy[1024];
    char *words[COMMAND_WORDS];
    if (strlen(line) >= sizeof copy)
        return command_wrong("--run", "the command is too long", "");
    memcpy(copy, line, strlen(line) + 1);
    int count = split(copy, words);
    if (count < 0)
        return false;
    for (size_t i = 0; count > 0 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(words[0], commands[i].name) != 0)
            continue;
        optind = 0;  // getopt begins anew
        bool good = commands[i].start(host, count, words);
        if (!good)
            fprintf(stderr, "usage: --run '%s %s'\n", commands[i].name, commands[i].arguments);
        return good;
    }
    return command_wrong("--run", count > 0 ? words[0] : "''", "no such command; weir-host --help lists them");
}

// --- names -----------------------------------------------------------------------------------------------------------

static void (*host_found)(struct host *host, struct weir_addr addr);
static const char *host_name;
static struct dns_both both;

void command_name_failed(struct host *host, const char *name, int result)
{
    fprintf(stderr, "weir-host: %s: %s\n", name,
            result == DNS_NO_NAME     ? "no such name"
            : result == DNS_NO_DATA   ? "the name has no address"
            : result == WEIR_INVALID  ? "no name can look like this"
            : result == WEIR_NO_ROUTE ? "no name server is known: give --dns, --dns6, --dhcp or --ip6"
            : result == WEIR_REFUSED  ? "the name servers say that they cannot tell"
                                      : "the name servers do not answer");
    host_done(host, 1);
}

static void name_done(void *context, struct dns_both *found)
{
    struct host *host = context;
    if (found->result == DNS_FOUND)
        host_found(host, found->addresses[0]);
    else
        command_name_failed(host, host_name, found->result);
}

bool command_host(struct host *host, const char *name, void (*found)(struct host *host, struct weir_addr addr))
{
    host_found = found;
    host_name = name;
    dns_both_start(&both, &host->dns, name, name_done, host);
    return true;
}

// --- resolve ---------------------------------------------------------------------------------------------------------

static void resolve_done(void *context, struct dns_both *found)
{
    char line[64];
    struct text text;
    if (found->result != DNS_FOUND) {
        command_name_failed(context, host_name, found->result);
        return;
    }
    for (uint32_t i = 0; i < found->count; i++) {
        const bool v4 = weir_addr_is_v4(found->addresses[i]);
        text_init(&text, line, sizeof line);
        text_addr(&text, found->addresses[i]);
        printf("%s has %s %s (for %lu s)\n", host_name, v4 ? "address" : "IPv6 address", line,
               (unsigned long)found->answers[v4 ? DNS_SIDE_A : DNS_SIDE_AAAA].ttl_s);
    }
    host_done(context, 0);
}

bool command_resolve(struct host *host, int argc, char **argv)
{
    if (argc != 2)
        return command_wrong("resolve", "give one name", "");
    host_name = argv[1];
    dns_both_start(&both, &host->dns, argv[1], resolve_done, host);
    return true;
}

// --- dhcp ------------------------------------------------------------------------------------------------------------

static void print_addr(const char *what, struct weir_addr addr)
{
    char line[64];
    struct text text;
    text_init(&text, line, sizeof line);
    text_addr(&text, addr);
    printf("%-10s %s\n", what, line);
}

bool command_dhcp(struct host *host, int argc, char **argv)
{
    const struct dhcp_lease *lease = &host->dhcp.lease;
    (void)argv;
    if (argc != 1 || !host->options->dhcp)
        return command_wrong("dhcp", "needs --dhcp and no words behind it", "");
    print_addr("address", lease->address);
    print_addr("mask", lease->mask);
    print_addr("server", lease->server);
    if (!weir_addr_is_any(lease->router))
        print_addr("router", lease->router);
    for (uint32_t i = 0; i < lease->dns.count; i++)
        print_addr("dns", lease->dns.addresses[i]);
    for (uint32_t i = 0; i < lease->ntp.count; i++)
        print_addr("ntp", lease->ntp.addresses[i]);
    if (lease->domain[0] != '\0')
        printf("%-10s %s\n", "domain", lease->domain);
    if (lease->lease_s == DHCP_FOREVER)
        printf("%-10s for ever\n", "lease");
    else
        printf("%-10s %lu s, renewed after %lu s, by any server after %lu s\n", "lease", (unsigned long)lease->lease_s,
               (unsigned long)lease->renew_s, (unsigned long)lease->rebind_s);
    host_done(host, 0);
    return true;
}

bool command_dhcp6(struct host *host, int argc, char **argv)
{
    const struct dhcp6 *const dhcp6 = &host->dhcp6;
    (void)argv;
    if (argc != 1 || !host->options->ip6)
        return command_wrong("dhcp6", "needs --dhcp6 or --ip6, and no words behind it", "");
    for (uint32_t i = 0; i < dhcp6->lease.address_count; i++) {
        const struct dhcp6_address *const address = &dhcp6->lease.addresses[i];
        print_addr("address", address->addr);
        printf("%-10s %lu s, preferred for %lu s, renewed after %lu s\n", "lease", (unsigned long)address->valid_s,
               (unsigned long)address->preferred_s, (unsigned long)dhcp6->lease.t1_s);
    }
    for (uint32_t i = 0; i < dhcp6->dns_count; i++)
        print_addr("dns", dhcp6->dns[i]);
    if (dhcp6->domain[0] != '\0')
        printf("%-10s %s\n", "domain", dhcp6->domain);
    printf("%-10s %s\n", "state", dhcp6_state_name(dhcp6->state));
    host_done(host, dhcp6->lease.address_count == 0 && dhcp6->state != DHCP6_INFORMED);
    return true;
}

// --- ping ------------------------------------------------------------------------------------------------------------

static struct ping ping;
static uint32_t ping_count, ping_interval_us, ping_bytes;

static void ping_summary(struct host *host)
{
    uint32_t lost = ping.sent - ping.received;
    printf("\n%u packets transmitted, %u received, %s%u%% packet loss\n", ping.sent, ping.received,
           ping.duplicates != 0 ? "duplicates too, " : "", ping.sent == 0 ? 0 : lost * 100 / ping.sent);
    if (ping.received != 0)
        printf("rtt min/avg/max = %.3f/%.3f/%.3f ms\n", ping.rtt_min_us / 1e3,
               (double)ping.rtt_sum_us / ping.received / 1e3, ping.rtt_max_us / 1e3);
    else if (ping.error != 0)
        fprintf(stderr, "weir-host: ping: %s\n", weir_error_name(ping.error));
    host_done(host, ping.received == 0);
}

static void ping_event(struct ping *self, const struct ping_reply *reply, void *context)
{
    char line[64];
    struct text text;
    (void)self;
    if (reply == NULL) {
        ping_summary(context);
        return;
    }
    text_init(&text, line, sizeof line);
    text_addr(&text, reply->from);
    printf("%u bytes from %s: icmp_seq=%u ttl=%u time=%.3f ms%s\n", reply->bytes, line, reply->sequence, reply->ttl,
           reply->rtt_us / 1e3, reply->duplicate ? " (duplicate)" : "");
    fflush(stdout);
}

static void ping_interrupt(struct host *host)
{
    ping_stop(&ping);
    ping_summary(host);
}

static void ping_found(struct host *host, struct weir_addr addr)
{
    int error = ping_start(&ping, &host->loop, addr, ping_count, ping_interval_us, ping_bytes, ping_event, host);
    host->interrupt = ping_interrupt;
    if (error == WEIR_OK)
        return;
    command_wrong("ping", host_name,
                  error == WEIR_NO_ROUTE ? "no route to it: give --gateway" : weir_error_name(error));
    host_done(host, 1);
}

bool command_ping(struct host *host, int argc, char **argv)
{
    int option;
    uint64_t number;
    ping_count = 4;
    ping_interval_us = 1000000;
    ping_bytes = 56;
    while ((option = getopt(argc, argv, "c:i:s:")) != -1) {
        double seconds = option == 'i' ? strtod(optarg, NULL) : 0;
        bool good = option == '?'   ? false
                    : option == 'i' ? seconds >= 0.001 && seconds <= 3600
                                    : host_number(optarg, 1000, &number);
        if (!good || (option == 'c' && (number < 1 || number > 1000000)) || (option == 's' && number > PING_DATA_MAX))
            return command_wrong("ping", "-c takes 1 to 1000000, -i 0.001 to 3600 s, -s up to 1400", "");
        if (option == 'c')
            ping_count = (uint32_t)number;
        else if (option == 's')
            ping_bytes = (uint32_t)number;
        else
            ping_interval_us = (uint32_t)(seconds * 1e6);
    }
    if (optind + 1 != argc)
        return command_wrong("ping", "give one host", "");
    return command_host(host, argv[optind], ping_found);
}

// --- sntp ------------------------------------------------------------------------------------------------------------

static struct sntp sntp;

static void sntp_done(struct sntp *self, int error, const struct sntp_time *newest, void *context)
{
    struct timespec system;
    char day[40];
    (void)self;
    if (error != WEIR_OK) {
        command_wrong("sntp", host_name,
                      error == WEIR_REFUSED ? "the server refuses (kiss-o'-death, or no NTP there)"
                                            : "no usable answer");
        host_done(context, 1);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &system);
    time_t seconds = (time_t)(newest->unix_us / 1000000u);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &utc);
    double ours = (double)system.tv_sec + (double)system.tv_nsec / 1e9;
    printf("%s.%06lu UTC, offset of this machine %+.6f s, delay %.6f s, stratum %u\n", day,
           (unsigned long)(newest->unix_us % 1000000u), (double)newest->unix_us / 1e6 - ours, newest->delay_us / 1e6,
           newest->stratum);
    host_done(context, 0);
}

static void sntp_found(struct host *host, struct weir_addr addr)
{
    if (sntp_start(&sntp, &host->loop, addr, true, sntp_done, host) == WEIR_OK)
        return;
    command_wrong("sntp", host_name, "not the address of one host");
    host_done(host, 1);
}

bool command_sntp(struct host *host, int argc, char **argv)
{
    if (argc != 2)
        return command_wrong("sntp", "give one host", "");
    return command_host(host, argv[1], sntp_found);
}

// --- files -----------------------------------------------------------------------------------------------------------

FILE *command_file_open(const char *path) { return fopen(path, "ab"); }

void command_file_begin(FILE *file)
{
    if (ftruncate(fileno(file), 0) != 0)
        return;  // a pipe or a device, which holds nothing
}
