// SPDX-License-Identifier: BSD-2-Clause
// tftp: gets or puts a file.
#define _GNU_SOURCE  // getopt that takes options behind words
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "tftp/tftp.h"

static struct {
    struct tftp tftp;
    struct tftp_config config;
    struct host *host;
    FILE *file;
    bool begun;  // something of it has come
    char server[256];
    uint8_t block[TFTP_HEADER_BYTES + TFTP_BLOCK_MAX];
} t;

static void begin(void)
{
    if (!t.begun)
        command_file_begin(t.file);
    t.begun = true;
}

static int data(struct tftp *tftp, const uint8_t *bytes, uint32_t length, void *context)
{
    (void)tftp, (void)context;
    begin();
    return fwrite(bytes, 1, length, t.file) == length ? WEIR_OK : WEIR_NO_MEMORY;
}

static int read_at(struct tftp *tftp, uint64_t offset, uint8_t *out, uint32_t room, void *context)
{
    (void)tftp, (void)context;
    if (fseek(t.file, (long)offset, SEEK_SET) != 0)
        return WEIR_INVALID;
    const size_t got = fread(out, 1, room, t.file);
    return ferror(t.file) ? WEIR_INVALID : (int)got;
}

static void done(struct tftp *tftp, int error, void *context)
{
    (void)context;
    if (error == WEIR_OK && !t.config.put)
        begin();
    if (fclose(t.file) != 0 && error == WEIR_OK)
        error = WEIR_NO_MEMORY;
    if (error == WEIR_REFUSED)
        fprintf(stderr, "weir-host: tftp: error %u: %s\n", tftp->code, tftp->text);
    else if (error != WEIR_OK)
        fprintf(stderr, "weir-host: tftp: %s\n", weir_error_name(error));
    else
        fprintf(stderr, "%s %s: blocks of %u bytes, windows of %u, %u timeouts, %u gaps\n",
                t.config.put ? "put" : "got", t.config.file, tftp->block_bytes, tftp->window, tftp->count.timeouts,
                tftp->count.gaps);
    host_done(t.host, error != WEIR_OK);
}

static void interrupt(struct host *host)
{
    tftp_stop(&t.tftp);
    host_done(host, 1);
}

static void found(struct host *host, struct weir_addr addr)
{
    t.config.server.addr = addr;
    const int error = tftp_start(&t.tftp, &host->loop, &t.config);
    host->interrupt = interrupt;
    if (error == WEIR_OK)
        return;
    command_wrong("tftp", t.server, weir_error_name(error));
    host_done(host, 1);
}

static bool take(int option, const char *value)
{
    uint64_t number;
    if (option == '?' || !host_number(value, 1000, &number) || number > UINT16_MAX)
        return false;
    if (option == 'b')
        t.config.block_bytes = (uint16_t)number;
    else
        t.config.window = (uint16_t)number;
    return true;
}

// The file here: the same name without its folders, or as given.
static bool file_open(const char *name)
{
    const char *slash = strrchr(name, '/');
    if (name == t.config.file && slash != NULL)
        name = slash + 1;
    t.file = t.config.put ? fopen(name, "rb") : command_file_open(name);
    if (t.file == NULL)
        return command_wrong("tftp", name, t.config.put ? "cannot be read" : "cannot be written");
    if (t.config.put && fseek(t.file, 0, SEEK_END) == 0)
        t.config.size = (uint64_t)ftell(t.file);
    return true;
}

bool command_tftp(struct host *host, int argc, char **argv)
{
    int option;
    memset(&t, 0, sizeof t);
    t.host = host;
    t.config = (struct tftp_config){.data = data, .read = read_at, .done = done, .block = t.block};
    while ((option = getopt(argc, argv, "b:w:")) != -1) {
        if (!take(option, optarg))
            return command_wrong("tftp", optarg != NULL ? optarg : "an option", "not so");
    }
    char **const words = argv + optind;
    const int count = argc - optind;
    if (count < 3 || count > 4 || (strcmp(words[1], "get") != 0 && strcmp(words[1], "put") != 0))
        return command_wrong("tftp", "give a host, get or put, and a file", "");
    if (!command_server("tftp", words[0], t.server, sizeof t.server, &t.config.server.port))
        return false;
    t.config.put = strcmp(words[1], "put") == 0;
    t.config.file = words[2];
    return file_open(count == 4 ? words[3] : words[2]) && command_host(host, t.server, found);
}
