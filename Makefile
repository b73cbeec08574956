# Two commands to begin with: `make demo` (the main job) and `make test`.
# Each installs what is missing with apt; CLEAVE_NO_INSTALL=1 makes it only say so and stop.
.PHONY: build mpi nats sites switch demo test check soak study plot format clean help
.NOTPARALLEL:

build:                ## the release binaries, into build/release/bin
	@bash cmake/install-packages.sh build
	@bash cmake/build.sh release programs
	@echo "The programs are in build/release/bin."

mpi:                  ## the same, with the plug-ins for the MPIs of the distribution
	@bash cmake/install-packages.sh mpi
	@bash cmake/build.sh release programs plugins
	@echo "The programs are in build/release/bin, their plug-ins in build/release/lib."

nats:                 ## the same, with the plug-in and the relay for machines at several sites
	@bash cmake/install-packages.sh nats
	@bash cmake/build.sh release programs plugins
	@echo "The programs are in build/release/bin, their plug-ins in build/release/lib."

demo:                 ## build the demonstration and run it
	@bash cmake/install-packages.sh build
	@bash cmake/build.sh release demo
	@build/release/bin/demo

test:                 ## the release build and its quick tests; the long ones are in `make check`
	@bash cmake/install-packages.sh test
	@bash cmake/test.sh release

check:                ## everything else, over an hour; `make check STAGES="format asan"` runs a part
	@bash cmake/install-packages.sh $(or $(STAGES),check)
	@bash cmake/test.sh $(or $(STAGES),format slow timing clang oldest asan tsan slow_asan slow_tsan tidy study)

soak:                 ## the tests again and again with fresh seeds; MINUTES=10
	@bash cmake/install-packages.sh slow
	@bash cmake/soak.sh $(MINUTES)

sites:                ## three sites, then four, then what one finds told to the others, with delays between them; needs root
	@bash cmake/install-packages.sh nats
	@bash cmake/build.sh release programs sim wait_tree net-far-updates plugins
	@CLEAVE_RUNS=$(or $(RUNS),5) CLEAVE_QUEENS=16 CLEAVE_EFFICIENCY=95 CLEAVE_SOURCE_DIR=$$PWD \
	  CLEAVE_BINARY_DIR=$$PWD/build/release CLEAVE_BIN_DIR=$$PWD/build/release/bin bash tests/nats/sites.sh
	@CLEAVE_RUNS=$(or $(RUNS),5) CLEAVE_DEPTH=7 CLEAVE_COST=4000 CLEAVE_SLICE=2000 CLEAVE_GAIN=3 CLEAVE_SOURCE_DIR=$$PWD \
	  CLEAVE_BINARY_DIR=$$PWD/build/release CLEAVE_BIN_DIR=$$PWD/build/release/bin bash tests/nats/strategies.sh
	@CLEAVE_FAR=1.5 CLEAVE_SOURCE_DIR=$$PWD CLEAVE_BINARY_DIR=$$PWD/build/release \
	  CLEAVE_BIN_DIR=$$PWD/build/release/bin bash tests/nats/far_updates.sh

switch:               ## sixteen hosts on a switch of 10 Mbit/s a port, then on a shared medium; needs root; into build/switch
	@bash cmake/install-packages.sh mpi nats
	@bash cmake/build.sh release programs plugins
	@CLEAVE_RUNS=$(or $(RUNS),1) CLEAVE_MBIT=10 CLEAVE_NETWORKS=$(if $(NETWORKS),$(NETWORKS),openmpi,cleave-openmpi) \
	  CLEAVE_SWITCH_OUT=build/switch CLEAVE_SOURCE_DIR=$$PWD CLEAVE_BINARY_DIR=$$PWD/build/release \
	  CLEAVE_BIN_DIR=$$PWD/build/release/bin bash tests/study/switch.sh

study:                ## the comparative study, full sizes (about an hour), into build/study; QUICK=1: two minutes
	@bash cmake/install-packages.sh study
	@bash cmake/build.sh study cleave_command systems
	@build/study/bin/cleave study $(if $(QUICK),--quick) -o build/study

plot:                 ## the pictures in docs/ and the study's table; STUDY=…/study.json, COSCHED=…/cosched.json: from those runs
	@bash cmake/install-packages.sh study
	@/usr/bin/python3 docs/plot.py $(addprefix --cosched ,$(COSCHED)) $(STUDY)

format:               ## format every source file in place
	@bash cmake/install-packages.sh format
	@bash cmake/format.sh

clean:                ## remove what was built
	rm -rf build

help:                 ## this list
	@sed -n 's/^\([a-z]*\): *## /  make \1\t/p' Makefile
