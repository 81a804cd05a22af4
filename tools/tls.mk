# SPDX-License-Identifier: BSD-2-Clause
# TLS (api/tls) over Mbed TLS, which is no part of the tree: its source comes as Debian's source package of the release named here (3.6, the
# newest long-term branch that a package manager carries), and is built once for this machine and once for a Cortex-M3.
#   build/mbedtls/source             the library as fetched
#   build/mbedtls/libmbedtls.a       … built as api/tls/mbedtls/config.h says
#   build/VARIANT/weir-host-tls      the host program with HTTPS
#   build/VARIANT/libtls.a           the back end, api/tls/mbedtls; the rest of api/tls is in liball.a
MBEDTLS := $(B)/mbedtls
MBEDTLS_RELEASE := trixie
TLS_VARIANTS := $(filter host asan tsan v4,$(VARIANTS))
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
.PHONY: examples-tls
examples-tls: $(TLS_EXAMPLES:%.c=$(B)/host/%)
$(TLS_EXAMPLES:%.c=$(B)/host/%): $(B)/host/examples/tls/%: $(B)/host/obj/examples/tls/%.o $(B)/host/libtls.a $(MBEDTLS)/libmbedtls.a $(B)/host/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
-include $(TLS_EXAMPLES:%.c=$(B)/host/obj/%.d)

# A second back end, over Debian's libbearssl-dev, and its test: build/host/tls-bearssl. In no other program.
BEARSSL_SOURCES := $(call find_c,api/tls/bearssl) tests/unit/tls/other/bearssl.c
BEARSSL_OBJECTS := $(BEARSSL_SOURCES:%.c=$(B)/asan/obj/%.o)
$(B)/host/tls-bearssl: $(BEARSSL_OBJECTS) $(B)/asan/obj/tests/unit/tls/tls_pair.o $(B)/asan/libhelpers.a $(B)/asan/libtls.a $(MBEDTLS)/libmbedtls.a $(B)/asan/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $(FLAGS_asan) $^ -l:libbearssl.a -lcmocka -pthread -lm -o $@
-include $(BEARSSL_OBJECTS:.o=.d)

.PHONY: tls-programs tls-firmware
tls-programs: $(B)/host/weir-host-tls $(B)/host/tls-bearssl examples-tls
tls-firmware: $(B)/boards/mps2-an385/tls_echo.elf

# The back end is looked at like everything else, with the library's headers.
TLS_LINTED := $(patsubst %.c,$(B)/lint/%.ok,$(TLS_BACKEND) $(TLS_EXAMPLES) $(call find_c,api/tls/bearssl))
$(TLS_LINTED): $(B)/lint/%.ok: %.c .clang-tidy $(B)/host/obj/%.o
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=c11 $(INCLUDES) $(TLS_INCLUDE) >$(@:.ok=.log) 2>/dev/null || { cat $(@:.ok=.log); exit 1; }
	@touch $@
TLS_WARNED := $(patsubst %.c,$(B)/warnings/%.ok,$(TLS_BACKEND) $(TLS_EXAMPLES) $(call find_c,api/tls/bearssl))
$(TLS_WARNED): $(B)/warnings/%.ok: %.c $(B)/host/obj/%.o
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) -O2 -Werror $(INCLUDES) $(TLS_INCLUDE) -c $< -o /dev/null
	@clang $(CFLAGS_COMMON) -Werror $(INCLUDES) $(TLS_INCLUDE) -fsyntax-only $<
	@touch $@
check-lint: $(TLS_LINTED)
check-warnings: $(TLS_WARNED)

# On a Cortex-M3: build/boards/mps2-an385/tls_echo.elf, with the lean configuration and no C library's heap. (It is not among `make firmware`, which
# fetches nothing.)
TLS_BOARD := $(B)/boards/mps2-an385/tls_echo
TLS_BOARD_FLAGS := -DWEIR_TLS_LEAN -DWEIR_TLS_NO_HEAP $(TLS_INCLUDE) -DWEIR_CFG_SOCKETS=4 -DWEIR_CFG_TCP_CONNECTIONS=2 -DWEIR_CFG_DATAGRAM_SOCKETS=0 -UMEMORY_BYTES -DMEMORY_BYTES=40960
TLS_BOARD_SOURCES := $(wildcard boards/cortex_m/*.c boards/mps2-an385/*.c) $(BOARD_DRIVERS_mps2-an385) $(SRC_small) $(BOARD_KERNEL_mps2-an385) $(PREEMPT) \
    $(filter-out api/tls/mbedtls/% api/tls/bearssl/%,$(call find_c,api/tls)) $(TLS_BACKEND) examples/tls/firmware/tls_echo.c
TLS_BOARD_OBJECTS := $(TLS_BOARD_SOURCES:%.c=$(TLS_BOARD)/%.o)
TLS_BOARD_CC = $(BOARD_CC_mps2-an385) $(TLS_BOARD_FLAGS)
$(TLS_BOARD_OBJECTS): $(TLS_BOARD)/%.o: %.c tools/tls.mk | $(MBEDTLS)/ready
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(TLS_BOARD_CC) -MMD -MP -c $< -o $@
$(MBEDTLS)/libmbedtls-m3.a: $(MBEDTLS)/ready api/tls/mbedtls/config.h
	@echo "  BUILD $@"
	@$(MAKE) -s -f tools/mbedtls.mk O=$(MBEDTLS)/m3 S=$(MBEDTLS)/source CC=arm-none-eabi-gcc AR=arm-none-eabi-ar LIBRARY=$@ \
	    CFLAGS='-mcpu=cortex-m3 -mthumb -Os -g -ffunction-sections -fdata-sections -DWEIR_TLS_LEAN'
$(TLS_BOARD).elf: $(TLS_BOARD_OBJECTS) $(MBEDTLS)/libmbedtls-m3.a boards/mps2-an385/link.ld
	@echo "  LINK  $@"
	@$(TLS_BOARD_CC) --specs=nano.specs -nostartfiles -T boards/mps2-an385/link.ld -Wl,--gc-sections -Wl,-Map=$@.map $(filter %.o %.a,$^) -o $@
-include $(TLS_BOARD_OBJECTS:.o=.d)
