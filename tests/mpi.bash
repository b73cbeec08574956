# For scripts that run MPI programs. Needs tests/checks.bash.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Those with which programs were built here.
mpis_built() {
  local mpi
  for mpi in openmpi mpich; do
    [[ ! -x $bin/cg-$mpi ]] || echo "$mpi"
  done
}

# The launcher of an MPI, and what it needs to start more ranks than there are CPUs.
launcher() {
  case $1 in
    openmpi) echo mpirun.openmpi --oversubscribe --bind-to none ;;
    mpich) echo mpirun.mpich ;;
  esac
}

# mpi_run MPI RANKS PROGRAM [ARGUMENT…]
mpi_run() {
  # shellcheck disable=SC2046
  timeout 120 $(launcher "$1") -n "$2" "${@:3}"
}

# The same under cosched. CLEAVE_COSCHED_REPORT should be $work/report.
cosched_run() {
  # shellcheck disable=SC2046
  timeout 120 env LD_PRELOAD="$CLEAVE_BINARY_DIR/lib/libcleave-cosched-$1.so" $(launcher "$1") -n "$2" "${@:3}"
}

# A number of the report.
counted() { grep -oP "\"$1\":\K[0-9]+" "$work/report"; }
