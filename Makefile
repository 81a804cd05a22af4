# SPDX-License-Identifier: BSD-2-Clause
# Weir's front door. `make run` and `make test` need nothing prepared; `make help` lists the rest. All output goes to build/.
#
#   tools/build.mk     library, applications and test programs, once for each variant (host, asan, tsan, mips, …)
#   tools/boards.mk    firmware for the boards
#   tools/metal.mk     the profiles tiny, small and full for a Cortex-M3, and `make size`
#   tools/check.mk     the checks of `make check`
#   tools/fuzz.mk      the fuzz targets
MAKEFLAGS += --no-builtin-rules
JOBS ?= $(shell nproc)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif
.SUFFIXES:
.DELETE_ON_ERROR:
PYTHON ?= python3
B := build

.PHONY: all help run test script mutations unit-mutations check size bench peers bench-realtime lab fuzz fuzz-control fuzz-replay lib options format clean
all: lib apps

help:
	@sed -n 's/^## //p' Makefile

## make run        builds, brings up a Weir host in a private namespace, and shows Linux's own tools at work against it
##                 (ONCE=1: stops after the demonstration; FAMILY=6: of IPv6 alone; BOARD=name: a board's firmware in QEMU instead, or in a model;
##                 PROGRAM=name: another of its programs, thermostat (docs/thermostat.md) or an echo server)
ifdef BOARD
run:
	$(if $(filter $(BOARD),$(BOARDS)),,$(error there is no board $(BOARD); there are: $(BOARDS)))
	$(if $(filter-out $(call board_programs,$(BOARD)),$(PROGRAM)),$(error there is no program $(PROGRAM) for $(BOARD); there are: $(call board_programs,$(BOARD))))
	@tools/need.sh board
	@$(if $(RUN_NEEDS_$(PROGRAM)),tools/need.sh $(RUN_NEEDS_$(PROGRAM)))
	@$(MAKE) -s $(B)/boards/$(BOARD)/$(or $(PROGRAM),$(RUN_PROGRAM_$(BOARD)),echo).elf $(RUN_WITH_$(PROGRAM)) $(if $(filter $(BOARD),$(MODELLED_BOARDS)),$(B)/venv/ready)
	@$(PYTHON) tools/run_board.py $(BOARD) $(PROGRAM) $(if $(filter-out 0,$(ONCE)),--once)
else
run:
	@tools/need.sh run
	@$(MAKE) -s $(B)/host/weir-host
	@$(PYTHON) tools/run.py $(if $(filter-out 0,$(ONCE)),--once)
endif

## make test       every test from nothing (T='pattern …': only those whose name has one of them)
test:
	@tools/need.sh test
	@$(PYTHON) tests/run.py $(foreach pattern,$(T),'$(pattern)')

## make work       W=lyraos, thesis, xinu, romantiki or linux: that work's tables with Weir's numbers beside its own, in minutes: build/work/W.md
.PHONY: work
work:
	@tools/need.sh $(if $(filter romantiki,$(W)),size,sim)
	@$(PYTHON) tools/work.py $(W)

## make script     conversation scripts in packetdrill's language against Weir (F="path…": files or folders; docs/scripts.md)
script:
	@$(MAKE) -s $(B)/host/weir-script
	@$(PYTHON) sim/script/run.py $(if $(F),$(F),tests/scripts)

## make plot       a trace that weir-sim wrote, drawn (F=trace.csv, OUT=picture.png; without F: of ten seconds over a lossy link)
.PHONY: plot
PLOT_TRACE := $(or $(F),$(B)/plot.csv)
plot:
	@$(MAKE) -s $(B)/venv/ready $(if $(F),,$(B)/host/weir-sim)
	@$(if $(F),,$(B)/host/weir-sim --rate 10 --delay 20 --loss 1 --seconds 10 --trace $(PLOT_TRACE))
	@$(B)/venv/bin/python tools/sim.py plot $(PLOT_TRACE) $(OUT)

## make mutations  shows that each topic of the scripts catches a fault: tests/mutations, one patch a topic (a minute and a half)
mutations:
	@tools/need.sh check
	@$(PYTHON) tests/mutations/run.py $(T)

## make unit-mutations   shows that unit tests catch faults planted into src/: tests/mutations/unit, one patch a fault
unit-mutations:
	@tools/need.sh check
	@$(PYTHON) tests/mutations/unit/run.py $(T)

## make check      format, lint, layers, symbols, options, conformance rows, headers, static analysis, the documentation's site, the tutorials
check:
	@tools/need.sh check
	@$(MAKE) -s --keep-going checks
	@echo "check: everything is in order"

## make size       code, data and stack of each profile on a Cortex-M3, against config/budgets.toml
size:
	@tools/need.sh size
	@$(MAKE) -s size-report

## make sim        random networks in virtual time, everything checked, for SIM_SECONDS (default 60); docs/simulator.md
SIM_SECONDS ?= 60
SIM_SEED ?= 1
.PHONY: sim sim-programs sim-attack sim-golden sim-grid sim-fairness sim-ticks sim-mutations
sim: sim-programs
	@$(PYTHON) tools/sim.py campaign --seconds $(SIM_SECONDS) --seed $(SIM_SEED)
sim-programs:
	@tools/need.sh sim
	@$(MAKE) -s $(B)/host/weir-sim $(B)/asan/weir-sim

## make sim-attack    liars beside honest hosts, for SIM_SECONDS; docs/simulator.md
## make sim-golden    writes sim/golden/goodput.txt anew; sim-grid, sim-fairness, sim-ticks: build/lab/sim-grid.json, … (minutes);
##                    sim-mutations: planted faults that the campaign must find
sim-attack: sim-programs
	@$(B)/host/weir-sim --scenario attack --seed $(SIM_SEED) --count 1000000000 --seconds $(SIM_SECONDS)
	@$(B)/asan/weir-sim --scenario attack --seed $(SIM_SEED) --count 1000000000 --seconds $(SIM_SECONDS)
sim-golden: sim-programs
	@$(PYTHON) tools/sim.py golden --renew
sim-grid: sim-programs
	@$(PYTHON) tools/sim.py grid
sim-fairness: sim-programs
	@$(PYTHON) tools/sim.py fairness
sim-ticks: sim-programs
	@$(PYTHON) tools/sim.py ticks
sim-mutations: sim-programs
	@$(PYTHON) tests/mutations/sim/run.py

## make bench      Weir and its peers in one run: build/bench/*.json, tables and plots (T=pair, host or sim: one part)
bench:
	@tools/need.sh $(if $(filter sim,$(T)),sim,bench)
	@$(MAKE) -s $(B)/host/liball.a apps $(if $(filter sim,$(T)),,$(B)/venv/ready) $(if $(filter sim pair,$(T)),,$(B)/host/weir-host-tls)
	@$(if $(filter sim,$(T)),,$(B)/venv/bin/python bench/run.py $(T))
	@$(if $(filter-out sim,$(T)),,$(PYTHON) tools/sim.py bench)

## make peers      Weir, Linux, gVisor's netstack, lwIP and smoltcp over the same emulated links, Linux at the other end: build/peers/index.html
##                 (as root; about 40 minutes; T='loss receiver': cells whose names have one of the words; PEERS_SEEDS=3, PEERS_SECONDS=4)
PEERS_SEEDS ?= 3
PEERS_SECONDS ?= 4
peers:
	@tools/need.sh bench
	@$(MAKE) -s $(B)/host/weir-host $(B)/host/weir-link weir-run
	@$(PYTHON) bench/peers/run.py --seeds $(PEERS_SEEDS) --seconds $(PEERS_SECONDS) $(T)

## make bench-realtime   the real-time work's benchmark and what grew out of it: build/bench/realtime.json, tables, plots (T="sim weir boards linux tap",
##                 any of them: simulated; both ends Weir, simulated; two boards in QEMU; a Linux sender and both ends Weir over TAPs, as root)
bench-realtime:
	@tools/need.sh bench-realtime
	@$(MAKE) -s $(B)/host/liball.a apps $(B)/host/weir-link $(B)/host/weir-realtime $(B)/host/weir-realtime-both $(B)/boards/mps2-an385/realtime_player.elf \
	    $(B)/boards/arm-virt/realtime_source.elf $(B)/venv/ready
	@$(B)/venv/bin/python bench/realtime/run.py $(T)

## make lab        the works' experiments with Weir and Linux over the same emulated links: build/lab/index.html (QUICK=1: a coarse
##                 pass in ten minutes; FRESH=1: measures anew what is there already; T='thesis grid': some of the experiments)
lab:
	@tools/need.sh lab
	@$(MAKE) -s $(B)/host/liball.a apps lab-programs $(B)/host/weir-sim $(B)/venv/ready
	@$(B)/venv/bin/python lab/lab.py $(if $(filter-out 0,$(QUICK)),--quick) $(if $(filter-out 0,$(FRESH)),--fresh) $(T)

## make attack     floods, scans, slow clients, forged and mutated frames against a host that serves HTTP, an honest client beside them: build/attack
##                 (ATTACK_SECONDS=8 of each; T='syn udp': some of them; LINE=100: Mbit/s of the attackers' line, 0: as fast as they can)
ATTACK_SECONDS ?= 8
LINE ?= 100
## make soak       a host and Linux over a TAP for SOAK_SECONDS (3600): everything at once, nothing may fail, memory must come back: build/soak
SOAK_SECONDS ?= 3600
## make faults     unit programs over an instance with faults that no test planned: each allocation fails, alone or with all after it, the peer
##                 vanishes at each frame (in a child of the program at each place; FAULTS=300 places of a test, then by call stack;
##                 FAULT_SECONDS=20 of the processor for the children of a test; 0: all, no limit); frames are lost, cut, doubled, late, the
##                 driver refuses, the clock jumps, the link flaps (FAULT_SEEDS=4 each); FAULT_KINDS='each-alloc each-allocs': only these;
##                 T='tcp/ small/ip': some programs; FAULT_POINTS=20: a program anew for so many n; one fault a program is part of `make test`
FAULTS ?= 300
FAULT_SECONDS ?= 20
FAULT_POINTS ?= 0
FAULT_SEEDS ?= 4
FAULT_KINDS ?=
.PHONY: attack soak faults
faults:
	@tools/need.sh test
	@$(MAKE) -s tests-asan $(SMALL_BUILDS:%=tests-%)
	@$(PYTHON) tests/faults.py --most $(FAULTS) --seconds $(FAULT_SECONDS) --points $(FAULT_POINTS) --seeds $(FAULT_SEEDS) \
		$(FAULT_KINDS:%=--kind=%) $(T)
attack:
	@tools/need.sh attack
	@$(MAKE) -s $(B)/host/weir-host $(B)/venv/ready
	@$(B)/venv/bin/python tests/attack/run.py --seconds $(ATTACK_SECONDS) --line $(LINE) $(T)
soak:
	@tools/need.sh soak
	@$(MAKE) -s $(B)/host/weir-host
	@$(PYTHON) tests/soak.py --seconds $(SOAK_SECONDS)

## make coverage   what unit tests run of each part of the tree, lines and branches, against config/coverage.toml
.PHONY: coverage
coverage:
	@tools/need.sh test
	@$(MAKE) -s tests-coverage
	@$(PYTHON) tools/coverage.py

## make fuzz       every fuzz target for FUZZ_SECONDS (default 60) each; FUZZ_HOURS=n: all side by side on the cores, n hours
FUZZ_SECONDS ?= 60
fuzz:
	@tools/need.sh fuzz
	@$(PYTHON) fuzz/run.py $(if $(FUZZ_HOURS),--hours $(FUZZ_HOURS),--seconds $(FUZZ_SECONDS)) $(if $(T),'$(T)')

## make fuzz-control   shows that fuzzers find a fault that is planted: tests/mutations/fuzz, one patch each (some minutes)
fuzz-control:
	@tools/need.sh fuzz
	@$(PYTHON) tests/mutations/fuzz/run.py $(T)

## make prove      Frama-C shows for all inputs that what reads and writes headers has no run-time error: docs/proof.md (T=part: one proof)
## make prove-control   shows that a planted fault is not proven
.PHONY: prove prove-control
prove:
	@tools/need.sh prove
	@$(PYTHON) tools/prove.py $(if $(T),'$(T)')
prove-control:
	@tools/need.sh prove
	@$(PYTHON) tools/prove.py --control $(if $(T),'$(T)')

## make lib        build/lib: libweir.a, the stack, libweir-PART.a for bsd, posix, superloop and apps, and include/ (PROFILE=small, CONFIG=my_config.h,
##                 OPTIONS="SOCKETS=4 …", CROSS=arm-none-eabi-, O=folder; docs/packaging.md)
## make install    the same below prefix=/usr/local (DESTDIR, libdir, includedir, PARTS="bsd …"), and weir-run; make uninstall
## make amalgamation   the stack of such a configuration as two files: build/amalgamation/weir.c and weir.h
## make packaging  takes Weir into builds of somebody else's: by CMake, pkg-config and Meson, and as two files, and each recipe (a part of `make test`, but for Conan)
.PHONY: packaging
packaging:
	@CAMPAIGN=1 $(MAKE) -s test T=unit/packaging
## make arduino    a library for the Arduino IDE and PlatformIO, of such a configuration (small unless PROFILE says otherwise): build/arduino/Weir
## make conan      packs the sources by Conan's recipe and tries the package (Conan comes from pip, into build/conan)
.PHONY: arduino conan
arduino:
	@$(MAKE) -s -f packaging/library.mk PROFILE=$(or $(PROFILE),small) O=$(B)/arduino/two amalgamation
	@$(PYTHON) packaging/arduino/folder.py $(B)/arduino/two $(B)/arduino/Weir '$(URL)'
CONAN_VERSION := 2.34.0
conan: export CONAN_HOME := $(abspath $(B)/conan/home)
conan:
	@[ -x $(B)/conan/venv/bin/conan ] || { $(PYTHON) -m venv $(B)/conan/venv && $(B)/conan/venv/bin/pip install --quiet conan==$(CONAN_VERSION); }
	@$(B)/conan/venv/bin/conan profile detect --exist-ok
	@$(B)/conan/venv/bin/conan create . -c tools.cmake.cmake_layout:test_folder=$(abspath $(B)/conan/test) -o 'weir/*:profile=$(or $(PROFILE),full)'
## make dist       what a release is made of, from the last commit: build/dist
.PHONY: dist
dist:
	@$(PYTHON) packaging/dist.py
## make weir-run   build/host/weir-run: programs of Linux, unchanged, on Weir (docs/weir-run.md)
.PHONY: weir-run
weir-run:
	@$(MAKE) -s $(B)/host/weir-run
## make compat     programs of Linux and CPython's own test suites under weir-run, and what it costs: docs/compat.md (half an hour;
##                 T="programs python cost": some of it)
.PHONY: compat
compat:
	@tools/need.sh compat
	@$(MAKE) -s weir-run $(B)/venv/ready
	@$(B)/venv/bin/python tests/compat/run.py --write $(T)
## make tls        build/host/weir-host-tls, the host program with HTTPS, and Mbed TLS for it (docs/tls.md)
.PHONY: tls
tls:
	@tools/need.sh tls
	@$(MAKE) -s $(B)/host/weir-host-tls
## make sources    which files of src/ such a configuration needs
## make memory     what an instance of such a configuration needs: build/memory/weir_memory.h with WEIR_MEMORY_BYTES (docs/memory.md)
.PHONY: amalgamation memory install uninstall sources
amalgamation memory:
	@$(MAKE) --no-print-directory -f packaging/library.mk O=$(or $(O),$(B)/$@) $@
lib install uninstall sources:
	@$(MAKE) --no-print-directory -f packaging/library.mk $@
	$(if $(filter install uninstall,$@),$(if $(CONFIG)$(PROFILE)$(OPTIONS)$(CROSS)$(PARTS),,@$(MAKE) -s $@-run))
# With the library as it comes, for this machine: weir-run below bin, what it preloads below its lib.
RUN_PREFIX = $(DESTDIR)$(or $(prefix),$(PREFIX),/usr/local)
.PHONY: install-run uninstall-run
install-run: weir-run
	@install -D -m 755 $(B)/host/weir-run $(RUN_PREFIX)/bin/weir-run
	@install -D -m 644 $(B)/host/libweir-run.so $(RUN_PREFIX)/lib/weir/libweir-run.so
uninstall-run:
	@rm -f $(RUN_PREFIX)/bin/weir-run $(RUN_PREFIX)/lib/weir/libweir-run.so
	@rmdir --ignore-fail-on-non-empty $(RUN_PREFIX)/lib/weir 2>/dev/null || true

## make options    include/weir/options.h and docs/options.md from config/options.toml
options:
	@$(PYTHON) tools/options.py

## make format     lays out the C files as .clang-format says
format:
	@tools/need.sh check
	@clang-format -i $(shell find include src api kernel ports boards drivers apps examples fuzz proof sim tests bench -name '*.[ch]' ! -name options.h ! -name configuration.h ! -name cc_list.h) $(wildcard examples/*.cpp)

## make docs       the site, with a reference of the public headers: build/site (mkdocs.yml)
.PHONY: docs
docs:
	@tools/need.sh docs
	@$(MAKE) -s $(B)/docs/ready
	@$(B)/docs/bin/mkdocs build --quiet
	@echo "build/site/index.html"

## make clean      removes build/
clean:
	rm -rf $(B)

# Who wants nothing but one of these does not wait until make has read all that follows.
ifneq ($(filter-out lib install uninstall amalgamation memory sources arduino conan dist options help clean,$(or $(MAKECMDGOALS),all)),)
include tools/build.mk
include tools/metal.mk
include tools/tiny_echo.mk
include tools/boards.mk
include tools/tls.mk
include tools/micro.mk
include tools/bench_metal.mk
include tools/check.mk
include tools/fuzz.mk
endif

# Python packages for tests and benchmarks, and those for the site, each in an environment of our own.
$(B)/venv/ready: tools/requirements.txt
$(B)/docs/ready: tools/docs_requirements.txt
$(B)/venv/ready $(B)/docs/ready:
	@echo "  VENV  $(@D)"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@
