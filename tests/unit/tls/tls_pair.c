// SPDX-License-Identifier: BSD-2-Clause
#include "tls/tls_pair.h"

#include <stdlib.h>
#include <string.h>

#define STEP_US 1000u

int64_t tls_pair_time(void *context) { return ((struct tls_pair *)context)->time; }

static void *counted_alloc(void *context, size_t bytes)
{
    struct tls_pair *const t = context;
    t->allocations++;
    return t->fail_at && --t->fail_at == 0 ? NULL : malloc(bytes);
}

static void counted_free(void *context, void *memory, size_t bytes) { (void)context, (void)bytes, free(memory); }

uint8_t tls_pattern(uint32_t at, bool up) { return (uint8_t)(at % 251 + (up ? 0 : 7) + at / 65536); }

// Configurations as the setup says; NULL in *end on failure.
static void end_configure(struct tls_pair *t, struct tls_end *end, enum weir_tls_role role)
{
    const struct tls_setup *const s = t->setup;
    struct weir_tls_options options = role == WEIR_TLS_CLIENT ? s->client : s->server;
    const char *chain = role == WEIR_TLS_CLIENT ? s->client_chain : s->chain ? s->chain : server_certificate;
    const char *key = role == WEIR_TLS_CLIENT ? s->client_key : s->key ? s->key : server_key;
    const char *trust = role == WEIR_TLS_CLIENT && s->trust ? s->trust : ca_certificate;
    options.role = role;
    struct weir_tls *const tls = role == WEIR_TLS_CLIENT ? t->tls : t->server_tls;
    end->credentials = weir_tls_credentials_create(tls, &t->error);
    if (!end->credentials)
        return;
    t->error = chain ? weir_tls_credentials_own(end->credentials, chain, strlen(chain), key, strlen(key)) : WEIR_OK;
    if (!t->error)
        t->error = weir_tls_credentials_trust(end->credentials, trust, strlen(trust));
    options.credentials = end->credentials;
    if (!t->error)
        end->config = weir_tls_config_create(tls, &options, &t->error);
}

bool tls_pair_connect(struct tls_pair *t, const struct weir_tls_session_options *options)
{
    struct weir_tls_session_options client = options ? *options : t->setup->session,
                                    server = {.locked = !t->setup->unlocked};
    client.locked = !t->setup->unlocked;
    if (!client.name)
        client.name = "weir.example";
    pair_connect(&t->link, 443, &t->client.socket, &t->server.socket);
    t->client.session = weir_tls_open(t->client.config, t->client.weir, t->client.socket, &client, &t->error);
    if (t->client.session)
        t->server.session = weir_tls_open(t->server.config, t->server.weir, t->server.socket, &server, &t->error);
    return t->client.session && t->server.session;
}

void tls_pair_open(struct tls_pair *t, const struct tls_setup *setup)
{
    static const struct tls_setup none;
    static const struct pair_options plain;
    static uint64_t opened;
    memset(t, 0, sizeof *t);
    t->setup = setup ? setup : &none;
    t->time = t->setup->time ? t->setup->time : GOOD_TIME;
    pair_open(&t->link, t->setup->pair ? t->setup->pair : &plain);
    t->link.a.entropy ^= ++opened * 0x9e3779b97f4a7c15u;  // no two boots are alike
    t->client.weir = t->link.a.weir;
    t->server.weir = t->link.b.weir;
    t->system = (struct weir_tls_system){.context = t,
                                         .alloc = counted_alloc,
                                         .free = counted_free,
                                         .unix_time = tls_pair_time,
                                         .budget_bytes = t->setup->budget};
    if (t->setup->memory) {
        t->block = calloc(1, t->setup->memory);
        t->system.alloc = NULL;
        t->system.free = NULL;
        t->system.memory = t->block;
        t->system.memory_bytes = t->setup->memory;
    }
    const struct weir_tls_backend *const client =
        t->setup->client_backend ? t->setup->client_backend : &weir_tls_mbedtls;
    const struct weir_tls_backend *const server =
        t->setup->server_backend ? t->setup->server_backend : &weir_tls_mbedtls;
    t->tls = weir_tls_create(client, &t->link.a.port, &t->system, &t->error);
    assert_non_null(t->tls);
    t->server_tls = server == client ? t->tls : weir_tls_create(server, &t->link.a.port, &t->system, &t->error);
    assert_non_null(t->server_tls);
    end_configure(t, &t->server, WEIR_TLS_SERVER);
    assert_int_equal(t->error, WEIR_OK);
    end_configure(t, &t->client, WEIR_TLS_CLIENT);
    assert_int_equal(t->error, WEIR_OK);
    if (!t->setup->no_sessions)
        assert_true(tls_pair_connect(t, NULL));
}

void tls_pair_run(struct tls_pair *t, uint64_t advance_us)
{
    pair_run(&t->link, advance_us);
    (void)weir_dispatch(t->client.weir, 100);
    (void)weir_dispatch(t->server.weir, 100);
}

static bool going(int status) { return status == WEIR_AGAIN || status == WEIR_IN_PROGRESS; }

int tls_pair_shake(struct tls_pair *t)
{
    int client = WEIR_AGAIN, server = WEIR_AGAIN;
    const uint64_t limit_us = pair_now_us(&t->link) + 30000000;
    while (going(client) || going(server)) {
        if (pair_now_us(&t->link) > limit_us)
            return WEIR_TIMED_OUT;
        client = weir_tls_handshake(t->client.session);
        server = weir_tls_handshake(t->server.session);
        pair_run(&t->link, client == WEIR_IN_PROGRESS || server == WEIR_IN_PROGRESS ? 0 : STEP_US);
        if ((client < 0 && !going(client)) || (server < 0 && !going(server)))
            break;
    }
    for (int i = 0; i < 100 && going(client); i++) {  // the other one's alert
        pair_run(&t->link, STEP_US);
        client = weir_tls_handshake(t->client.session);
    }
    return client != WEIR_OK ? client : server;
}

struct direction {
    struct weir_tls_session *from, *to;
    bool up;
    uint32_t bytes, sent, got;
};

static void direction_go(struct direction *f)
{
    uint8_t data[5000];
    for (int moved = 1; moved > 0 && f->sent < f->bytes;) {
        const uint32_t left = f->bytes - f->sent, part = left < sizeof data ? left : sizeof data;
        for (uint32_t i = 0; i < part; i++)
            data[i] = tls_pattern(f->sent + i, f->up);
        moved = weir_tls_write(f->from, data, part);
        assert_true(moved > 0 || moved == WEIR_AGAIN);
        f->sent += moved > 0 ? (uint32_t)moved : 0;
    }
    for (int moved = 1; moved > 0 && f->got < f->bytes;) {
        moved = weir_tls_read(f->to, data, sizeof data);
        assert_true(moved > 0 || moved == WEIR_AGAIN);
        for (int i = 0; i < moved; i++)
            assert_int_equal(data[i], tls_pattern(f->got + (uint32_t)i, f->up));
        f->got += moved > 0 ? (uint32_t)moved : 0;
    }
    (void)weir_tls_ready(f->from);  // what it still holds
}

void tls_pair_exchange(struct tls_pair *t, uint32_t up, uint32_t down)
{
    struct direction flows[2] = {{t->client.session, t->server.session, true, up, 0, 0},
                                 {t->server.session, t->client.session, false, down, 0, 0}};
    const uint64_t limit_us = pair_now_us(&t->link) + 600000000;
    while (flows[0].got < up || flows[1].got < down) {
        assert_true(pair_now_us(&t->link) < limit_us);
        direction_go(&flows[0]);
        direction_go(&flows[1]);
        pair_run(&t->link, STEP_US);
    }
}

void tls_pair_sessions_close(struct tls_pair *t)
{
    weir_tls_close(t->client.session);
    weir_tls_close(t->server.session);
    t->client.session = t->server.session = NULL;
    for (int i = 0; i < 100 && t->link.a.weir && t->link.b.weir; i++)
        tls_pair_run(t, 10000);
}

void tls_pair_instance_end(struct tls_pair *t, bool server)
{
    struct fixture *const gone = server ? &t->link.b : &t->link.a, *const left = server ? &t->link.a : &t->link.b;
    fixture_set_mode(gone, FIXTURE_PLAIN);  // what a driver refuses of the last that it sends is lost
    weir_destroy(gone->weir);
    gone->weir = NULL;
    for (uint32_t i = 0; left->weir && i < gone->frame_count; i++)
        fixture_input(left, gone->frames[i].data, gone->frames[i].length);
}

static void end_close(struct tls_end *end)
{
    weir_tls_config_release(end->config);
    weir_tls_credentials_release(end->credentials);
}

// Of what TLS had in a block only the sizes and links of its pieces are left.
static void assert_wiped(const struct tls_pair *t)
{
    const uintptr_t from = (uintptr_t)t->block, to = from + t->setup->memory;
    const size_t *const words = t->block;
    for (size_t i = 0; i < t->setup->memory / sizeof *words; i++)
        assert_true(words[i] <= t->setup->memory || (words[i] >= from && words[i] < to));
}

void tls_pair_close(struct tls_pair *t)
{
    tls_pair_sessions_close(t);
    end_close(&t->client);
    end_close(&t->server);
    if (t->server_tls != t->tls)
        weir_tls_destroy(t->server_tls);
    weir_tls_destroy(t->tls);
    assert_int_equal(weir_tls_memory(NULL), 0);
    assert_wiped(t);
    free(t->block);
    pair_close(&t->link);
}
