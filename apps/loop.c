// SPDX-License-Identifier: BSD-2-Clause
#include "loop.h"

void loop_init(struct loop *loop, struct weir *weir)
{
    loop->weir = weir;
    loop->apps = NULL;
}

void loop_add(struct loop *loop, struct app *app)
{
    app->next = loop->apps;
    loop->apps = app;
}

void loop_remove(struct loop *loop, struct app *app)
{
    for (struct app **at = &loop->apps; *at != NULL; at = &(*at)->next) {
        if (*at == app) {
            *at = app->next;
            return;
        }
    }
}

int loop_watch(struct loop *loop, weir_socket socket, struct weir_watch *watch)
{
    return weir_socket_set_user(loop->weir, socket, watch);
}

static uint64_t loop_poll_apps(struct loop *loop, uint64_t now_us)
{
    uint64_t due_us = WEIR_NEVER;
    for (struct app *app = loop->apps; app != NULL;) {
        struct app *next = app->next;  // the application may remove itself
        uint64_t app_due_us = app->poll(app, now_us);
        due_us = app_due_us < due_us ? app_due_us : due_us;
        app = next;
    }
    return due_us;
}

uint64_t loop_run(struct loop *loop, uint64_t now_us)
{
    (void)weir_dispatch(loop->weir, LOOP_EVENTS);  // what is answered now leaves in one frame with the acknowledgement
    for (uint32_t round = 0; round < LOOP_ROUNDS; round++) {
        uint64_t due_us = weir_poll(loop->weir, now_us);
        uint32_t handled = weir_dispatch(loop->weir, LOOP_EVENTS);
        uint64_t apps_due_us = loop_poll_apps(loop, now_us);
        if (handled == 0 && !weir_output_pending(loop->weir))
            return apps_due_us < due_us ? apps_due_us : due_us;
    }
    // what the last handlers queued leaves now, not after the poller's look at its drivers
    (void)weir_poll(loop->weir, now_us);
    return now_us;
}
