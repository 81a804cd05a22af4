// SPDX-License-Identifier: BSD-2-Clause
// Names: the C library's own functions read /etc/hosts alone (start() in call.c sees to that); what they do not know is
// asked of the server, which asks a name server over Weir.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

#include "run/preload/preload.h"

#define MOST 16

// Addresses of a name as text, for the C library to make its lists of. How many; negative: an EAI_*.
static int addresses_ask(const char *name, char text[MOST][INET6_ADDRSTRLEN])
{
    uint8_t bytes[MOST][16];
    size_t got = 0;
    const struct run_question question = {.call = RUN_RESOLVE,
                                          .data = name,
                                          .length = strlen(name),
                                          .fd = -1,
                                          .answer = bytes,
                                          .room = sizeof bytes,
                                          .got = &got};
    const int result = run_ask(&question);
    if (result < 0)
        return result == -2 ? EAI_NONAME : EAI_AGAIN;
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
    const int count = addresses_ask(node, text);
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

EXPORT int getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
                       struct addrinfo **restrict out)
{
    struct addrinfo wanted = {.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
    if (!run_active())
        return run_libc()->getaddrinfo(node, service, hints, out);
    if (hints != NULL)
        wanted = *hints;
    wanted.ai_flags &= ~AI_ADDRCONFIG;  // it would look at the kernel's interfaces
    const int error = run_libc()->getaddrinfo(node, service, &wanted, out);
    const bool unknown = error == EAI_NONAME || error == EAI_AGAIN || error == EAI_FAIL || error == EAI_NODATA;
    if (!unknown || node == NULL || wanted.ai_flags & AI_NUMERICHOST)
        return error;
    return by_network(node, service, &wanted, out);
}
