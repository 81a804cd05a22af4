# SPDX-License-Identifier: BSD-2-Clause
# The libraries for a build of one's own (docs/packaging.md). The Makefile passes `make lib`, `make install`, … on to this file.
#   O/include                headers; weir/options.h has the configuration in it, so that a program needs -IO/include and no -D
#   O/libweir.a              the stack
#   O/libweir-PART.a         the libraries beside it (config/parts.toml)
# PROFILE, CONFIG (a header) and OPTIONS (NAME=VALUE …) are the configuration. CROSS is a cross compiler's prefix; PARTS are the parts wanted.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
PYTHON ?= python3
O ?= build/lib
PROFILE ?=
CONFIG ?=
OPTIONS ?=
CROSS ?=
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
NM ?= $(CROSS)nm
OBJCOPY ?= $(CROSS)objcopy
CFLAGS ?= $(if $(CROSS),-Os,-O2) -g -ffunction-sections -fdata-sections

# Where things go, as GNU has it.
prefix ?= $(or $(PREFIX),/usr/local)
exec_prefix ?= $(prefix)
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include

# What is set on the command line and means nothing here: an option stops make, another name is told.
override GIVEN := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(v)))),$(v)))
override OPTION_GIVEN := $(firstword $(filter $(shell sed -n 's/^\[\([A-Z0-9_]*\)\]$$/\1 WEIR_CFG_\1/p' config/options.toml),$(GIVEN)))
ifneq ($(OPTION_GIVEN),)
$(error $(OPTION_GIVEN) is an option: OPTIONS="$(OPTION_GIVEN:WEIR_CFG_%=%)=$($(OPTION_GIVEN))")
endif
override MEANT := PROFILE CONFIG OPTIONS CROSS PARTS O B JOBS PYTHON CC AR NM OBJCOPY CFLAGS CPPFLAGS LDFLAGS prefix PREFIX exec_prefix libdir includedir DESTDIR URL
$(foreach v,$(filter-out $(MEANT),$(GIVEN)),$(warning nothing here is called $(v): it changes nothing (there are $(MEANT))))

# The configuration: PROFILE_BUILT, SOURCES, PARTS_THERE and of each part SOURCES_, HEADERS_, INCLUDE_, USES_ and ONLY_.
STAGED := $(shell $(PYTHON) tools/options.py --stage '$(O)' --cc '$(CC) $(CFLAGS) $(CPPFLAGS)' $(if $(CONFIG),--config '$(CONFIG)') $(PROFILE) $(OPTIONS))
ifneq ($(.SHELLSTATUS),0)
$(error the configuration is wrong)
endif
include $(O)/configuration.mk
PARTS ?= $(foreach p,$(PARTS_THERE),$(if $(and $(CROSS),$(ONLY_$(p))),,$(p)))
UNKNOWN := $(filter-out $(PARTS_THERE),$(PARTS))
ifneq ($(UNKNOWN),)
$(error PARTS: there is no $(UNKNOWN) in this configuration; there are: $(PARTS_THERE))
endif

PUBLIC := $(filter-out %/options.h,$(wildcard include/weir/*.h)) $(wildcard $(PARTS:%=include/weir/linkage/%.h))
HEADERS := $(PUBLIC:include/%=$(O)/include/%) $(foreach p,$(PARTS),$(addprefix $(O)/include/weir/parts/,$(HEADERS_$(p))))
LIBRARIES := $(O)/libweir.a $(PARTS:%=$(O)/libweir-%.a)
VERSION := $(shell sed -n 's/^.define WEIR_VERSION_STRING "\(.*\)"/\1/p' include/weir/version.h)
COMPILE = $(CC) -std=c11 $(CFLAGS) $(CPPFLAGS) -I$(O)/include

.PHONY: lib amalgamation install uninstall sources always
lib: $(LIBRARIES) $(HEADERS)
	@echo "  weir $(VERSION), profile $(PROFILE_BUILT): $(LIBRARIES)"
sources:
	@printf '%s\n' $(SOURCES)

# A change of what is compiled, or how, shows in this file.
$(O)/flags: always
	@echo '$(COMPILE) $(SOURCES) $(PARTS)' | cmp -s - $@ || echo '$(COMPILE) $(SOURCES) $(PARTS)' >$@
$(O)/include/weir/options.h: ;  # staged
$(O)/include/%.h: include/%.h
	@mkdir -p $(@D)
	@cp $< $@
$(O)/include/weir/parts/%.h: %.h
	@mkdir -p $(@D)
	@cp $< $@
# (After the headers: a copy of an older one would be found before the one it is a copy of.)
$(O)/obj/%.o: %.c $(O)/flags $(O)/include/weir/options.h | $(HEADERS)
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(COMPILE) -Iinclude $(if $(filter src/%,$<),-Isrc,-I. -Iapi -Iapps) -MMD -MP -c $< -o $@

# $(call library,NAME,SOURCES)
define library
$(O)/$(1).a: $(patsubst %.c,$(O)/obj/%.o,$(2)) packaging/private_names.sh
	@echo "  AR    $$@"
	@rm -f $$@ && $(AR) rcs $$@ $$(filter %.o,$$^)
	@packaging/private_names.sh $(NM) $(OBJCOPY) $$@
-include $(patsubst %.c,$(O)/obj/%.d,$(2))
endef
$(eval $(call library,libweir,$(SOURCES)))
$(foreach p,$(PARTS),$(eval $(call library,libweir-$(p),$(SOURCES_$(p)))))

# The stack as two files.
amalgamation: $(O)/weir.c
	@echo "  weir $(VERSION), profile $(PROFILE_BUILT): $(O)/weir.c $(O)/weir.h"
$(O)/weir.c: packaging/amalgamate.py $(O)/flags $(O)/include/weir/options.h $(SOURCES) $(PUBLIC) $(shell find src -name '*.h')
	@$(PYTHON) $< $(O) $(O) $(SOURCES)

# What an instance of this configuration needs on this machine, known when compiling.
.PHONY: memory
MEMORY = @$(PYTHON) tools/memory_bytes.py $@ --cc '$(CC) $(CFLAGS) $(CPPFLAGS)' --include $(O)/include $(SOURCES)
$(O)/weir_memory.h: always
	$(MEMORY)
$(O)/include/weir_memory.h: tools/memory_bytes.py $(O)/flags $(O)/include/weir/options.h $(SOURCES) $(PUBLIC) $(shell find src -name '*.h')
	$(MEMORY)
	@touch $@
memory: $(O)/weir_memory.h
	@sed -n 's/^.define \(WEIR_MEMORY_BYTES.*\)/  \1: $(subst /,\/,$(O))\/weir_memory.h/p; s/^.error //p' $(O)/weir_memory.h

INSTALL = $(PYTHON) packaging/install.py $(O) --profile '$(PROFILE_BUILT)' --destdir '$(DESTDIR)' --prefix '$(prefix)' --libdir '$(libdir)' \
    --includedir '$(includedir)' --parts $(PARTS) --headers $(foreach p,$(PARTS),$(HEADERS_$(p)))
install: lib $(O)/include/weir_memory.h
	@$(INSTALL)
uninstall:
	@$(INSTALL) --uninstall
