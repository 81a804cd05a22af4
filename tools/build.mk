# SPDX-License-Identifier: BSD-2-Clause
# Library, applications and test programs, once for each variant, out of tree:
#   build/VARIANT/liball.a         src/ of one profile, with what of api/, ports/ and drivers/ its tests use (PARTS_…): all names can be reached by tests.
#                                  (The library for users is packaging/library.mk's.)
#   build/VARIANT/libapps.a        apps/ without the main program
#   build/VARIANT/weir-host        the host program (apps/host)
#   build/VARIANT/weir-run         the server of weir-run (apps/run), with libweir-run.so, which it preloads, beside it
#   build/VARIANT/weir-script      what plays conversation scripts (sim/script), driven by its runner
#   build/VARIANT/weir-sim         the simulator's program (sim/main.c)
#   build/VARIANT/tests/DIR/NAME   one program for each tests/unit/DIR/NAME_test.c
#   build/VARIANT/quick/DIR/NAME   the same of what it includes alone, for `make test T=…`, where that links
# A test that includes <pthread.h> is built for tsan as well; one with a line `// needs IPv6` only where that is; one with a line
# `// also without IPv4` in variant v6, too, one with `// only without IPv4` there alone. A line `// profiles: tiny small` in a test builds it in those
# variants, too (tiny, tiny6, small, small6, and small_apps, small6_apps with applications, all with sanitizers); a line `// not on mips: reason` keeps it off mips. Other files in tests/unit
# are helpers: a variant has those of tests/unit itself and of the folders whose tests it has.

WARNINGS := -Wall -Wextra -Wshadow -Wundef
CFLAGS_COMMON := -std=c11 -g $(WARNINGS)
INCLUDES := -Iinclude -Isrc -Iapi -Iapps -I.
TLS_LIBRARIES := %/libtls.a %/libmbedtls.a  # tools/tls.mk; what is linked to them has a variant's own first
# What a test itself does takes no time. What tests share has -O1, which is compiled in half the time of -O2 (and sees less of what is initialized). A test
# has -O0, in half the time of -O1, in variants that have all that it names: elsewhere an optimised build alone leaves out the calls that are never made.
$(foreach v,host v4 mips,$(eval TEST_FLAGS_$(v) := -O1 -Wno-maybe-uninitialized))
$(foreach v,asan v6 tsan small_apps small6_apps,$(eval ONE_TEST_FLAGS_$(v) := -O0))
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

find_c = $(sort $(shell find $(1) -name '*.c' 2>/dev/null))
SRC := $(call find_c,src)
SELF_CHECKS := src/link/self_check.c src/tcp/self_check.c
include tools/left_out.mk
# NAME=VALUE words as the compiler takes them.
as_flags = $(patsubst %,-DWEIR_CFG_%,$(1))
SRC_tiny := $(filter-out $(call left_out,tiny),$(SRC))
SRC_small := $(filter-out $(call left_out,small),$(SRC))
SRC_full := $(filter-out $(call left_out,full),$(SRC))
SIM_MAIN := sim/main.c sim/script/engine.c
# The Romantiki API over BSD sockets has the names of the one over Weir: it is linked to its own programs only.
# Of the preemptive kernel's architectures only a program's own runs here, of the microkernel none.
OTHER_ARCHITECTURES := $(filter-out %/host.c %/plain_call.c,$(wildcard kernel/preempt/arch/*.c kernel/micro/arch/*.c))
HOST_PARTS := $(filter-out $(SIM_MAIN) api/tls/mbedtls/% api/tls/bearssl/% api/romantiki/bsd/% api/flock/trap.c ports/preempt/process_calls.c ports/micro/process_% $(OTHER_ARCHITECTURES),$(call find_c,api kernel ports/posix ports/common ports/coop ports/preempt ports/micro drivers sim))
APP_MAIN := $(call find_c,apps/host)
# weir-run: the server, and the library that is preloaded into programs (docs/weir-run.md).
RUN_MAIN := $(sort $(wildcard apps/run/*.c))
RUN_LIBRARY := $(sort $(wildcard apps/run/preload/*.c))
APP_PARTS := $(filter-out $(APP_MAIN) apps/run/%,$(call find_c,apps))
# Those of boards and of the works' systems have kernels of their own.
EXAMPLES := $(filter-out examples/firmware/% examples/freertos/% examples/romantiki/% examples/flock/% examples/either/% examples/lyraos/% examples/linux_netdev/% examples/micro/% examples/xinu/% examples/tls/% examples/thermostat/% examples/update/%,$(call find_c,examples))
# In C++, which every header can be included from.
EXAMPLES_CXX := $(sort $(wildcard examples/*.cpp))
UNIT_ALL := $(call find_c,tests/unit)
SMALL_BUILDS := tiny tiny6 small small_apps small6 small6_apps
VARIANTS := host v4 v6 asan tsan mips $(SMALL_BUILDS) lean
UNIT_IP6_ALONE := $(if $(UNIT_ALL),$(shell grep -l '^// only without IPv4' $(UNIT_ALL)))
UNIT_TESTS := $(filter-out $(UNIT_IP6_ALONE),$(filter %_test.c,$(UNIT_ALL)))
UNIT_HELPERS := $(filter-out %_test.c,$(UNIT_ALL))
UNIT_THREADED := $(if $(UNIT_TESTS),$(shell grep -l '<pthread.h>' $(UNIT_TESTS)))
UNIT_NOT_MIPS := $(if $(UNIT_TESTS),$(shell grep -l '^// not on mips:' $(UNIT_TESTS)))
UNIT_NOT_LEAN := $(if $(UNIT_TESTS),$(shell grep -l '^// not lean:' $(UNIT_TESTS)))
$(foreach p,$(SMALL_BUILDS),$(eval UNIT_$(p) := $(if $(UNIT_ALL),$(shell grep -lw '^// profiles:.*$(p)' $(filter %_test.c,$(UNIT_ALL))))))

# Beside each object a file says which headers it had: those are thousands, and reading them takes make seconds. Where each goal is a file of a variant
# or a board, which needs no objects but of the variant's or the board's own folder, those of the others are not read. (tests/unit/goals_test.py)
GOALS := $(filter-out host-flags list-tests list-board-programs $(B)/venv/ready,$(or $(MAKECMDGOALS),all))
folder_of = $(if $(filter boards,$(word 1,$(1))),boards/$(word 2,$(1)),$(word 1,$(1)))
FOLDERS := $(sort $(foreach goal,$(GOALS),$(if $(filter $(B)/%,$(goal)),$(call folder_of,$(subst /, ,$(goal:$(B)/%=%))),$(goal))))
OF_ALL := $(filter-out $(VARIANTS) boards/%,$(FOLDERS))$(filter $(B)/host/tls-bearssl,$(GOALS))
# $(call headers_of,FOLDER,FILES)
headers_of = $(if $(OF_ALL)$(filter $(1),$(FOLDERS)),$(2))

# $(call variant,NAME,COMPILER,FLAGS,LINK FLAGS,LIBRARY SOURCES,TEST SOURCES,ARCHIVER)
define variant
FLAGS_$(1) := $(CFLAGS_COMMON) $(3)
LIB_OBJECTS_$(1) := $(patsubst %.c,$(B)/$(1)/obj/%.o,$(5))
APP_OBJECTS_$(1) := $(patsubst %.c,$(B)/$(1)/obj/%.o,$(if $(filter tiny%,$(1)),,$(APP_PARTS)))
MAIN_OBJECTS_$(1) := $(patsubst %.c,$(B)/$(1)/obj/%.o,$(filter-out apps/host/secure.c,$(APP_MAIN)))
HELPER_OBJECTS_$(1) := $(patsubst %.c,$(B)/$(1)/obj/%.o,$(foreach d,tests/unit/ $(sort $(dir $(6))),$(foreach h,$(UNIT_HELPERS),$(if $(filter $(d),$(dir $(h))),$(h)))))
ARCHIVED_$(1) := $$(LIB_OBJECTS_$(1)) $$(APP_OBJECTS_$(1)) $$(HELPER_OBJECTS_$(1))
TEST_OBJECTS_$(1) := $(patsubst %.c,$(B)/$(1)/obj/%.o,$(6))
TESTS_$(1) := $(patsubst tests/unit/%_test.c,$(B)/$(1)/tests/%,$(6))

$(B)/$(1)/obj/%.o: %.c $(B)/$(1)/flags
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$(2) $$(FLAGS_$(1)) $(INCLUDES) $$(if $$(filter tests/% fuzz/%,$$<),-Itests/unit $$(TEST_FLAGS_$(1))) $$(if $$(filter %_test.c,$$<),$$(ONE_TEST_FLAGS_$(1))) $$(TLS_FLAGS) $$(RTOS2_FLAGS) -MMD -MP -c $$< -o $$@
$(B)/$(1)/flags: always
	@mkdir -p $$(@D)
	@printf '%s\n' '$(2) $$(FLAGS_$(1)) $$(TEST_FLAGS_$(1)) $$(ONE_TEST_FLAGS_$(1)) $(INCLUDES)' | cmp -s - $$@ || printf '%s\n' '$(2) $$(FLAGS_$(1)) $$(TEST_FLAGS_$(1)) $$(ONE_TEST_FLAGS_$(1)) $(INCLUDES)' > $$@
# On threads' stacks the C library and sanitizers find room.
$(B)/$(1)/obj/api/cmsis_rtos2/%.o $(B)/$(1)/obj/tests/unit/kernel/rtos2_test.o: RTOS2_FLAGS := -DRTOS2_POOL_BYTES=2097152 -DRTOS2_STACK_BYTES=131072
# The list of objects is a file, so that an archive is made anew also when a source went away.
$(B)/$(1)/objects: always
	@mkdir -p $$(@D)
	@printf '%s\n' $$(ARCHIVED_$(1)) | cmp -s - $$@ || printf '%s\n' $$(ARCHIVED_$(1)) > $$@
$(B)/$(1)/liball.a: $$(LIB_OBJECTS_$(1)) $(B)/$(1)/objects
	@echo "  AR    $$@"
	@rm -f $$@ && $(7) rcs $$@ $$(LIB_OBJECTS_$(1))
$(B)/$(1)/libapps.a: $$(APP_OBJECTS_$(1)) $(B)/$(1)/objects
	@echo "  AR    $$@"
	@rm -f $$@ && $(7) rcs $$@ $$(APP_OBJECTS_$(1))
$(B)/$(1)/weir-host: $$(MAIN_OBJECTS_$(1)) $(B)/$(1)/libapps.a $(B)/$(1)/liball.a
	@echo "  LINK  $$@"
	@$(2) $$(FLAGS_$(1)) $$^ -o $$@ $(4) -pthread -lm
$(B)/$(1)/weir-run: $(RUN_MAIN:%.c=$(B)/$(1)/obj/%.o) $(B)/$(1)/libapps.a $(B)/$(1)/liball.a | $(B)/$(1)/libweir-run.so
	@echo "  LINK  $$@"
	@$(2) $$(FLAGS_$(1)) $$^ -o $$@ $(4) -pthread -lm
$(B)/$(1)/libweir-run.so: $(RUN_LIBRARY) $(wildcard apps/run/*.h apps/run/preload/*.h)
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	@$(CC) $(CFLAGS_COMMON) -O2 -fPIC -shared -fvisibility=hidden -Iapps $(RUN_LIBRARY) -o $$@
$(B)/$(1)/weir-script: $(B)/$(1)/obj/sim/script/engine.o $(B)/$(1)/liball.a
	@echo "  LINK  $$@"
	@$(2) $$(FLAGS_$(1)) $$^ -o $$@ $(4) -pthread -lm
$(B)/$(1)/weir-sim: $(B)/$(1)/obj/sim/main.o $(B)/$(1)/liball.a
	@echo "  LINK  $$@"
	@$(2) $$(FLAGS_$(1)) $$^ -o $$@ $(4) -lm
$(B)/$(1)/libhelpers.a: $$(HELPER_OBJECTS_$(1)) $(B)/$(1)/objects
	@echo "  AR    $$@"
	@rm -f $$@ && $(7) rcs $$@ $$(HELPER_OBJECTS_$(1))
$$(TESTS_$(1)): $(B)/$(1)/tests/%: $(B)/$(1)/obj/tests/unit/%_test.o $(B)/$(1)/libhelpers.a $(B)/$(1)/libapps.a $(B)/$(1)/liball.a $$(CMOCKA_$(1))
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	@$(2) $$(FLAGS_$(1)) $$< $(B)/$(1)/libhelpers.a $(B)/$(1)/libapps.a $$(filter $(TLS_LIBRARIES),$$^) $(B)/$(1)/liball.a -o $$@ $(4) $$(or $$(CMOCKA_$(1)),-lcmocka) -pthread -lm
# A test with those objects alone that $(QUICK), which tests/run.py writes, makes prerequisites of it.
$(B)/$(1)/quick/%: $(B)/$(1)/obj/tests/unit/%_test.o $$(CMOCKA_$(1))
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	@rm -f $$@.a && $(7) rcs $$@.a $$(filter-out $$< $$(CMOCKA_$(1)),$$^)
	@$(2) $$(FLAGS_$(1)) $$< $$@.a -o $$@ $(4) $$(or $$(CMOCKA_$(1)),-lcmocka) -pthread -lm
.PHONY: tests-$(1)
tests-$(1): $$(TESTS_$(1))
-include $$(call headers_of,$(1),$$(patsubst %.o,%.d,$$(LIB_OBJECTS_$(1)) $$(APP_OBJECTS_$(1)) $$(MAIN_OBJECTS_$(1)) $$(HELPER_OBJECTS_$(1)) $$(TEST_OBJECTS_$(1))) $(RUN_MAIN:%.c=$(B)/$(1)/obj/%.d) $(SIM_MAIN:%.c=$(B)/$(1)/obj/%.d))
endef

.PHONY: always apps examples tests
always:
.SECONDARY:

MIPS_CC := mips-linux-gnu-gcc
CMOCKA_mips := $(B)/mips/cmocka.o
INCLUDES_mips := -I$(B)/mips/cmocka/include
# full speaks IPv4 alone, and so do its variants v4 and tsan; the others, and the host program, speak both families.
OPTIONS_both := IP6=1 IP6_TEMPORARY=1 IP6_OPTIMISTIC=1 IP6_MULTIHOMED=1 IP_OPTIONS=1 MULTICAST_SOURCES=16 TCP_BLACK_HOLE=1 DPLPMTUD=1 TRACE=3
DUAL := $(call as_flags,$(OPTIONS_both))
# What a program is compiled with that build/host/liball.a is linked to: cc $(make -s host-flags) …
.PHONY: host-flags
host-flags:
	@echo '$(DUAL)'
FULL := $(SRC_full) $(HOST_PARTS)
SRC_both := $(filter-out $(call left_out,full $(OPTIONS_both)),$(SRC))
BOTH := $(SRC_both) $(HOST_PARTS)
UNIT_IP6 := $(if $(UNIT_TESTS),$(shell grep -l '^// needs IPv6' $(UNIT_TESTS)))
# -g1 where there are hundreds of programs: a report names functions and lines, and each takes a third less room. host
# and the small profiles keep all that a debugger asks for.
$(eval $(call variant,host,$(CC),-O2 $(DUAL),,$(BOTH),$(UNIT_TESTS),ar))
$(eval $(call variant,v4,$(CC),-g1 -O2,,$(FULL),$(filter-out $(UNIT_IP6) tests/unit/tls/%,$(UNIT_TESTS)),ar))
$(eval $(call variant,asan,$(CC),-g1 $(SANITIZE) -DWEIR_CFG_SELF_CHECK=1 $(DUAL),,$(sort $(BOTH) $(SELF_CHECKS)),$(UNIT_TESTS),ar))
$(eval $(call variant,tsan,$(CC),-g1 -O1 -fsanitize=thread,,$(FULL),$(UNIT_THREADED),ar))
$(eval $(call variant,mips,$(MIPS_CC),-g1 -O2 $(DUAL) $(INCLUDES_mips),-static,$(BOTH),$(filter-out $(UNIT_NOT_MIPS),$(UNIT_TESTS)),mips-linux-gnu-ar))
# The small profiles on this machine, for the tests that say so, of IPv4 and of IPv6.
# tiny has no applications, and beside its own sources those parts that its tests use, or that no profile has but a test.
PARTS_tiny := $(filter src/base/% src/wire/% src/cc/%,$(filter-out $(filter-out $(SRC_full),$(BOTH)) src/base/stream_ahead.c src/base/stream_chunk.c src/base/table.c src/base/wheel.c $(filter-out src/cc/common.c src/cc/list.c src/cc/reno.c,$(filter src/cc/%,$(SRC))),$(SRC))) \
    src/tcp/flight_simple.c src/tcp/rtt.c drivers/at91_emac.c drivers/lan9118.c drivers/mii.c
PARTS_tiny6 := $(filter-out src/base/stream_ahead.c src/base/stream_chunk.c src/base/table.c src/base/wheel.c,$(filter src/base/% src/wire/%,$(SRC_both))) \
    drivers/at91_emac.c drivers/lan9118.c drivers/mii.c
# small has what runs over it; src/wire whole, since tests make packets of both families by hand.
PARTS_small := $(SELF_CHECKS) $(filter src/wire/%,$(SRC_both)) $(filter api/bsd/% drivers/% ports/common/% ports/posix/%,$(HOST_PARTS)) \
    $(addprefix ports/micro/,channel.c client.c netif.c processes.c quota.c relay.c server.c)
TINY6 := IP4=0 IP6=1
SRC_tiny6 := $(filter-out $(call left_out,tiny $(TINY6)),$(SRC))
SMALL6 := IP4=0 IP6=1 ADDRESSES=4
SRC_small6 := $(filter-out $(call left_out,small $(SMALL6)),$(SRC))
$(eval $(call variant,tiny,$(CC),$(SANITIZE) -DWEIR_PROFILE_TINY,,$(sort $(SRC_tiny) $(PARTS_tiny)),$(UNIT_tiny),ar))
$(eval $(call variant,tiny6,$(CC),$(SANITIZE) -DWEIR_PROFILE_TINY $(call as_flags,$(TINY6)),,$(sort $(SRC_tiny6) $(PARTS_tiny6)),$(UNIT_tiny6),ar))
$(eval $(call variant,small,$(CC),$(SANITIZE) -DWEIR_PROFILE_SMALL -DWEIR_CFG_SELF_CHECK=1,,$(sort $(SRC_small) $(PARTS_small)),$(UNIT_small),ar))
# What runs applications against themselves: small with a loopback and more sockets.
SMALL_APPS := ADDRESSES=4 HANDLERS=1 IGMP=1 LOOPBACK=1 LOOPBACK_BYTES=65536 RAW=1 TABLES=1 TCP_INFO=1 SOCKETS=4000 SOCKET_INDEX_BITS=13 LISTENERS=160 \
    DATAGRAM_SOCKETS=8 DATAGRAM_SEND_BYTES=8192 DATAGRAM_RECEIVE_BYTES=8192 LISTEN_BACKLOG_MAX=1024 TCP_HALF_OPEN=1024 NEIGHBOURS=24 NEIGHBOUR_STRANGERS=8
SRC_small_apps := $(filter-out $(call left_out,small $(SMALL_APPS)),$(SRC))
$(eval $(call variant,small_apps,$(CC),$(SANITIZE) -DWEIR_PROFILE_SMALL $(call as_flags,$(SMALL_APPS)) -DWEIR_CFG_SELF_CHECK=1,,$(sort $(SRC_small_apps) $(PARTS_small)),$(UNIT_small_apps),ar))
SRC_small6_apps := $(filter-out $(call left_out,small IP4=0 IP6=1 $(SMALL_APPS)),$(SRC))
$(eval $(call variant,small6_apps,$(CC),$(SANITIZE) -DWEIR_PROFILE_SMALL $(call as_flags,IP4=0 IP6=1 $(SMALL_APPS)) -DWEIR_CFG_SELF_CHECK=1,,$(sort $(SRC_small6_apps) $(PARTS_small)),$(UNIT_small6_apps),ar))
$(eval $(call variant,small6,$(CC),$(SANITIZE) -DWEIR_PROFILE_SMALL $(call as_flags,$(SMALL6)) -DWEIR_CFG_SELF_CHECK=1,,$(sort $(SRC_small6) $(PARTS_small)),$(UNIT_small6),ar))
# full without what has no file of its own, or has one that other tests never miss; and with one congestion control. The tests of what stays, as far as
# they do not say why not (// not lean: reason).
OPTIONS_lean := SELF_CHECK=1 BSD_FAULTS=0 BSD_POLL=0 TX_OFFLOAD=0 TCP_PREDICT=0 FAST_PATH=0 CC_RENO=0 CC_BIC=0 CC_HTCP=0 CC_VEGAS=0 CC_WESTWOOD=0 CC_YEAH=0 CC_BBR=0 CC_BBR3=0
SRC_lean := $(filter-out $(call left_out,full $(OPTIONS_lean)),$(SRC))
PARTS_lean := $(filter api/bsd/% ports/posix/% ports/common/% drivers/wrap/%,$(HOST_PARTS))
UNIT_lean := $(filter-out $(UNIT_NOT_LEAN) $(UNIT_IP6),$(filter tests/unit/bsd/% tests/unit/tcp/% tests/unit/socket/% tests/unit/threads/%,$(UNIT_TESTS)))
$(eval $(call variant,lean,$(CC),-g1 -O1 $(call as_flags,$(OPTIONS_lean)),,$(SRC_lean) $(PARTS_lean),$(UNIT_lean),ar))
# IPv6 alone, with all that the builds of both families have of it. What tests read and make by hand is of both families.
UNIT_v6 := $(UNIT_IP6_ALONE) $(if $(UNIT_TESTS),$(shell grep -l '^// also without IPv4' $(UNIT_TESTS)))
OPTIONS_v6 := IP4=0 $(filter-out IP_OPTIONS=1,$(OPTIONS_both)) SELF_CHECK=1
SRC_v6 := $(filter-out $(call left_out,full $(OPTIONS_v6)),$(SRC))
$(eval $(call variant,v6,$(CC),-g1 -O1 $(call as_flags,$(OPTIONS_v6)),,$(sort $(SRC_v6) $(filter src/wire/%,$(SRC))) $(HOST_PARTS),$(UNIT_v6),ar))
# For `make coverage` alone: not one of the variants that `make test` runs.
$(eval $(call variant,coverage,$(CC),-Og -Wno-maybe-uninitialized --coverage $(DUAL),,$(BOTH),$(UNIT_TESTS),ar))

apps: $(if $(APP_MAIN),$(B)/host/weir-host) $(B)/host/weir-run $(B)/host/weir-sim examples
examples: $(patsubst examples/%.c,$(B)/host/examples/%,$(EXAMPLES)) $(patsubst examples/%.cpp,$(B)/host/examples/%,$(EXAMPLES_CXX))
# The real-time benchmark's simulated part.
$(B)/host/weir-realtime: $(B)/host/obj/bench/realtime/realtime_sim.o $(B)/host/obj/bench/realtime/xinu.o $(B)/host/liball.a
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
$(B)/host/weir-realtime-both: $(B)/host/obj/bench/realtime/both_sim.o $(B)/host/libapps.a $(B)/host/liball.a
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
-include $(B)/host/obj/bench/realtime/realtime_sim.d $(B)/host/obj/bench/realtime/xinu.d $(B)/host/obj/bench/realtime/both_sim.d
# The laboratory's link emulator, what user-mode Linux needs on newer processors, and what a machine model in its own time needs (tools/machines).
.PHONY: lab-programs
lab-programs: $(B)/host/weir-link $(B)/host/weir-machine-peer $(B)/host/instruction_count.so $(if $(filter x86_64,$(shell uname -m)),$(B)/host/uml_xstate.so)
$(B)/host/uml_xstate.so: lab/uml_xstate.c
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS_COMMON) -O2 -fPIC -shared $< -o $@
$(B)/host/instruction_count.so: tools/machines/count.c
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS_COMMON) -O2 -fPIC -shared $< -o $@
$(B)/host/weir-machine-peer: $(B)/host/obj/lab/machine_peer.o $(B)/host/liball.a
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
$(B)/host/weir-link: $(B)/host/obj/lab/link.o $(B)/host/liball.a
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
$(B)/host/examples/%: $(B)/host/obj/examples/%.o $(B)/host/libapps.a $(B)/host/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $^ -o $@ -pthread -lm
-include $(patsubst %.c,$(B)/host/obj/%.d,$(EXAMPLES))
CXXFLAGS_COMMON := -std=c++17 -g $(WARNINGS)
$(B)/host/examples/%: examples/%.cpp $(B)/host/libapps.a $(B)/host/liball.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CXX) $(CXXFLAGS_COMMON) -O2 $(DUAL) $(INCLUDES) -MMD -MP -MF $@.d $(filter %.cpp %.a,$^) -o $@ -pthread
-include $(patsubst examples/%.cpp,$(B)/host/examples/%.d,$(EXAMPLES_CXX))
# Romantiki's programs over BSD sockets and POSIX threads: build/host/romantiki/PROGRAM.
apps: $(patsubst examples/romantiki/%.c,$(B)/host/romantiki/%,$(wildcard examples/romantiki/*.c))
ROMANTIKI_BSD := $(wildcard api/romantiki/bsd/*.c)
$(B)/host/romantiki/%: examples/romantiki/%.c $(ROMANTIKI_BSD) api/romantiki/bsd/bsd.h api/romantiki/romantiki.h
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS_COMMON) -O2 $(INCLUDES) -DROMANTIKI_BSD $< $(ROMANTIKI_BSD) -o $@ -pthread
-include $(QUICK)
tests: $(addprefix tests-,$(VARIANTS))
# For tests/run.py: what there is to build and run.
.PHONY: list-tests
list-tests:
	@printf '%s\n' $(foreach v,$(VARIANTS),$(TESTS_$(v)))

# cmocka for big-endian MIPS: Debian has no package, but it is one C file.
$(B)/mips/cmocka/ready: tools/aptsource.sh
	@echo "  FETCH cmocka"
	@tools/aptsource.sh cmocka $(@D) >$(B)/mips-cmocka.log 2>&1 || { cat $(B)/mips-cmocka.log; exit 1; }
	@touch $@
$(B)/mips/cmocka.o: $(B)/mips/cmocka/ready
	@echo "  CC    $@"
	@$(MIPS_CC) -O1 -I$(B)/mips/cmocka/include -DHAVE_CLOCK_GETTIME=1 -DHAVE_STRUCT_TIMESPEC=1 -DHAVE_SIGNAL_H=1 -DHAVE_STRSIGNAL=1 -DHAVE_STRINGS_H=1 \
	    -DHAVE_INTTYPES_H=1 -DHAVE_TIME_H=1 -DHAVE_UNISTD_H=1 -D_GNU_SOURCE -c $(B)/mips/cmocka/src/cmocka.c -o $@
$(filter $(B)/mips/obj/tests/%,$(TEST_OBJECTS_mips) $(HELPER_OBJECTS_mips)): $(B)/mips/cmocka/ready
