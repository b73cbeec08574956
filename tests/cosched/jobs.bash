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

# Those in shared memory that no process has mapped: other scripts' jobs, which run at the same time, have theirs.
left_behind() {
  local k file left
  for ((k = 0; k < 20; ++k)); do  # a job that begins has made its own a moment before it maps it
    left=()
    for file in /dev/shm/cleave-cosched-*; do
      [[ ! -e $file ]] || grep -qsF -- "$file" /proc/[0-9]*/maps || left+=("$file")
    done
    ((${#left[@]})) || return 1
    sleep 0.1
  done
  echo "${left[@]}"
}
