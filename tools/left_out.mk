# SPDX-License-Identifier: BSD-2-Clause
# $(call left_out,PROFILE NAME=VALUE …): the files of src/ that a configuration leaves out; one that is wrong stops make.
# Some thirty configurations are asked for whenever make begins, so an answer is kept, in a folder that has the name of what it depends on.
LEFT_OUT := $(B)/left_out/$(shell { cat tools/options.py tools/configuration.py config/options.toml && find src -name '*.c' | sort; } | cksum | tr ' ' -)
NOTHING :=
left_out_file = $(LEFT_OUT)/$(subst $(NOTHING) $(NOTHING),/,$(strip $(1)))/files
left_out = $(if $(wildcard $(left_out_file)),,$(shell tools/left_out.sh '$(left_out_file)' $(PYTHON) tools/options.py --left-out $(1))$(if \
    $(filter-out 0,$(.SHELLSTATUS)),$(error $(1): $(if $(filter 2,$(.SHELLSTATUS)),no such configuration,its files cannot be kept in $(B)/left_out))))$(file <$(left_out_file))
