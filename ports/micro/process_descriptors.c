// SPDX-License-Identifier: BSD-2-Clause
// Descriptors of a client process, each a channel, and what both of its socket interfaces do alike.
#include "process_sockets.h"
#include "weir/error.h"
#include "weir/port.h"

static int copy_in(void *context, void *to, const void *from_caller, size_t bytes)
{
    return client_copy_in(context, to, from_caller, bytes);
}
static int copy_out(void *context, void *to_caller, const void *from, size_t bytes)
{
    return client_copy_out(context, to_caller, from, bytes);
}
static void set_errno(void *context, int value) { ((struct micro_process *)context)->error = value; }

void micro_process_open(struct micro_process *process)
{
    process->port = (struct weir_port){.context = &process->client, .copy_in = copy_in, .copy_out = copy_out};
    process->bsd = (struct weir_bsd){
        .port = &process->port,
        .config = {.memory = process->memory, .set_errno = set_errno, .context = process},
        .memory = (uint8_t *)process->memory,
        .memory_bytes = sizeof process->memory,
    };
    for (uint32_t i = 0; i < CLIENT_CHANNELS; i++)
        process->descriptors[i] = (struct micro_descriptor){.channel = -1};
}

struct micro_descriptor *micro_descriptor_find(struct micro_process *process, int fd)
{
    return fd >= 0 && fd < CLIENT_CHANNELS && process->descriptors[fd].channel >= 0 ? &process->descriptors[fd] : NULL;
}

int micro_call_begin(struct micro_call *call, int fd, uint64_t timeout_us)
{
    struct micro_process *process = micro_process_self();
    *call = (struct micro_call){process, &process->client, micro_descriptor_find(process, fd), -1};
    if (!call->descriptor)
        return WEIR_BAD_SOCKET;
    call->channel = call->descriptor->channel;
    call->client->timeout_us = timeout_us;
    return WEIR_OK;
}

int micro_descriptor_put(struct micro_process *process, int channel, enum weir_socket_type type)
{
    for (int fd = 0; fd < CLIENT_CHANNELS && channel >= 0; fd++)
        if (process->descriptors[fd].channel < 0) {
            process->descriptors[fd] = (struct micro_descriptor){.channel = (int8_t)channel, .type = (uint8_t)type};
            return fd;
        }
    return channel;  // an error: there are as many descriptors as channels
}

int micro_descriptor_open(struct micro_process *process, enum weir_socket_type type)
{
    return micro_descriptor_put(process, client_socket(&process->client, type), type);
}

int micro_descriptor_close(struct micro_process *process, struct micro_descriptor *descriptor)
{
    const int channel = descriptor->channel;
    descriptor->channel = -1;
    return client_close(&process->client, channel);
}

int micro_descriptor_renew(struct micro_process *process, struct micro_descriptor *descriptor)
{
    struct client *client = &process->client;
    struct weir_endpoint local = {0};
    (void)client_getsockname(client, descriptor->channel, &local);
    (void)client_close(client, descriptor->channel);
    const int channel = client_socket(client, (enum weir_socket_type)descriptor->type);
    descriptor->channel = (int8_t)channel;
    descriptor->connecting = descriptor->failed = false;
    if (channel < 0 || !local.port)
        return channel < 0 ? channel : WEIR_OK;
    const int result = client_setsockopt(client, channel, WEIR_OPTION_REUSE_ADDRESS, 1);
    return result < 0 ? result : client_bind(client, channel, &local);
}

int micro_connect_end(struct micro_process *process, struct micro_descriptor *descriptor)
{
    const struct window_channel *channel = &process->client.window->channel[descriptor->channel];
    const int error = client_connect_error(&process->client, descriptor->channel);
    if (!error && !(atomic_load(&channel->state) & WINDOW_CONNECTED))
        return WEIR_IN_PROGRESS;
    descriptor->connecting = false;
    descriptor->failed = error < 0;
    return error;
}

int micro_connect(struct micro_process *process, struct micro_descriptor *descriptor, const struct weir_endpoint *peer,
                  uint64_t timeout_us)
{
    struct client *client = &process->client;
    if (descriptor->failed) {
        const int renewed = micro_descriptor_renew(process, descriptor);
        if (renewed < 0)
            return renewed;
    }
    client->timeout_us = timeout_us;
    if (!descriptor->connecting) {
        const int result = client_connect(client, descriptor->channel, peer);
        descriptor->connecting = result == WEIR_AGAIN;
        descriptor->failed = result < 0 && result != WEIR_AGAIN && descriptor->type == WEIR_STREAM;
        return result;
    }
    struct client_pollfd one = {.socket = descriptor->channel, .wants = WINDOW_WRITE};
    const int ready = client_poll(client, &one, 1);
    return ready <= 0 ? (ready ? ready : WEIR_AGAIN) : micro_connect_end(process, descriptor);
}
