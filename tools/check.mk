# SPDX-License-Identifier: BSD-2-Clause
# The checks of `make check`, each a goal of its own: `make check-layers` runs one.
CHECKS := format lint source layers symbols names options conformance headers warnings analysis mutations recursion bench docs tutorials licences
C_FILES := $(filter-out include/weir/options.h include/weir/configuration.h include/weir/cc_list.h,$(sort $(shell find include src api kernel ports boards drivers apps examples fuzz proof sim tests bench -name '*.[ch]' 2>/dev/null)))
CXX_FILES := $(sort $(shell find examples -name '*.cpp'))
C_SOURCES := $(BOTH) $(SIM_MAIN) $(APP_MAIN) $(RUN_MAIN) $(RUN_LIBRARY) $(APP_PARTS) $(EXAMPLES)
C_HEADERS := $(filter %.h,$(C_FILES))

.PHONY: checks $(CHECKS:%=check-%)
checks: $(CHECKS:%=check-%)

# Layout: .clang-format.
check-format:
	@clang-format --dry-run -Werror --ferror-limit=3 $(C_FILES) $(CXX_FILES)
	@echo "  ok    format"

# clang-tidy with the chosen list in .clang-tidy; a file is looked at again only when it, or the list, changed.
LINTED := $(patsubst %.c,$(B)/lint/%.ok,$(C_SOURCES))
$(B)/lint/%.ok: %.c .clang-tidy $(B)/host/obj/%.o
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=c11 $(DUAL) $(INCLUDES) >$(@:.ok=.log) 2>/dev/null || { cat $(@:.ok=.log); exit 1; }
	@touch $@
# Sources that only the smaller profiles have.
LINTED_small := $(patsubst %.c,$(B)/lint/%.ok,$(filter-out $(SRC_full),$(SRC_small)))
LINTED_tiny6 := $(patsubst %.c,$(B)/lint/%.ok,$(filter src/compact/%,$(filter-out $(SRC_tiny),$(SRC_tiny6))))
LINTED_tiny := $(patsubst %.c,$(B)/lint/%.ok,$(filter-out $(SRC_full) $(SRC_small),$(SRC_tiny)) src/compact/predict.c src/compact/udp.c src/compact/address.c src/compact/mld1.c) $(LINTED_tiny6)
$(LINTED_tiny6): LINT_FLAGS := $(call as_flags,$(TINY6))
$(B)/lint/src/compact/predict.ok: LINT_FLAGS := -DWEIR_CFG_FAST_PATH=1  # tiny_echo's alone
$(B)/lint/src/compact/udp.ok: LINT_FLAGS := $(call as_flags,$(TINY_UDP))
$(B)/lint/src/compact/address.ok: LINT_FLAGS := $(call as_flags,$(OPTIONS_tiny6_address))
$(B)/lint/src/compact/mld1.ok: LINT_FLAGS := $(call as_flags,$(OPTIONS_tiny6_mld1))
# Those of IPv6 alone.
LINTED_v6 := $(patsubst %.c,$(B)/lint/%.ok,$(filter-out $(BOTH) $(SELF_CHECKS) $(SRC_small) $(SRC_tiny),$(SRC_v6)))
$(LINTED_v6): LINT_PROFILE := FULL
$(LINTED_v6): LINT_FLAGS := $(call as_flags,$(OPTIONS_v6))
$(LINTED_small) $(LINTED_tiny) $(LINTED_v6): $(B)/lint/%.ok: %.c .clang-tidy $(C_HEADERS)
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- -std=c11 $(INCLUDES) -DWEIR_PROFILE_$(or $(LINT_PROFILE),$(if $(filter $@,$(LINTED_tiny)),TINY,SMALL)) $(LINT_FLAGS) >$(@:.ok=.log) 2>/dev/null || { cat $(@:.ok=.log); exit 1; }
	@touch $@
check-lint: $(LINTED) $(LINTED_small) $(LINTED_tiny) $(LINTED_v6)
	@echo "  ok    lint"

# Includes by layer, no #if in function bodies, line length, licence line, no paths of machines; each conversation script cites its RFC.
check-source:
	@$(PYTHON) tools/check_source.py
	@echo "  ok    source"

# Who calls whom, by the symbols of the objects; no variable data in src/.
check-layers: $(B)/host/liball.a $(B)/host/libapps.a $(MAIN_OBJECTS_host) $(B)/host/weir-run
	@$(PYTHON) tools/check_layers.py
	@echo "  ok    layers"

# What each profile asks of the system: config/symbols-PROFILE.txt. One translation unit must compile too.
check-symbols: metal
	@$(PYTHON) tools/check_symbols.py $(PROFILES)
	@echo "  ok    symbols"

# What the libraries for users define: no name that another library may have (packaging/private_names.sh).
check-names: metal
	@$(MAKE) -s -f packaging/library.mk lib O=$(B)/check/lib PROFILE= CONFIG= OPTIONS=
	@$(PYTHON) tools/check_names.py $(PROFILES:%=$(B)/m3/%/libweir.a) $(wildcard $(B)/check/lib/*.a)
	@echo "  ok    names"

check-options:
	@$(PYTHON) tools/options.py --check
	@echo "  ok    options"

# Every row of docs/conformance.md names a test that exists; those of docs/security.md run in each small build that has what they are of, or say why not.
check-conformance:
	@$(PYTHON) tools/check_conformance.py
	@$(PYTHON) tools/check_security.py
	@echo "  ok    conformance"

# Every topic of the conversation scripts has a patch that breaks it, and each patch applies, those of the simulator and of unit tests too, which
# name their test. (`make mutations`, `make sim-mutations` and `make unit-mutations` show that they are caught.)
check-mutations:
	@$(PYTHON) tests/mutations/run.py --check
	@$(PYTHON) tests/mutations/unit/run.py --check
	@echo "  ok    mutations"

# The configurations that the benchmarks are built in.
check-bench:
	@$(MAKE) -s -f bench/bench.mk configurations
	@echo "  ok    bench"

# The site of the documentation: every page has its place in it, and no link leads nowhere.
check-docs: $(B)/docs/ready
	@$(B)/docs/bin/mkdocs build --quiet --site-dir $(B)/check/site
	@echo "  ok    docs"

# The licence of each file: REUSE.toml.
check-licences: $(B)/docs/ready
	@$(B)/docs/bin/reuse lint --quiet || $(B)/docs/bin/reuse lint --lines
	@echo "  ok    licences"

# The programs of docs/start: as short as they say, compiled without a warning, and run as a reader runs them, in a network of their own.
check-tutorials: $(B)/host/liball.a $(B)/host/libapps.a $(B)/host/weir-sim apps $(B)/venv/ready
	@$(MAKE) -s -f packaging/library.mk amalgamation PROFILE=tiny O=$(B)/check/start CONFIG= OPTIONS= >/dev/null
	@$(PYTHON) tools/check_tutorials.py
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL PYTHONPATH=tests $(B)/venv/bin/python -m netns $(B)/venv/bin/python -m pytest -q -p no:cacheprovider \
	    --no-header --no-summary --rootdir tests tests/interop/test_tutorials.py >$(B)/check/tutorials.log 2>&1 || { tail -n 40 $(B)/check/tutorials.log; exit 1; }
	@echo "  ok    tutorials"

# No function of src/ comes back to itself.
check-recursion: $(B)/host/liball.a
	@$(PYTHON) tools/check_recursion.py
	@echo "  ok    recursion"

# Each header compiles alone: those of include/ at every profile, those of src/ at every profile that has sources of their folder; and with IPv6.
# (FreeRTOS is not here; its headers, and what stands in for them, want the user's configuration first. Nor is Mbed TLS: tools/tls.mk.)
ALONE := $(patsubst %,$(B)/headers/%.ok,$(filter-out proof/% tests/freertos/% ports/freertos/% examples/freertos/freertos_board.h api/tls/mbedtls/internal.h api/tls/bearssl/internal.h,$(C_HEADERS)))
profiles_of = $(if $(filter include/%,$1),$(PROFILES),$(if $(filter src/%,$1),$(foreach p,$(PROFILES),$(if $(filter $(dir $1),$(dir $(SRC_$p))),$p)),full))
$(B)/headers/%.ok: % $(filter include/% src/%,$(C_HEADERS))
	@mkdir -p $(@D)
	@for profile in $(call profiles_of,$<); do printf '#include "%s"\n' $< | $(CC) -std=c11 $(WARNINGS) -Wno-unused-function -Wno-unused-variable -Werror $(INCLUDES) -Itests/unit -Iapi/cmsis_rtos2 \
	    -DWEIR_PROFILE_$$(echo $$profile | tr a-z A-Z) -fsyntax-only -x c - || exit 1; done
	@printf '#include "%s"\n' $< | $(CC) -std=c11 $(WARNINGS) -Wno-unused-function -Wno-unused-variable -Werror $(INCLUDES) -Itests/unit -Iapi/cmsis_rtos2 \
	    $(DUAL) -fsyntax-only -x c -
	@touch $@
# What a user includes is C++17 and C23 as well as C11; FreeRTOS's own headers are stood in for here.
PUBLIC_HEADERS := $(filter-out api/tls/mbedtls/internal.h api/tls/bearssl/internal.h,$(filter include/% api/% kernel/% ports/% drivers/% boards/%,$(C_HEADERS) include/weir/options.h include/weir/configuration.h include/weir/cc_list.h))
OTHER_FLAGS := $(WARNINGS) -Wno-unused-function -Werror $(INCLUDES) -Iapi/cmsis_rtos2 -Itests/freertos -Iexamples/freertos -fsyntax-only
$(B)/headers/%.cxx.ok: % $(filter include/% src/%,$(C_HEADERS))
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $< | $(CXX) -std=c++17 -Wpedantic $(OTHER_FLAGS) -x c++ -
	@printf '#include "%s"\n' $< | clang++ -std=c++17 -Wpedantic -Wno-c99-extensions -Wno-unused-const-variable $(OTHER_FLAGS) -x c++ -
	@printf '#include "%s"\n' $< | $(CC) -std=c2x $(OTHER_FLAGS) -Wno-unused-variable -x c -
	@touch $@
ALONE_OTHER := $(PUBLIC_HEADERS:%=$(B)/headers/%.cxx.ok)
check-headers: $(ALONE) $(ALONE_OTHER)
	@echo "  ok    headers"

# No warning from gcc or clang, for this machine; from gcc for each profile of src/, and for a big-endian machine.
WARNED := $(patsubst %.c,$(B)/warnings/%.ok,$(C_SOURCES))
$(B)/warnings/%.ok: %.c $(B)/host/obj/%.o
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_COMMON) -O2 -fanalyzer $(DUAL) $(INCLUDES) -c $< -o /dev/null 2>$(@:.ok=.log) || { cat $(@:.ok=.log); exit 1; }
	@! grep 'warning: ' $(@:.ok=.log) | grep -v '\[-Wanalyzer[a-z-]*\]$$'
	@clang $(CFLAGS_COMMON) -Werror $(DUAL) $(INCLUDES) -fsyntax-only $<
	@$(MIPS_CC) $(CFLAGS_COMMON) -O2 -Werror $(DUAL) $(INCLUDES) -c $< -o /dev/null
	@touch $@
METAL_WARNED := $(foreach p,$(PROFILES),$(patsubst %.c,$(B)/warnings/$(p)/%.ok,$(SRC_$(p))))
define metal_warned
$(B)/warnings/$(1)/%.ok: %.c $(B)/m3/$(1)/obj/%.o
	@mkdir -p $$(@D)
	@$(METAL)gcc $(METAL_FLAGS) -Werror -DWEIR_PROFILE_$(2) -c $$< -o /dev/null
	@touch $$@
endef
$(eval $(call metal_warned,tiny,TINY))
$(eval $(call metal_warned,small,SMALL))
$(eval $(call metal_warned,full,FULL))
check-warnings: $(WARNED) $(METAL_WARNED)
	@echo "  ok    warnings"

# What gcc's analyzer and cppcheck with its MISRA addon find in src/ is mended, or has its reason in config/deviations.toml.
CPPCHECK := cppcheck --quiet --std=c11 --enable=warning,portability,performance --addon=misra --template='{file}:{line}:{id}:{message}' -Iinclude -Isrc
CPPCHECKED := $(patsubst %.c,$(B)/analysis/%.log,$(SRC_full))
CPPCHECKED_tiny := $(patsubst %.c,$(B)/analysis/%.log,$(filter-out $(SRC_full),$(SRC_tiny)))
$(CPPCHECKED): $(B)/analysis/%.log: %.c $(B)/host/obj/%.o
	@rm -rf $@.d && mkdir -p $@.d
	@$(CPPCHECK) -DWEIR_PROFILE_FULL=1 $(DUAL) --cppcheck-build-dir=$@.d $< 2>$@.new
	@mv $@.new $@
$(CPPCHECKED_tiny): $(B)/analysis/%.log: %.c $(filter include/% src/%,$(C_HEADERS))
	@rm -rf $@.d && mkdir -p $@.d
	@$(CPPCHECK) -DWEIR_PROFILE_TINY=1 --cppcheck-build-dir=$@.d $< 2>$@.new
	@mv $@.new $@
check-analysis: $(WARNED) $(CPPCHECKED) $(CPPCHECKED_tiny)
	@$(PYTHON) tools/check_analysis.py $(WARNED:.ok=.log) $(CPPCHECKED) $(CPPCHECKED_tiny)
	@echo "  ok    analysis"
