# For the scripts here, after checks.bash: MPI jobs, with and without cosched. Skips the script where no MPI is.
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"

# mpi_run MPI RANKS PROGRAM [ARGUMENT…]
mpi_run() {
  launch "$@"
  timeout 120 "${command[@]}"
}

# The same under cosched. CLEAVE_COSCHED_REPORT should be $work/report.
cosched_run() {
  launch "$@"
  timeout 120 env LD_PRELOAD="$CLEAVE_BINARY_DIR/lib/libcleave-cosched-$1.so" "${command[@]}"
}

# A number of the report.
counted() { grep -oP "\"$1\":\K[0-9]+" "$work/report"; }
