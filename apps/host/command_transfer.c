// SPDX-License-Identifier: BSD-2-Clause
// send, receive, listen, serve: a file over one TCP connection, made or awaited, for tests against other hosts' nc.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/command.h"
#include "service.h"

#define SPANS 16

static struct transfer {
    struct weir_watch watch;
    struct host *host;
    const char *name;
    FILE *file;
    weir_socket socket, listening;
    uint16_t port;
    bool sending, connected, all_read;
    uint64_t bytes, began_us;
} transfer;

// The machine's clock: the stack's may move in steps (--tick), and a transfer may be over within two.
static uint64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void transfer_end(const char *error)
{
    struct transfer *t = &transfer;
    double seconds = (double)(clock_us() - t->began_us) / 1e6;
    service_close(&t->host->loop, &t->socket);
    service_close(&t->host->loop, &t->listening);
    if (t->file != stdin && t->file != stdout && fclose(t->file) != 0 && error == NULL)
        error = "the file could not be written to its end";
    if (error != NULL)
        command_wrong(t->name, error, "");
    else
        fprintf(stderr, "%llu bytes in %.4f s, %.1f Mbit/s\n", (unsigned long long)t->bytes, seconds,
                (double)t->bytes * 8 / 1e6 / (seconds > 0 ? seconds : 1e-6));
    host_done(t->host, error != NULL);
}

static void interrupt(struct host *host)
{
    (void)host;
    transfer_end("interrupted");
}

// Fills the send queue from the file. After its end FIN is sent, and the peer's awaited: then it has everything.
static void send_on(void)
{
    struct transfer *t = &transfer;
    struct weir *weir = t->host->weir;
    struct weir_span spans[SPANS];
    int room;
    while (!t->all_read && (room = weir_socket_reserve(weir, t->socket, 1 << 20, spans, SPANS)) != WEIR_AGAIN) {
        if (room < 0) {
            transfer_end(weir_error_name(room));
            return;
        }
        uint32_t taken = 0;
        for (int i = 0; (int)taken < room && !t->all_read; i++) {
            size_t got = fread(spans[i].data, 1, spans[i].length, t->file);
            t->all_read = got < spans[i].length;
            taken += (uint32_t)got;
        }
        (void)weir_socket_commit(weir, t->socket, taken);
        t->bytes += taken;
    }
    if (t->all_read)
        (void)weir_socket_shutdown(weir, t->socket, WEIR_SHUT_WRITE);
}

static bool unfinished(void)
{
    struct transfer *t = &transfer;
    int32_t unacked = 0;
    (void)weir_socket_get(t->host->weir, t->socket, WEIR_OPTION_UNACKED_BYTES, &unacked);
    return !t->all_read || unacked > 0;
}

static void receive_on(void)
{
    struct transfer *t = &transfer;
    struct weir *weir = t->host->weir;
    struct weir_slice slices[SPANS];
    int there;
    while ((there = weir_socket_peek(weir, t->socket, 0, slices, SPANS)) > 0) {
        uint32_t left = (uint32_t)there;
        for (int i = 0; left > 0 && !t->sending; i++) {
            if (fwrite(slices[i].data, 1, slices[i].length, t->file) != slices[i].length) {
                transfer_end("the file cannot be written");
                return;
            }
            left -= slices[i].length;
        }
        (void)weir_socket_consume(weir, t->socket, (uint32_t)there);
        t->bytes += t->sending ? 0 : (uint32_t)there;
    }
    if (there == 0 && t->sending && unfinished())
        return;  // the peer is done sending, not receiving; the connection's end brings another event
    if (there == 0)
        transfer_end(NULL);
    else if (there != WEIR_AGAIN)
        transfer_end(weir_error_name(there));
}

static void transfer_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct transfer *t = &transfer;
    (void)watch;
    if (socket == t->listening) {
        weir_socket taken = service_accept(&t->host->loop, socket, &t->watch);
        if (taken < 0)
            return;
        t->socket = taken;
        t->began_us = clock_us();
        service_close(&t->host->loop, &t->listening);
        events = WEIR_READABLE | WEIR_WRITABLE;
    }
    if (t->socket == 0 || (socket != t->socket && t->listening != 0))
        return;
    if (!t->connected) {
        int32_t error = 0;
        (void)weir_socket_get(t->host->weir, t->socket, WEIR_OPTION_ERROR, &error);
        if (error != 0) {
            transfer_end(error == WEIR_REFUSED ? "the peer refuses: does anything listen there?"
                                               : weir_error_name(error));
            return;
        }
        t->connected = (events & WEIR_WRITABLE) != 0;
    }
    if (t->connected && t->sending && !t->host->done)
        send_on();
    if (t->connected && !t->host->done)
        receive_on();
}

static void found(struct host *host, struct weir_addr addr)
{
    struct transfer *t = &transfer;
    const struct weir_endpoint peer = {addr, t->port};
    t->socket = weir_socket_open(host->weir, WEIR_STREAM, 0);
    if (t->socket > 0)
        (void)loop_watch(&host->loop, t->socket, &t->watch);
    int error = t->socket < 0 ? t->socket : weir_socket_connect(host->weir, t->socket, &peer);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        transfer_end(weir_error_name(error));
}

static bool transfer_start(struct host *host, const char *name, const char *peer, const char *port, const char *path,
                           bool sending)
{
    struct transfer *t = &transfer;
    *t = (struct transfer){
        .watch = {transfer_event}, .host = host, .name = name, .sending = sending, .began_us = clock_us()};
    if (!command_port(name, port, &t->port))
        return false;
    bool standard = strcmp(path, "-") == 0;
    t->file = standard ? (sending ? stdin : stdout) : fopen(path, sending ? "rb" : "wb");
    if (t->file == NULL)
        return command_wrong(name, path, sending ? "cannot be read" : "cannot be written");
    host->interrupt = interrupt;
    if (peer != NULL)
        return command_host(host, peer, found);
    t->listening = service_listen(&host->loop, t->port, &t->watch);
    if (t->listening > 0) {
        fprintf(stderr, "listening on port %u\n", t->port);
        return true;
    }
    int error = t->listening;
    t->listening = 0;
    transfer_end(error == WEIR_IN_USE ? "the port is in use" : weir_error_name(error));
    return true;
}

bool command_send(struct host *host, int argc, char **argv)
{
    return argc == 4 && transfer_start(host, argv[0], argv[2], argv[3], argv[1], true);
}

bool command_receive(struct host *host, int argc, char **argv)
{
    return argc == 4 && transfer_start(host, argv[0], argv[1], argv[2], argv[3], false);
}

bool command_listen(struct host *host, int argc, char **argv)
{
    return argc == 3 && transfer_start(host, argv[0], NULL, argv[1], argv[2], false);
}

bool command_serve(struct host *host, int argc, char **argv)
{
    return argc == 3 && transfer_start(host, argv[0], NULL, argv[1], argv[2], true);
}
