# SPDX-License-Identifier: BSD-2-Clause
# Builds Mbed TLS from its source S into LIBRARY, by way of O, with CC and CFLAGS. Called by tools/tls.mk when the source has been fetched.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
CFLAGS ?= -O2 -g
AR ?= ar
OBJECTS := $(patsubst $(S)/library/%.c,$(O)/%.o,$(wildcard $(S)/library/*.c))

$(LIBRARY): $(OBJECTS)
	@rm -f $@ && $(AR) rcs $@ $^
$(O)/%.o: $(S)/library/%.c api/tls/mbedtls/config.h tools/mbedtls.mk
	@mkdir -p $(@D)
	@$(CC) -std=c11 $(CFLAGS) -I$(S)/include -I$(S)/library -I. -DMBEDTLS_CONFIG_FILE='"api/tls/mbedtls/config.h"' -c $< -o $@
