// SPDX-License-Identifier: BSD-2-Clause
#include "shell/shell.h"

#include <string.h>

#include "service.h"
#include "shell/commands.h"

#define PROMPT "weir> "
#define INTERRUPT 3u  // Ctrl-C
#define SECOND_US 1000000u

// RFC 854.
enum { TELNET_SE = 240, TELNET_SB = 250, TELNET_WILL = 251, TELNET_IAC = 255 };
enum { PLAIN, BEHIND_IAC, BEHIND_OPTION, INSIDE, INSIDE_IAC };

static struct weir *weir_of(const struct shell *shell) { return shell->loop->weir; }

// --- the session -----------------------------------------------------------------------------------------------------

static void out_clear(struct shell *shell) { text_init(&shell->out, shell->out_bytes, sizeof shell->out_bytes); }

static bool in_session(const struct shell *shell) { return shell->socket > 0 || shell->serial != NULL; }

static void idle_begins(struct shell *shell)
{
    const uint64_t now_us = weir_now_us(weir_of(shell));
    shell->idle_us = shell->serial != NULL ? WEIR_NEVER : now_us + (uint64_t)SHELL_IDLE_S * SECOND_US;
}

static void session_begin(struct shell *shell)
{
    shell->ended = shell->cut = shell->returned = shell->entered = shell->filed = false;
    shell->telnet = PLAIN;
    shell->line_bytes = shell->ahead_bytes = 0;
    idle_begins(shell);
    out_clear(shell);
    text_put(&shell->out, PROMPT);
}

static void session_end(struct shell *shell)
{
    shell_tools_stop(shell);
    shell->step = NULL;
    service_close(shell->loop, &shell->socket);
}

static void sessions_accept(struct shell *shell)
{
    static const char busy[] = "somebody else is here\n";
    weir_socket socket;
    while ((socket = service_accept(shell->loop, shell->listener, &shell->watch)) > 0) {
        if (shell->socket == 0) {
            shell->socket = socket;
            session_begin(shell);
            continue;
        }
        (void)weir_socket_write(weir_of(shell), socket, busy, sizeof busy - 1);
        service_close(shell->loop, &socket);
    }
}

// --- what carries it -------------------------------------------------------------------------------------------------

// As weir_socket_read.
static int session_read(struct shell *shell, uint8_t *to, uint32_t room)
{
    if (shell->serial == NULL)
        return weir_socket_read(weir_of(shell), shell->socket, to, room);
    const uint32_t got = shell->serial->read(shell->serial->context, to, room);
    return got > 0 ? (int)got : WEIR_AGAIN;
}

static bool serial_put(const struct shell *shell, char c)
{
    const uint8_t byte = (uint8_t)c;
    return shell->serial->write(shell->serial->context, &byte, 1) == 1;
}

// How much of the text is on the line. Where it takes the CR of a line's end and not the LF, that one waits.
static uint32_t serial_write(struct shell *shell, const char *text, uint32_t length)
{
    uint32_t gone = 0;
    for (; gone < length; gone++) {
        if (text[gone] == '\n' && !shell->returned && !(shell->returned = serial_put(shell, '\r')))
            break;
        if (!serial_put(shell, text[gone]))
            break;
        shell->returned = false;
    }
    return gone;
}

// As weir_socket_write.
static int session_write(struct shell *shell, const char *text, uint32_t length)
{
    if (shell->serial == NULL)
        return weir_socket_write(weir_of(shell), shell->socket, text, length);
    return (int)serial_write(shell, text, length);
}

// --- lines -----------------------------------------------------------------------------------------------------------

static int split(char *line, char **words)
{
    int count = 0;
    for (char *at = line; *at != '\0' && count < (int)SHELL_WORDS;) {
        if (*at == ' ') {
            *at++ = '\0';
            continue;
        }
        words[count++] = at;
        while (*at != '\0' && *at != ' ')
            at++;
    }
    return count;
}

static const struct shell_command *command_find(const struct shell_command *commands, const char *name)
{
    while (commands->name != NULL && !text_equal(name, text_length(name), commands->name))
        commands++;
    return commands->name != NULL ? commands : NULL;
}

static const struct shell_command *added_find(const struct shell *shell, const char *name)
{
    for (uint32_t i = 0; i < shell->added_count; i++)
        if (text_equal(name, text_length(name), shell->added[i]->name))
            return shell->added[i];
    return NULL;
}

void shell_add(struct shell *shell, const struct shell_command *command)
{
    if (shell->added_count < SHELL_ADDED)
        shell->added[shell->added_count++] = command;
}

static void line_run(struct shell *shell)
{
    char *words[SHELL_WORDS];
    shell->line[shell->line_bytes] = '\0';
    const int count = split(shell->line, words);
    const struct shell_command *command = NULL;
    if (count > 0 && !shell->cut) {
        command = command_find(shell_commands, words[0]);
        command = command != NULL ? command : command_find(shell_tools, words[0]);
        command = command != NULL ? command : added_find(shell, words[0]);
    }
    shell->cursor = shell->index = 0;
    if (shell->cut)
        text_put(&shell->out, "the line is too long\n");
    else if (command != NULL)
        command->start(shell, count, words);
    else if (count > 0)
        text_put(&shell->out, "no such command: help lists them\n");
    shell->line_bytes = 0;
    shell->cut = false;
    if (shell->step == NULL)
        text_put(&shell->out, PROMPT);
}

// A terminal on a line shows what it is sent alone, and sends CR for a line's end, or CR LF.
static uint8_t serial_take(struct shell *shell, uint8_t byte)
{
    const bool after_return = shell->entered;
    shell->entered = byte == '\r';
    if (byte == '\n' && after_return)
        return 0;
    if (byte == '\r' || byte == '\n')
        text_char(&shell->out, '\n');
    else if ((byte == '\b' || byte == 0x7f) && shell->line_bytes > 0)
        text_put(&shell->out, "\b \b");
    else if (byte >= ' ' && byte <= '~')
        text_char(&shell->out, (char)byte);
    return byte == '\r' ? '\n' : byte;
}

static void byte_take(struct shell *shell, uint8_t typed)
{
    const uint8_t byte = shell->serial != NULL ? serial_take(shell, typed) : typed;
    if (byte == '\n')
        line_run(shell);
    else if ((byte == '\b' || byte == 0x7f) && shell->line_bytes > 0)
        shell->line_bytes--;
    else if (byte < ' ' || byte > '~')
        return;  // CR, NUL, and what no command has
    else if (shell->line_bytes + 1 < sizeof shell->line)
        shell->line[shell->line_bytes++] = (char)byte;
    else
        shell->cut = true;
}

// --- what comes in ---------------------------------------------------------------------------------------------------

// Whether the byte is none of Telnet's commands, which have two bytes, three, or an end of their own. Nothing is
// answered: a client that hears nothing goes on as it began.
static bool telnet_passes(struct shell *shell, uint8_t byte)
{
    switch (shell->telnet) {
    case PLAIN: shell->telnet = byte == TELNET_IAC ? BEHIND_IAC : PLAIN; return byte != TELNET_IAC;
    case BEHIND_IAC:
        shell->telnet = byte == TELNET_SB ? INSIDE : byte >= TELNET_WILL && byte != TELNET_IAC ? BEHIND_OPTION : PLAIN;
        return byte == TELNET_IAC;
    case BEHIND_OPTION: shell->telnet = PLAIN; return false;
    case INSIDE: shell->telnet = byte == TELNET_IAC ? INSIDE_IAC : INSIDE; return false;
    default: shell->telnet = byte == TELNET_SE ? PLAIN : INSIDE; return false;
    }
}

static void interrupt(struct shell *shell)
{
    shell_tools_stop(shell);
    shell->ahead_bytes = shell->line_bytes = 0;
    shell->cut = false;
    shell->step = NULL;
    if (!shell->filed)
        text_put(&shell->out, "\n" PROMPT);
}

// Reads as much as may be typed ahead.
static void read_ahead(struct shell *shell)
{
    uint8_t bytes[SHELL_AHEAD_BYTES];
    while (!shell->ended && shell->ahead_bytes < sizeof shell->ahead) {
        const int got = session_read(shell, bytes, (uint32_t)sizeof bytes - shell->ahead_bytes);
        if (got == WEIR_AGAIN)
            return;
        shell->ended = got <= 0;
        for (int i = 0; i < got; i++) {
            if (shell->serial == NULL && !telnet_passes(shell, bytes[i]))
                continue;
            if (bytes[i] == INTERRUPT)
                interrupt(shell);
            else
                shell->ahead[shell->ahead_bytes++] = bytes[i];
        }
        idle_begins(shell);
    }
}

// --- turns -----------------------------------------------------------------------------------------------------------

// false: the reader is slow.
static bool flush(struct shell *shell)
{
    if (shell->out.length == 0)
        return true;
    const int wrote = session_write(shell, shell->out.bytes, shell->out.length);
    if (wrote < 0 && wrote != WEIR_AGAIN) {
        session_end(shell);
        return false;
    }
    const uint32_t gone = wrote > 0 ? (uint32_t)wrote : 0, left = shell->out.length - gone;
    memmove(shell->out.bytes, shell->out.bytes + gone, left);
    shell->out.bytes[left] = '\0';
    shell->out.length = left;
    shell->out.cut = false;
    return left == 0;
}

// A step of the command that runs, or the next byte that was typed. false: there is nothing to do now.
static bool advance(struct shell *shell)
{
    if (shell->step != NULL) {
        const enum shell_step step = shell->step(shell);
        if (step == SHELL_DONE) {
            shell->step = NULL;
            text_put(&shell->out, shell->filed ? "" : PROMPT);
        }
        return step != SHELL_WAIT;
    }
    if (shell->ahead_bytes == 0)
        return false;
    const uint8_t byte = shell->ahead[0];
    memmove(shell->ahead, shell->ahead + 1, --shell->ahead_bytes);
    byte_take(shell, byte);
    return true;
}

void shell_turn(struct shell *shell)
{
    if (!in_session(shell) || shell->turning)
        return;
    shell->turning = true;
    read_ahead(shell);
    while (flush(shell) && advance(shell))
        read_ahead(shell);
    shell->turning = false;
    if (in_session(shell) && shell->ended && shell->step == NULL && shell->ahead_bytes == 0 && shell->out.length == 0)
        session_end(shell);
}

static void shell_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct shell *shell = (struct shell *)(void *)((char *)watch - offsetof(struct shell, watch));
    (void)events;
    if (socket == shell->listener)
        sessions_accept(shell);
    if (socket == shell->socket || socket == shell->listener)
        shell_turn(shell);
}

static uint64_t shell_poll(struct app *app, uint64_t now_us)
{
    struct shell *shell = (struct shell *)app;
    if (!in_session(shell))
        return WEIR_NEVER;
    if (shell->serial == NULL && now_us >= shell->idle_us)
        session_end(shell);
    else if (shell->serial != NULL || (shell->look_us != 0 && now_us >= shell->look_us))
        shell_turn(shell);
    if (!in_session(shell))
        return WEIR_NEVER;
    if (shell->serial != NULL && shell->out.length > 0)
        return now_us;  // there is no telling when the line takes more
    return shell->look_us > now_us && shell->look_us < shell->idle_us ? shell->look_us : shell->idle_us;
}

static void prepare(struct shell *shell, struct loop *loop, struct dns *dns)
{
    memset(shell, 0, sizeof *shell);
    shell->app.poll = shell_poll;
    shell->watch.event = shell_event;
    shell->loop = loop;
    shell->dns = dns;
    shell->began_us = weir_now_us(loop->weir);
    out_clear(shell);
}

int shell_start(struct shell *shell, struct loop *loop, uint16_t port, struct dns *dns)
{
    prepare(shell, loop, dns);
    const weir_socket listener = service_listen(loop, port, &shell->watch);
    if (listener < 0)
        return listener;
    shell->listener = listener;
    loop_add(loop, &shell->app);
    return WEIR_OK;
}

void shell_start_serial(struct shell *shell, struct loop *loop, const struct shell_line *serial, struct dns *dns)
{
    prepare(shell, loop, dns);
    shell->serial = serial;
    session_begin(shell);
    loop_add(loop, &shell->app);
}

void shell_stop(struct shell *shell)
{
    if (shell->listener == 0 && shell->serial == NULL)
        return;
    shell->serial = NULL;
    session_end(shell);
    service_close(shell->loop, &shell->listener);
    loop_remove(shell->loop, &shell->app);
}
