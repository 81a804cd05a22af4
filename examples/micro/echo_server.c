// SPDX-License-Identifier: BSD-2-Clause
#include "echo_server.h"

#include "weir/error.h"
#include "weir/port.h"

#define ROUNDS 8  // of a connection, before the others have their turn

int echo_server_open(struct echo_server *server, struct client *client, uint16_t port)
{
    const struct weir_endpoint local = {weir_addr_any(), port};
    server->client = client;
    for (uint32_t i = 0; i < ECHO_CONNECTIONS; i++)
        server->connections[i].socket = -1;
    server->listener = client_socket(client, WEIR_STREAM);
    if (server->listener < 0)
        return server->listener;
    const int bound = client_bind(client, server->listener, &local);
    return bound < 0 ? bound : client_listen(client, server->listener, ECHO_BACKLOG);
}

static void end(struct echo_server *server, struct echo_connection *connection)
{
    (void)client_close(server->client, connection->socket);
    connection->socket = -1;
}

// false: nothing more can be done now.
static bool move(struct echo_server *server, struct echo_connection *connection)
{
    if (connection->at == connection->length) {
        const int got = client_recv(server->client, connection->socket, connection->data, ECHO_BYTES);
        if (got <= 0 && got != WEIR_AGAIN)
            end(server, connection);
        if (got <= 0)
            return false;
        connection->at = 0;
        connection->length = (uint32_t)got;
    }
    const int sent = client_send(server->client, connection->socket, connection->data + connection->at,
                                 connection->length - connection->at);
    if (sent < 0 && sent != WEIR_AGAIN)
        end(server, connection);
    connection->at += sent > 0 ? (uint32_t)sent : 0;
    return sent > 0;
}

static void take(struct echo_server *server, struct echo_connection *connection)
{
    const int socket = client_accept(server->client, server->listener, NULL);
    connection->socket = socket >= 0 ? socket : -1;
    connection->at = connection->length = 0;
}

int echo_server_turn(struct echo_server *server)
{
    struct client_pollfd fds[1 + ECHO_CONNECTIONS];
    struct echo_connection *of[1 + ECHO_CONNECTIONS], *vacant = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ECHO_CONNECTIONS; i++) {
        struct echo_connection *connection = &server->connections[i];
        if (connection->socket < 0) {
            vacant = connection;
            continue;
        }
        of[count] = connection;
        fds[count++] = (struct client_pollfd){connection->socket,
                                              connection->at < connection->length ? WINDOW_WRITE : WINDOW_READ, 0};
    }
    if (vacant) {
        of[count] = vacant;
        fds[count++] = (struct client_pollfd){server->listener, WINDOW_READ, 0};
    }
    server->client->timeout_us = WEIR_NEVER;
    const int ready = client_poll(server->client, fds, count);
    server->client->timeout_us = 0;
    for (uint32_t i = 0; i < count && ready > 0; i++) {
        if (!fds[i].ready)
            continue;
        if (of[i] == vacant)
            take(server, vacant);
        else
            for (uint32_t rounds = 0; rounds < ROUNDS && move(server, of[i]); rounds++)
                ;
    }
    return ready;
}
