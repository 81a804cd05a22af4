// SPDX-License-Identifier: BSD-2-Clause
// A program that keeps itself up to date: every second it asks the TFTP server at the gateway for "update.img", takes
// it into the slot that does not run when it is newer, and starts anew. It takes itself for working, and confirms, when
// the server has sent a piece of a file. Whatever goes wrong restarts the board.
#include "boards/apps_board.h"
#include "boards/board.h"
#include "examples/update/memory_flash.h"
#include "text.h"
#include "tftp/tftp.h"
#include "update/update.h"

#define INTERVAL_US 1000000u
#define BLOCK_BYTES 1024u

static struct apps_board board;
static uint64_t memory[MEMORY_BYTES / 8];
static struct tftp tftp;
static struct update update;
static struct update_slot running;
static uint64_t ask_us;
static int refused;  // said already

void fault_handler(void) { memory_restart(); }

static void say(const char *before, uint32_t number, const char *behind)
{
    char line[80];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, before);
    text_u64(&text, number);
    text_put(&text, behind);
    text_char(&text, '\n');
    board_puts(line);
}

static void refuse(uint32_t bytes, int error)
{
    say("program: update refused after ", bytes, " bytes:");
    board_puts(update_error_name(error));
    board_puts("\n");
}

static void confirm(void)
{
    if (running.state == UPDATE_CONFIRMED || update_confirm(&memory_flash, *memory_running()) != 0)
        return;
    running.state = UPDATE_CONFIRMED;
    say("program: version ", running.header.version, " confirmed");
}

static int data(struct tftp *client, const uint8_t *bytes, uint32_t length, void *context)
{
    (void)client, (void)context;
    confirm();
    return update_take(&update, bytes, length);
}

static void done(struct tftp *client, int error, void *context)
{
    (void)context;
    if (error == WEIR_OK)
        error = update_end(&update);
    ask_us = board_now_us() + INTERVAL_US;
    if (error == 0) {
        say("program: version ", update.header.version, " is here: restart");
        memory_restart();
    }
    // Nothing newer, or no file, or no server, is how things mostly are.
    const bool usual = error == UPDATE_NOT_NEWER || error == WEIR_REFUSED || error == WEIR_TIMED_OUT;
    if (!usual && error != refused)
        refuse((uint32_t)client->bytes, error);
    refused = usual ? 0 : error;
}

static void ask(void)
{
    const struct tftp_config config = {.server = {weir_ip4(BOARD_GATEWAY), TFTP_PORT},
                                       .file = "update.img",
                                       .block_bytes = BLOCK_BYTES,
                                       .size = MEMORY_SLOT_BYTES,
                                       .data = data,
                                       .done = done};
    tftp_stop(&tftp);  // it may still wait for a server that did not hear our last word
    update_begin(&update, &memory_flash, MEMORY_BOARD, *memory_running());
    ask_us = tftp_start(&tftp, &board.loop, &config) == WEIR_OK ? WEIR_NEVER : board_now_us() + INTERVAL_US;
}

int main(void)
{
    if (!apps_board_start(&board, memory, sizeof memory))
        memory_restart();
    running = update_slot_read(&memory_flash, *memory_running());
    say("program: version ", running.header.version, running.state == UPDATE_CONFIRMED ? " runs" : " runs on trial");
    for (;;) {
        if (board_now_us() >= ask_us)
            ask();
        const uint64_t due_us = apps_board_turn(&board);
        apps_board_sleep(&board, due_us < ask_us ? due_us : ask_us);
    }
}
