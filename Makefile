# What there is to do; every target first fetches what it lacks (tools/setup.sh).
#   make demo [LINK=1gbit]           image stacking on 4 ranks, plain MPI against Taut
#   make example-wave3d [LINK=1gbit] elastic waves on 4 emulated hosts: halos by plain MPI and Taut [ARGS=...];
#                                    SCALING=1: on 1, 2 and 4, with fixed cells on each and in all
#   make example-fft [LINK=1gbit]    Fourier transforms on 4 emulated hosts: transpositions by plain MPI and Taut [ARGS=...]
#   make test                        all tests, with MPICH and Open MPI, under ASan/UBSan and TSan
#   make check                       lint and the quick tests, between edits: under 3 minutes where all is built
#   make fuzz [MINUTES=5] [TARGET=]  fuzzing; findings make it fail (docs/testing.md)
#   make golden                      writes tests/golden anew, for review
#   make exhaustive                  every codec over every float: hours; goes on where it was interrupted [CODECS=... ARGS=...]
#   make prove                       machine-checked bounds, arithmetic, protocols and readers, SOUNDNESS.md [ARGS=models]
#   make random | faults             10^5 random configurations, 10^4 random faults, on loopback [ARGS="--seed 2"]
#   make abi [RECORD=1]              compares the binary interface of the headers with the recorded one, or records it
#   make soak HOURS=                 fuzzing, random configurations and faults; goes on where the last run stopped
#   make gpu-random | gpu-faults     the same on simulated GPUs
#   make nccl-random                 10^4 random sequences of NCCL calls on simulated GPUs and of exponents, 10^3 failures
#   make test-aarch64                all tests without MPI, 10^4 random configurations and the drop-in, for AArch64 under qemu
#   make test-matrix                 programs that failed elsewhere, under the drop-in, by MPI and mode [ARGS="--mpi mpich-debian"];
#                                    without ARGS also the tests that use MPI, by the standard ABI
#   make test-mpi4py                 mpi4py's own tests under the drop-in, against a bare run [ARGS="--mpi mpich-wheel"]
#   make torch-test                  the tests of taut.torch, with PyTorch (1.4 GB) in .venv-torch
#   make lint | format               layout, layers, sizes, links, width of Markdown, scripts, clang-tidy
#   make docs                        the documentation site, build/docs/html
#   make bench SUITE=                measures; bench/run.py names the suites. Short: make bench-SUITE [QUICK=1] [LINK=1gbit] [ARGS=...]
#     bench-codec                    the codecs beside memcpy
#     TAUT_FIELDS=folder make bench-fields | bench-peers | bench-grids    the codecs on real fields; public compressors
#                                    beside them; fields packed to 16 bits, without loss
#     bench-collectives              plain MPI and Taut in turn
#     bench-net                      collectives over links of 1 to 10 Gbit/s, MPICH and Open MPI [DATA=folder]
#     bench-history                  calls that repeat themselves, with and without a history
#     bench-weights                  weights after an optimiser step, to three workers in four ways [LINK=1gbit] [MEGABYTES=256,1024]
#     bench-training | bench-dask    DDP's hooks and Taut's [DILOCO=1]; x + x.T of a Dask array [WORKERS=4], on 4 emulated hosts
#     bench-formats                  errors of block-scaled number formats at equal bytes
#     bench-advise                   forecasts of `taut advise` against measurements, over emulated links
#     bench-instructions             instructions a value of the AVX2 and NEON kernels, under qemu
#     bench-fft                      mpi4py-fft and dtFFT under `taut run`, beside dtFFT's own zfp
#     bench-applications APP=lammps|espresso|meep   a Debian program under `taut run`
#     bench-sim                      collectives on 2 to 512 simulated nodes; goes on where it stopped [ARGS="--minutes 20"]
#     bench-gpus                     allreduces, messages and halos of GPUs on simulated nodes
#     bench-smpi                     simulated calls beside those of SimGrid, with several ranks a host
#   make papers                      bench-sim and bench-validate, and the papers' tables beside ours: docs/results [QUICK=1]
#   make wheel                       dist/taut-*.whl for MPICH, Open MPI and Intel MPI, tried with each in empty environments
#   make wheel-aarch64               the same for AArch64, by a cross compiler, tried under qemu
#   make debian                      Debian packages in dist/debian, judged by lintian
#   make clean                       forgets the build
.PHONY: help demo test check test-aarch64 test-matrix test-mpi4py wheel exhaustive fuzz golden random faults gpu-random gpu-faults nccl-random lint format docs clean torch-test prove soak papers abi example-wave3d example-fft debian wheel-aarch64 bench
help:
	@sed -n 's/^#   //p' Makefile

demo:
	@tools/setup.sh demo
	@tools/build.sh release -DTAUT_DROPIN=OFF
	@tools/demo.sh build/release

example-wave3d:
	@LINK=$${LINK-1gbit} tools/setup.sh demo codecs
	@TARGET=wave3d tools/build.sh release -DTAUT_DROPIN=OFF
	@$(if $(SCALING),python3 examples/wave3d/scaling.py,tools/example.sh wave3d) $(ARGS)

example-fft:
	@LINK=$${LINK-1gbit} tools/setup.sh demo codecs fftw
	@TARGET=fft tools/build.sh release -DTAUT_DROPIN=OFF
	@tools/example.sh fft $(ARGS)

test:
	@tools/setup.sh test
	@tools/run_tests.sh

check: lint
	@tools/setup.sh test
	@tools/run_tests.sh quick

fuzz:
	@tools/setup.sh fuzz
	@tools/fuzz.sh

golden:
	@tools/setup.sh test
	@TARGET=make_golden tools/build.sh test
	@build/test/tests/golden/make_golden tests/golden
	@git diff --stat -- tests/golden/frames.txt

random:
	@tools/setup.sh test
	@TARGET=taut_random tools/build.sh test
	@build/test/tests/robustness/random/taut_random --count 100000 $(ARGS)

faults:
	@tools/setup.sh test
	@TARGET=taut_random tools/build.sh test
	@build/test/tests/robustness/random/taut_random --faults --count 10000 $(ARGS)

soak:
	@tools/setup.sh fuzz
	@TARGET=soak_programs tools/build.sh test
	@tools/soak.py $(or $(HOURS),1)

gpu-random:
	@tools/setup.sh test
	@TARGET=taut_random_gpus tools/build.sh test
	@build/test/tests/robustness/random/taut_random_gpus --count 100000 $(ARGS)

gpu-faults:
	@tools/setup.sh test
	@TARGET=taut_random_gpus tools/build.sh test
	@build/test/tests/robustness/random/taut_random_gpus --faults --count 10000 $(ARGS)

nccl-random:
	@tools/setup.sh test
	@for target in nccl_test cuda_test; do TARGET=$$target tools/build.sh test; done
	@TEST_COUNT=10000 build/test/tests/gpu/nccl/nccl_test --gtest_filter=NcclRandom.*Sequences* $(ARGS)
	@TEST_COUNT=1000 build/test/tests/gpu/nccl/nccl_test --gtest_filter=NcclRandom.*Failures* $(ARGS)
	@TEST_COUNT=10000 build/test/tests/gpu/kernels/cuda_test --gtest_filter=GpuExponents.RandomSequences $(ARGS)

exhaustive:
	@tools/setup.sh test
	@TARGET=taut_exhaustive tools/build.sh test
	@tests/exhaustive/run.sh build/test

prove:
	@tools/setup.sh prove
	@.venv-prove/bin/python proofs/prove.py $(ARGS)

test-aarch64:
	@tools/setup.sh test
	@tools/run_tests.sh aarch64
abi:
	@tools/setup.sh abi
	@tools/abi.py $(if $(RECORD),--record)

test-matrix:
	@tools/setup.sh test
	@TARGET=layers tools/build.sh test
	@tests/mpi/programs/programs.py --layers build/test/lib/taut $(ARGS)
	@$(if $(ARGS)$(TAUT_MPI),true,tools/run_tests.sh abi)

test-mpi4py:
	@tools/setup.sh test
	@TARGET=layers tools/build.sh test
	@.venv/bin/python tests/mpi/dropin/mpi4py_suite.py --layers build/test/lib/taut $(ARGS)

torch-test:
	@tools/setup.sh test torch
	@TARGET=torch_tests tools/build.sh test
	@TESTED_STEPS=200 ctest --test-dir build/test -L torch --output-on-failure --no-tests=error
	@PYTHONPATH=build/test/python .venv-torch/bin/python tests/python/pytorch/distributed_suite.py

lint:
	@tools/setup.sh lint
	@tools/lint.sh

format:
	@tools/setup.sh lint
	@git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs .venv/bin/clang-format -i

docs:
	@tools/setup.sh docs
	@tools/site/build.sh
	@.venv/bin/python tools/site/check_pages.py build/docs/html
	@echo "build/docs/html/index.html"

bench:
	@bench/run.py $(SUITE) $(ARGS)

bench-%:
	@bench/run.py $* $(ARGS)

papers: bench-sim bench-validate
	@bench/papers/papers.py

wheel:
	@tools/setup.sh wheel
	@tools/wheel.sh

wheel-aarch64:
	@tools/setup.sh wheel_aarch64
	@tools/wheel_aarch64.sh

debian:
	@tools/setup.sh debian
	@packaging/debian/build.sh

clean:
	rm -rf build
