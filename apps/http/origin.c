// SPDX-License-Identifier: BSD-2-Clause
// Whose page a request comes from, and by which name: what a browser is made to do by a page of somebody else (CSRF),
// or by a name of somebody else that leads here (DNS rebinding).
#include "http/internal.h"

#define SAFE (HTTP_GET | HTTP_HEAD | HTTP_OPTIONS)  // methods that change nothing (RFC 9110 §9.2.1)
#define MISDIRECTED 421
#define FORBIDDEN 403

bool http_same_origin(const struct http_request *request)
{
    const struct http_line host = request->host;
    struct http_line origin;
    if (!http_request_field(request, "origin", &origin))
        return true;
    if (host.length == 0 || origin.length <= host.length)
        return false;
    const uint32_t scheme = origin.length - host.length;
    const bool ours = text_equal(origin.bytes, scheme, "http://") || text_equal(origin.bytes, scheme, "https://");
    return ours && text_bytes_equal_nocase(origin.bytes + scheme, host.length, host.bytes, host.length);
}

// The host without its port, and without the dot that ends a whole name.
static struct http_line name_of(struct http_line host)
{
    uint32_t length = host.length;
    while (length > 0 && host.bytes[length - 1] >= '0' && host.bytes[length - 1] <= '9')
        length--;
    host.length = length > 0 && host.bytes[length - 1] == ':' ? length - 1 : host.length;
    if (host.length > 0 && host.bytes[host.length - 1] == '.')
        host.length--;
    return host;
}

static bool is_below(struct http_line name, const char *domain)
{
    const uint32_t length = text_length(domain);
    return name.length > length && text_equal_nocase(name.bytes + name.length - length, length, domain);
}

// An address names whoever has it, a name below .local is no name server's, and localhost and the names below it are
// the browser's own machine (RFC 6761 §6.3): none can be made to lead here by somebody elsewhere.
static bool cannot_be_taken(struct http_line name)
{
    struct weir_addr address;
    return name.length == 0 || name.bytes[0] == '[' || text_read_addr(name.bytes, name.length, &address) ||
           is_below(name, ".local") || text_equal_nocase(name.bytes, name.length, "localhost") ||
           is_below(name, ".localhost");
}

static bool host_is_ours(const char *const *hosts, struct http_line host)
{
    const struct http_line name = name_of(host);
    if (hosts == NULL || cannot_be_taken(name))
        return true;
    for (; *hosts != NULL; hosts++) {
        if (text_equal_nocase(name.bytes, name.length, *hosts))
            return true;
    }
    return false;
}

int http_origin_judge(const struct http_server *server, const struct http_route *route,
                      const struct http_request *request)
{
    if (!host_is_ours(server->config.hosts, request->host))
        return MISDIRECTED;
    const bool checked = !(request->method & SAFE) && !route->any_origin;
    return checked && !http_same_origin(request) ? FORBIDDEN : 0;
}
