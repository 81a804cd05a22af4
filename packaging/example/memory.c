// SPDX-License-Identifier: BSD-2-Clause
// An instance in a buffer whose size is known when compiling (`make memory`, docs/memory.md). Exit status 0: it fits
// exactly, and what is said of one byte fewer, and of other mistakes, is right.
#ifdef TWO_FILES
#include "weir.h"
#else
#include "weir/instance.h"
#endif
#include "weir_memory.h"

#include <string.h>

static uint64_t memory[WEIR_MEMORY_BYTES / 8];

static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 42, bytes);  // a real port has better
}

// What weir_create_error says when weir_create fails; WEIR_OK: it does not.
static int create(void *from, size_t bytes, const struct weir_port *port, const struct weir_config *config)
{
    return weir_create(from, bytes, port, config) ? WEIR_OK : weir_create_error(from, bytes, port, config);
}

int main(void)
{
    static const struct weir_port port = {.entropy = entropy}, without = {0};
    static const struct weir_config unknown = {.congestion_control = "none"};
    if (sizeof memory != WEIR_MEMORY_BYTES || weir_size(NULL) != sizeof memory)
        return 1;
    if (create(memory, sizeof memory, &port, NULL) != WEIR_OK)
        return 2;
    if (create(memory, sizeof memory - 1, &port, NULL) != WEIR_NO_MEMORY)
        return 3;
    if (create(NULL, 0, &port, NULL) != WEIR_INVALID || create(memory, sizeof memory, &without, NULL) != WEIR_INVALID)
        return 4;
    // the compact stack has one, whatever is asked for
    return create(memory, sizeof memory, &port, &unknown) != (WEIR_CFG_COMPACT ? WEIR_OK : WEIR_NOT_SUPPORTED) ? 5 : 0;
}
