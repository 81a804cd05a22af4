// SPDX-License-Identifier: BSD-2-Clause
// Names: the C library's own functions read /etc/hosts alone (start() in call.c sees to that); what they do not know is
// asked of the server, which asks a name server over Weir.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/preload/preload.h"

#define MOST 16

// Addresses of a name as text, for the C library to make its lists of. How many; negative: an EAI_*.
static int addresses_ask(const char *name, int family, char text[MOST][INET6_ADDRSTRLEN])
{
    uint8_t bytes[MOST][16];
    size_t got = 0;
    const struct run_question question = {.call = RUN_RESOLVE,
                                          .a = family,
                                          .data = name,
                                          .length = strlen(name),
                                          .fd = -1,
                                          .answer = bytes,
                                          .room = sizeof bytes,
                                          .got = &got};
    const int result = run_ask(&question);
    if (result < 0)
        return result == -ENOENT ? EAI_NONAME : EAI_AGAIN;
    int count = 0;
    for (size_t i = 0; i < got / 16 && i < MOST; i++) {
        const bool mapped = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)bytes[i]);
        if (inet_ntop(mapped ? AF_INET : AF_INET6, mapped ? bytes[i] + 12 : bytes[i], text[count], INET6_ADDRSTRLEN))
            count++;
    }
    return count;
}

static int by_network(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    char text[MOST][INET6_ADDRSTRLEN];
    int count = addresses_ask(node, hints->ai_family, text);
    if (count == EAI_NONAME && hints->ai_family == AF_INET6 && hints->ai_flags & AI_V4MAPPED)
        count = addresses_ask(node, AF_INET, text);
    struct addrinfo **end = out;
    int failed = EAI_NONAME;
    *out = NULL;
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++) {
        struct addrinfo plain = *hints;
        plain.ai_flags = (hints->ai_flags & ~(AI_ADDRCONFIG | AI_CANONNAME)) | AI_NUMERICHOST;
        const int error = run_libc()->getaddrinfo(text[i], service, &plain, end);
        failed = error ? error : failed;
        while (*end != NULL)
            end = &(*end)->ai_next;
    }
    if (*out != NULL && hints->ai_flags & AI_CANONNAME)
        (*out)->ai_canonname = strdup(node);
    return *out != NULL ? 0 : failed;
}

// "fe80::1%eth0" with the server's number of the interface, which the C library would ask the kernel for.
static const char *scope_number(const char *node, char *text, size_t bytes)
{
    const char *const percent = node != NULL ? strchr(node, '%') : NULL;
    const unsigned index = percent != NULL ? if_nametoindex(percent + 1) : 0;
    if (index == 0)
        return node;
    (void)snprintf(text, bytes, "%.*s%%%u", (int)(percent - node), node, index);
    return text;
}

EXPORT int getnameinfo(const struct sockaddr *restrict name, socklen_t length, char *restrict host,
                       socklen_t host_bytes, char *restrict service, socklen_t service_bytes, int flags)
{
    char interface[IF_NAMESIZE];
    const int error = run_libc()->getnameinfo(name, length, host, host_bytes, service, service_bytes, flags);
    char *const percent = error == 0 && host != NULL && host_bytes > 0 ? strchr(host, '%') : NULL;
    if (percent == NULL || if_indextoname((unsigned)strtoul(percent + 1, NULL, 10), interface) == NULL)
        return error;
    const size_t room = host_bytes - (size_t)(percent + 1 - host);
    return snprintf(percent + 1, room, "%s", interface) < (int)room ? 0 : EAI_OVERFLOW;
}

EXPORT int getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
                       struct addrinfo **restrict out)
{
    struct addrinfo wanted = {.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
    if (!run_active())
        return run_libc()->getaddrinfo(node, service, hints, out);
    if (hints != NULL)
        wanted = *hints;
    wanted.ai_flags &= ~AI_ADDRCONFIG;  // it would look at the kernel's interfaces
    char numbered[INET6_ADDRSTRLEN + 16];
    node = node != NULL && strlen(node) < INET6_ADDRSTRLEN ? scope_number(node, numbered, sizeof numbered) : node;
    const int error = run_libc()->getaddrinfo(node, service, &wanted, out);
    const bool unknown = error == EAI_NONAME || error == EAI_AGAIN || error == EAI_FAIL || error == EAI_NODATA;
    if (!unknown || node == NULL || wanted.ai_flags & AI_NUMERICHOST)
        return error;
    return by_network(node, service, &wanted, out);
}
