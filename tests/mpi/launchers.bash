# For the scripts here, after checks.bash: each MPI that there is a plug-in for, and how it starts ranks.
#   mpis             names of plug-ins that can be run here; the script ends as skipped if there are none
#   launch MPI N …   a command's words, in `command`
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
ranks=$CLEAVE_BINARY_DIR/tests/programs/mpi_ranks
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset CLEAVE_TRANSPORT CLEAVE_MPI_PART CLEAVE_MPI_DOORBELL

launcher() {  # MPI -> its mpirun, as `mpirun`; status 1 if there is none
  case $1 in
    openmpi) mpirun=$(command -v mpirun.openmpi) ;;
    mpich) mpirun=$(command -v mpirun.mpich) ;;
    openmpi5)  # built with CLEAVE_MPI_COMPILERS: its mpirun lies beside its mpicc
      mpirun=$(sed -n 's/^CLEAVE_MPI_COMPILERS:[A-Z]*=\([^;]*\)mpicc.*/\1mpirun/p' "$CLEAVE_BINARY_DIR/CMakeCache.txt")
      [[ -x $mpirun ]] ;;
  esac
}

launch() {
  launcher "$1"
  case $1 in
    openmpi*) command=("$mpirun" --oversubscribe --bind-to none -n "${@:2}") ;;
    mpich) command=("$mpirun" -n "${@:2}") ;;
  esac
}

mpis=()
for mpi in openmpi mpich openmpi5; do
  if [[ -e $CLEAVE_PLUGINS/libcleave-mpi-$mpi.so ]] && launcher "$mpi"; then mpis+=("$mpi")
  elif [[ $mpi != openmpi5 ]]; then echo "skipped: no plug-in or no mpirun for $mpi (Debian: lib$mpi-dev, ${mpi/openmpi/openmpi-bin})"
  fi
done
((${#mpis[@]})) || exit 77

# must_print REGEX COMMAND…: ends well within two minutes, and a line is that.
must_print() {
  timeout 120 "${@:2}" >"$work/out" 2>"$work/err"
  local status=$?
  [[ $status == 0 ]] || fail "${*:2}: exit status $status: $(cat "$work/out" "$work/err")"
  grep -qxE -- "$1" "$work/out" || fail "${*:2}: no line '$1' in $(cat "$work/out" "$work/err")"
}

# begin COMMAND…: in the background with its output in $work/out, until all of `count` ranks are ready; sets `job` and pids.
begin() {
  : >"$work/out"  # here: the job's own redirection comes later, and the lines of another job count until then
  setsid "$@" >"$work/out" 2>"$work/err" &
  job=$!
  for ((k = 0; k < 600; ++k)); do  # a machine may be busy
    [[ $(grep -c '^ready ' "$work/out") == "$count" ]] && break
    sleep 0.1
  done
  mapfile -t pids < <(sed -n 's/^ready \([0-9]*\) \([0-9]*\)$/\1 \2/p' "$work/out" | sort -n | cut -d' ' -f2)
  ((${#pids[@]} == count)) || fail "$*: not all ranks got ready: $(cat "$work/out" "$work/err")"
}

# ended SECONDS: waits for the job; sets `status`, fails if it takes longer or leaves a rank behind.
ended() {
  for ((k = 0; k < 10 * $1; ++k)); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$job" 2>/dev/null; then
    fail "the job did not end within $1 s: $(cat "$work/out" "$work/err")"
    kill -9 -- "-$job"
  fi
  wait "$job"
  status=$?
  for pid in "${pids[@]}"; do
    for ((k = 0; k < 20; ++k)); do  # the launcher may be gone a moment before those it has killed
      alive "$pid" || break
      sleep 0.1
    done
    if alive "$pid"; then
      fail "a rank outlived its job"
      kill -9 "$pid"
    fi
  done
}
