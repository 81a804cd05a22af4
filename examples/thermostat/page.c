// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/page.h"

#include <string.h>

static const char html[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Thermostat</title>"
    "<style>body{font:1.2rem system-ui;max-width:24rem;margin:2rem auto;padding:0 1rem}output{font-size:4rem}</style>"
    "<h1>Thermostat</h1><p><output id=t>–</output> °C<p id=s><form id=f>"
    "<label>Set point <input id=v type=number min=5 max=30 step=.5></label><br>"
    "<label>Key <input id=k type=password></label> <button>Set</button></form><p id=e>"
    "<script>const $=i=>document.getElementById(i);"
    "async function look(){try{const s=await(await fetch('state')).json();$('t').value=s.temperature.toFixed(1);"
    "$('s').textContent='set to '+s.set+' °C, '+(s.heating?'heating':'off')+(s.broker?'':', no broker');"
    "if(!$('v').value)$('v').value=s.set}catch{$('s').textContent='no answer'}}"
    "$('f').onsubmit=async e=>{e.preventDefault();const r=await fetch('set',{method:'PUT',body:$('v').value,"
    "headers:{Authorization:'Bearer '+$('k').value}});$('e').textContent=r.ok?'':await r.text();look()};"
    "look();setInterval(look,2000)</script></html>\n";

static struct page *page_of(const struct http_connection *c) { return c->server->config.context; }

// Takes as long whatever is wrong with the key.
static bool permitted(const struct page *page, const struct http_request *request)
{
    static const char scheme[] = "Bearer ";
    const uint32_t before = sizeof scheme - 1, bytes = text_length(page->key);
    struct http_line given;
    if (!http_request_field(request, "Authorization", &given) || given.length != before + bytes ||
        memcmp(given.bytes, scheme, before) != 0)
        return false;
    unsigned char differs = 0;
    for (uint32_t i = 0; i < bytes; i++)
        differs |= (unsigned char)given.bytes[before + i] ^ (unsigned char)page->key[i];
    return differs == 0;
}

static void refuse(struct http_connection *c)
{
    static const struct http_field challenge = {"WWW-Authenticate", "Bearer"};
    static const char why[] = "this needs the key\n";
    http_respond(c, NULL,
                 &(struct http_response){401, .type = "text/plain", .data = why, .length = sizeof why - 1,
                                         .fields = &challenge, .field_count = 1});
}

static void page_get(struct http_connection *c, struct http_request *request)
{
    http_respond(c, request, &(struct http_response){.type = "text/html", .data = html, .length = sizeof html - 1});
}

static void page_sent(struct http_connection *c, bool whole)
{
    struct page *const page = page_of(c);
    if (whole && page->seen)
        page->seen(page->context);
}

static void state_get(struct http_connection *c, struct http_request *request)
{
    static const char *const updates[] = {"none", "new", "on trial", "confirmed"};
    struct page *const page = page_of(c);
    struct text text;
    text_init(&text, page->state[c - page->connections], PAGE_STATE_BYTES);
    text_put(&text, "{\"temperature\":");
    thermostat_text(&text, page->thermostat->temperature_mc);
    text_put(&text, ",\"set\":");
    thermostat_text(&text, page->thermostat->set_mc);
    text_put(&text, page->thermostat->room.heating ? ",\"heating\":true" : ",\"heating\":false");
    text_put(&text, telemetry_up(page->telemetry) ? ",\"broker\":true" : ",\"broker\":false");
    text_put(&text, ",\"version\":");
    text_u64(&text, page->firmware->running.header.version);
    text_put(&text, ",\"firmware\":");
    text_json(&text, updates[page->firmware->running.state]);
    text_put(&text, ",\"tls_bytes\":");
    text_u64(&text, weir_tls_memory_peak(page->tls));
    text_put(&text, "}\n");
    http_respond(c, request,
                 &(struct http_response){.type = "application/json", .data = text.bytes, .length = text.length});
}

static void put(struct http_connection *c, struct http_request *request)
{
    c->user = page_of(c)->state[c - page_of(c)->connections];  // where a set point's text goes
    if (!permitted(page_of(c), request))
        refuse(c);
}

static uint32_t set_take(struct http_connection *c, const uint8_t *piece, uint32_t length)
{
    static const char why[] = "a set point is 5 to 30 degrees, with one decimal at most\n";
    struct page *const page = page_of(c);
    char *const value = page->state[c - page->connections];
    const uint32_t before = (uint32_t)((char *)c->user - value);  // bytes that came already
    if (length > 0 && before + length <= TELEMETRY_VALUE_MAX) {
        memcpy(value + before, piece, length);
        c->user = value + before + length;
        return length;
    }
    if (length == 0 && thermostat_set(page->thermostat, value, before))
        http_respond(c, NULL, &(struct http_response){.status = 204});
    else
        http_respond(c, NULL,
                     &(struct http_response){422, .type = "text/plain", .data = why, .length = sizeof why - 1});
    return length;
}

// --- an image --------------------------------------------------------------------------------------------------------

static void say(struct http_connection *c, int status, const char *text)
{
    http_respond(c, NULL,
                 &(struct http_response){status, .type = "text/plain", .data = text, .length = text_length(text)});
}

static void image_put(struct http_connection *c, struct http_request *request)
{
    struct page *const page = page_of(c);
    if (!permitted(page, request)) {
        refuse(c);
    } else if (page->firmware->flash == NULL) {
        http_respond_error(c, 404, 0);
    } else if (page->sender != NULL || page->firmware->restart_us != 0) {
        say(c, 409, "there is another one\n");
    } else if (request->chunked || request->body_length == 0) {
        say(c, 400, "an image has a length\n");
    } else {
        page->sender = c;
        page->image_bytes = (uint32_t)request->body_length;  // at most PAGE_IMAGE_MAX
        page->image_result = 0;
    }
}

static uint32_t image_take(struct http_connection *c, const uint8_t *piece, uint32_t length)
{
    struct page *const page = page_of(c);
    if (length > 0 && page->image_result == 0)
        page->image_result = firmware_take(page->firmware, (uint32_t)c->body_taken, page->image_bytes, piece, length,
                                           weir_now_us(http_weir(c)));
    if (length == 0 && page->image_result == FIRMWARE_WHOLE)
        say(c, 200, "taken\n");
    else if (length == 0)
        say(c, 422, page->image_result != 0 ? update_error_name(page->image_result) : "another one came meanwhile");
    return length;
}

static void image_done(struct http_connection *c, bool whole)
{
    struct page *const page = page_of(c);
    (void)whole;
    if (page->sender == c)
        page->sender = NULL;
}

// It goes by its address and its name below .local alone, which are never refused.
static const char *const other_names[] = {NULL};

int page_start(struct page *page, struct loop *loop, struct weir_stream_maker *maker)
{
    static const struct http_route routes[] = {
        {.path = "/", .methods = HTTP_GET, .request = page_get, .done = page_sent},
        {.path = "/state", .methods = HTTP_GET, .request = state_get},
        {.path = "/set", .methods = HTTP_PUT, .request = put, .body = set_take},
        {.path = "/firmware",
         .methods = HTTP_PUT,
         .request = image_put,
         .body = image_take,
         .done = image_done,
         .body_max = PAGE_IMAGE_MAX},
    };
    return http_server_start(&page->server, loop,
                             &(struct http_server_config){.port = PAGE_PORT,
                                                          .routes = routes,
                                                          .route_count = sizeof routes / sizeof routes[0],
                                                          .connections = page->connections,
                                                          .connection_count = PAGE_CONNECTIONS,
                                                          .memory = page->memory,
                                                          .in_bytes = PAGE_IN_BYTES,
                                                          .out_bytes = PAGE_OUT_BYTES,
                                                          .maker = maker,
                                                          .context = page,
                                                          .hosts = other_names});
}
