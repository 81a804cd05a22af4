# SPDX-License-Identifier: BSD-2-Clause
# TLS (api/tls) over Mbed TLS, which is no part of the tree: its source comes as Debian's source package of the release named here (3.6, the
# newest long-term branch that a package manager carries), and is built once for this machine and once for a Cortex-M3.
#   build/mbedtls/source             the library as fetched
#   build/mbedtls/libmbedtls.a       … built as api/tls/mbedtls/config.h says
#   build/VARIANT/weir-host-tls      the host program with HTTPS
#   build/VARIANT/libtls.a           the back end, api/tls/mbedtls; the rest of api/tls is in liball.a
MBEDTLS := $(B)/mbedtls
MBEDTLS_RELEASE := trixie
TLS_VARIANTS := $(filter host asan tsan v4,$(VARIANTS)) coverage
TLS_BACKEND := $(call find_c,api/tls/mbedtls)
TLS_INCLUDE := -isystem $(MBEDTLS)/source/include -DMBEDTLS_CONFIG_FILE='"api/tls/mbedtls/config.h"'

$(MBEDTLS)/ready: tools/aptsource.sh
	@echo "  FETCH Mbed TLS"
	@mkdir -p $(@D)
	@tools/aptsource.sh mbedtls $(@D)/source $(MBEDTLS_RELEASE) >$(@D)/fetch.log 2>&1 || { cat $(@D)/fetch.log; exit 1; }
	@touch $@
# Which files there are is known only when they are.
$(MBEDTLS)/libmbedtls.a: $(MBEDTLS)/ready api/tls/mbedtls/config.h
	@echo "  BUILD $@"
	@$(MAKE) -s -f tools/mbedtls.mk O=$(MBEDTLS)/host S=$(MBEDTLS)/source CC='$(CC)' LIBRARY=$@

define tls_variant
$(B)/$(1)/obj/api/tls/mbedtls/%.o: TLS_FLAGS = $(TLS_INCLUDE)
$(TLS_BACKEND:%.c=$(B)/$(1)/obj/%.o): | $(MBEDTLS)/ready
$(B)/$(1)/libtls.a: $(TLS_BACKEND:%.c=$(B)/$(1)/obj/%.o)
	@echo "  AR    $$@"
	@rm -f $$@ && ar rcs $$@ $$^
$(filter $(B)/$(1)/tests/tls/%,$(TESTS_$(1))): $(B)/$(1)/libtls.a $(MBEDTLS)/libmbedtls.a
$(B)/$(1)/weir-host-tls: $(filter-out %/secure_none.o,$(MAIN_OBJECTS_$(1))) $(B)/$(1)/obj/apps/host/secure.o $(B)/$(1)/libapps.a $(B)/$(1)/libtls.a \
    $(MBEDTLS)/libmbedtls.a $(B)/$(1)/liball.a
	@echo "  LINK  $$@"
	@$(CC) $$(FLAGS_$(1)) $$^ -o $$@ -pthread -lm
-include $(TLS_BACKEND:%.c=$(B)/$(1)/obj/%.d) $(B)/$(1)/obj/apps/host/secure.d
endef
$(foreach v,$(TLS_VARIANTS),$(eval $(call tls_variant,$(v))))

TLS_EXAMPLES := $(wildcard examples/tls/*.c)
THERMOSTAT_HOST := $(filter-out examples/thermostat/board.c,$(wildcard examples/thermostat/*.c))
.PHONY: examples-tls
examples-tls: $(TLS_EXAMPLES:%.c=$(B)/host/%) $(B)/host/examples/thermostat/thermostat
$(TLS_EXAMPLES:%.c=$(B)/host/%): $(B)/host/examples/tls/%: $(B)/host/obj/examples/tls/%.o $(B)/host/libtls.a $(MBEDTLS)/libmbedtls.a $(B)/host/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
$(B)/host/examples/thermostat/thermostat: $(THERMOSTAT_HOST:%.c=$(B)/host/obj/%.o) $(B)/host/thermostat_keys.o $(B)/host/libapps.a $(B)/host/libtls.a \
    $(MBEDTLS)/libmbedtls.a $(B)/host/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
$(B)/host/thermostat_keys.o: $(B)/thermostat/keys.c
	@mkdir -p $(@D)
	@$(CC) -O2 -I. -c $< -o $@
-include $(TLS_EXAMPLES:%.c=$(B)/host/obj/%.d) $(THERMOSTAT_HOST:%.c=$(B)/host/obj/%.d)

# A second back end, over Debian's libbearssl-dev, and its test: build/host/tls-bearssl. In no other program.
BEARSSL_SOURCES := $(call find_c,api/tls/bearssl) tests/unit/tls/other/bearssl.c
BEARSSL_OBJECTS := $(BEARSSL_SOURCES:%.c=$(B)/asan/obj/%.o)
$(B)/host/tls-bearssl: $(BEARSSL_OBJECTS) $(B)/asan/obj/tests/unit/tls/tls_pair.o $(B)/asan/libhelpers.a $(B)/asan/libtls.a $(MBEDTLS)/libmbedtls.a $(B)/asan/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $(FLAGS_asan) $^ -l:libbearssl.a -lcmocka -pthread -lm -o $@
-include $(BEARSSL_OBJECTS:.o=.d)

.PHONY: tls-programs tls-firmware
TLS_BOARD_PROGRAMS := tls_echo thermostat
tls-programs: $(B)/host/weir-host-tls $(B)/host/tls-bearssl examples-tls
tls-firmware: $(TLS_BOARD_PROGRAMS:%=$(B)/boards/mps2-an385/%.elf) $(B)/boards/mps2-an385/update_boot.elf

# The back end is looked at like everything else, with the library's headers.
TLS_LINTED := $(patsubst %.c,$(B)/lint/%.ok,$(TLS_BACKEND) $(TLS_EXAMPLES) $(THERMOSTAT_HOST) $(call find_c,api/tls/bearssl))
$(TLS_LINTED): $(B)/lint/%.ok: %.c .clang-tidy $(B)/host/obj/%.o
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=c11 $(INCLUDES) $(TLS_INCLUDE) >$(@:.ok=.log) 2>/dev/null || { cat $(@:.ok=.log); exit 1; }
	@touch $@
TLS_WARNED := $(patsubst %.c,$(B)/warnings/%.ok,$(TLS_BACKEND) $(TLS_EXAMPLES) $(THERMOSTAT_HOST) $(call find_c,api/tls/bearssl))
$(TLS_WARNED): $(B)/warnings/%.ok: %.c $(B)/host/obj/%.o
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) -O2 -Werror $(INCLUDES) $(TLS_INCLUDE) -c $< -o /dev/null
	@clang $(CFLAGS_COMMON) -Werror $(INCLUDES) $(TLS_INCLUDE) -fsyntax-only $<
	@touch $@
check-lint: $(TLS_LINTED)
check-warnings: $(TLS_WARNED)

# On a Cortex-M3, with the lean configuration and no C library's heap: programs of tools/boards.mk's kind.
TLS_BOARD_FLAGS := -DWEIR_TLS_LEAN -DWEIR_TLS_NO_HEAP $(TLS_INCLUDE)
TLS_BOARD_PARTS := $(filter-out api/tls/mbedtls/% api/tls/bearssl/%,$(call find_c,api/tls)) $(TLS_BACKEND)
$(MBEDTLS)/libmbedtls-m3.a: $(MBEDTLS)/ready api/tls/mbedtls/config.h
	@echo "  BUILD $@"
	@$(MAKE) -s -f tools/mbedtls.mk O=$(MBEDTLS)/m3 S=$(MBEDTLS)/source CC=arm-none-eabi-gcc AR=arm-none-eabi-ar LIBRARY=$@ \
	    CFLAGS='-mcpu=cortex-m3 -mthumb -Os -g -ffunction-sections -fdata-sections -DWEIR_TLS_LEAN'
# An echo server below the preemptive kernel's I/O thread.
PROGRAM_PARTS_tls_echo := $(PREEMPT) $(TLS_BOARD_PARTS) examples/tls/firmware/tls_echo.c
PROGRAM_FLAGS_tls_echo := $(TLS_BOARD_FLAGS) -DWEIR_CFG_SOCKETS=4 -DWEIR_CFG_TCP_CONNECTIONS=2 -DWEIR_CFG_DATAGRAM_SOCKETS=0 -UMEMORY_BYTES -DMEMORY_BYTES=40960
# The thermostat (docs/thermostat.md), linked for the boot loader of examples/update. Its keys are made once for a build tree.
THERMOSTAT_KEYS := $(B)/thermostat
$(THERMOSTAT_KEYS)/keys.c: examples/thermostat/keys.py
	@echo "  MAKE  $@"
	@$(PYTHON) $< $(@D) 10.0.0.2 10.0.0.1
THERMOSTAT_BOARD := $(filter-out examples/thermostat/host.c,$(wildcard examples/thermostat/*.c)) $(THERMOSTAT_KEYS)/keys.c
PROGRAM_OPTIONS_thermostat := IGMP=1 SOCKETS=6 TCP_CONNECTIONS=4 DATAGRAM_SOCKETS=1
PROGRAM_PARTS_thermostat := $(APPS_BOARD) $(TLS_BOARD_PARTS) $(THERMOSTAT_BOARD) examples/update/memory_flash.c apps/clients.c \
    $(wildcard apps/tls/*.c apps/http/*.c apps/mqtt/*.c apps/mdns/*.c apps/update/*.c)
PROGRAM_FLAGS_thermostat := $(TLS_BOARD_FLAGS) $(call as_flags,$(PROGRAM_OPTIONS_thermostat)) -Iapps -DTLS_STREAM_SCRATCH=2048 -UMEMORY_BYTES -DMEMORY_BYTES=57344
PROGRAM_LINK_thermostat := $(PROGRAM_LINK_update_program)
PROGRAM_NO_KERNEL_thermostat := yes
# What `make run BOARD=mps2-an385 PROGRAM=thermostat` has beside it.
RUN_NEEDS_thermostat := thermostat
RUN_WITH_thermostat := $(B)/boards/mps2-an385/update_boot.elf $(B)/venv/ready
$(foreach p,$(TLS_BOARD_PROGRAMS),$(eval PROGRAM_BOARDS_$(p) := mps2-an385)$(eval PROGRAM_LIBRARIES_$(p) := $(MBEDTLS)/libmbedtls-m3.a)\
    $(eval $(call program,mps2-an385,$(p)))$(eval $$(PROGRAM_OBJECTS_mps2-an385_$(p)): | $(MBEDTLS)/ready))
