#!/usr/bin/env bash
# labels: slow once
# Jobs on two nodes: the same results bit for bit as without cosched, hardly a wait ends late, and who waits for another node
# takes no CPU time.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"
source "$CLEAVE_SOURCE_DIR/tests/nodes.bash"

programs=$CLEAVE_BINARY_DIR/tests/programs
nodes_start 2

# job MPI COMMAND…: runs it on the nodes, its output in $work/got. MPICH 4.0 over TCP now and then hangs in MPI_Finalize, with cosched
# or without: a rank waits for what another one must do, which looks no more (of four ranks, 6 of 8 jobs with either; UCX 1.13,
# openucx/ucx#8738). So its jobs may be over when they have printed; `hung` counts those.
hung=0
job() {
  local mpi=$1 id k printed=0
  shift
  on_head timeout 120 "$@" >"$work/got" 2>"$work/err" &
  id=$!
  for ((k = 0; k < 1200; ++k)); do
    kill -0 "$id" 2>/dev/null || break
    if [[ $mpi == mpich && -s $work/got ]] && ((++printed > 50)); then
      echo "$mpi hangs in MPI_Finalize"
      ((++hung))
      cp "$work/got" "$work/printed"
      cp "$work/err" "$work/said"
      pkill -TERM -P "$id"
      wait "$id"
      mv "$work/printed" "$work/got"
      mv "$work/said" "$work/err"
      return 0
    fi
    sleep 0.1
  done
  wait "$id"
}
# plain MPI RANKS PROGRAM [ARGUMENT…]: on all nodes; under cosched with the options of that: `options`.
plain() {
  launch_on_nodes "$1" "$2" stdbuf -oL "${@:3}"
  job "$1" "${command[@]}"
}
cosched() {
  launch_on_nodes "$1" "$2" stdbuf -oL "${@:3}"
  rm -f "$work/report"
  [[ $1 == mpich ]] && ((++with_cosched))
  local before=$hung status
  job "$1" "$bin/cleave" cosched "${options[@]}" --report "$work/report" "${command[@]}"
  status=$?
  ((hung_with_cosched += hung - before))
  return "$status"
}
with_cosched=0 hung_with_cosched=0  # MPICH's jobs
# Open MPI's launcher warns when a node is quick.
quiet() { ! grep -v 'plm:rsh: Warning: setpgid' "$work/err"; }

# few_late WHAT: it waited and slept, and hardly a wait ended late.
few_late() {
  local late waits sleeps others
  late=$(counted ended_late) waits=$(counted waits) sleeps=$(counted sleeps) others=$(counted by_other_nodes)
  # One may: on a busy machine who rings can be off its CPU for as long as the net waits.
  ((late <= 1 + waits / 1000)) || fail "$1: $late of $waits waits ended late"
  ((sleeps > 0)) || fail "$1: no sleep"
  ((others > 0)) || fail "$1: no sleep was ended by another node"
  echo "$1: $(cat "$work/report")"
}

for mpi in "${mpis[@]}"; do
  [[ $mpi == openmpi || $mpi == mpich ]] || continue
  calls=("$programs/cosched-calls-$mpi" 1)
  [[ $mpi != openmpi ]] || calls+=(no-windows)  # Open MPI 4.1 has no one-sided calls over TCP
  for ranks in 2 4; do
    plain "$mpi" "$ranks" "${calls[@]}" || fail "$mpi, $ranks ranks, without cosched: $(cat "$work/err")"
    expected=$(cat "$work/got")
    for policy in block two-phase adaptive; do
      options=(--policy "$policy" --free-spin 0)
      cosched "$mpi" "$ranks" "${calls[@]}" || fail "$mpi, $ranks ranks, $policy: exit status"
      [[ $(cat "$work/got") == "$expected" ]] || fail "$mpi, $ranks ranks, $policy: '$(cat "$work/got")', expected '$expected'"
      quiet || fail "$mpi, $ranks ranks, $policy: $(cat "$work/err")"
      few_late "$mpi, $ranks ranks, $policy"
    done
  done

  if [[ $mpi == openmpi ]]; then  # two programs, each with options of its own
    expected=$(plain openmpi 4 "${calls[@]}" && cat "$work/got")
    launch_on_nodes openmpi 4 true
    command=("${command[@]:0:${#command[@]}-3}" -n 2 "${calls[@]}" : -n 2 "${calls[@]}")
    job openmpi "$bin/cleave" cosched --policy block --free-spin 0 --report "$work/report" "${command[@]}" || fail "two programs: exit status"
    [[ $(cat "$work/got") == "$expected" ]] || fail "two programs: '$(cat "$work/got")', expected '$expected': $(cat "$work/err")"
    few_late "openmpi, two programs"
  fi

  # Two seconds each in a receive, a barrier and a sum.
  options=()
  cosched "$mpi" 2 "$programs/cosched-imbalance-$mpi" 6000
  read -r cpu wall <"$work/got"
  echo "$mpi: $cpu s of CPU time in $wall s"
  awk "BEGIN { exit !($cpu < 0.05 * $wall && $wall > 5) }" || fail "$mpi: waiting took $cpu s of CPU time in $wall s: $(cat "$work/err")"

  if [[ $mpi == openmpi ]]; then  # a thread of MPI's own takes what comes, and no descriptor tells the rank
    launch_on_nodes "$mpi" 2 "$programs/cosched-imbalance-$mpi" 30
    rm -f "$work/report"
    job "$mpi" "$bin/cleave" cosched --report "$work/report" "${command[0]}" --mca btl_tcp_progress_thread 1 "${command[@]:1}" ||
      fail "$mpi, a thread for TCP: exit status"
    (($(grep -c "^cosched: the job's nodes are not connected by what poll() can wait for" "$work/err") == 1)) ||
      fail "$mpi, a thread for TCP: $(cat "$work/err")"
    (($(counted sleeps) == 0)) || fail "$mpi, a thread for TCP: $(cat "$work/report")"
  fi

  for program in cg ft; do
    cosched "$mpi" 4 "$bin/$program-$mpi" S --json || fail "$mpi, $program: $(cat "$work/err")"
    grep -q '"verified":true' "$work/got" || fail "$mpi, $program: $(cat "$work/got")"
    few_late "$mpi, $program"
  done

  compiler=mpif90.$mpi
  if command -v "$compiler" >/dev/null &&
    "$compiler" -o "$work/fortran" "$CLEAVE_SOURCE_DIR/tests/cosched/programs/fortran.f90" -J "$work" 2>"$work/err"; then
    options=(--policy block --free-spin 0)
    cosched "$mpi" 2 "$work/fortran"
    [[ $(cat "$work/got") == 21.000000 ]] || fail "$mpi, Fortran: $(cat "$work/err")"
    few_late "$mpi, Fortran"
  else
    echo "no Fortran for $mpi"
  fi
done
# MPICH hangs without cosched as well, where it hangs in most jobs with it.
if ((2 * hung_with_cosched > with_cosched)); then
  for ((i = 0; i < 12 && hung == hung_with_cosched; ++i)); do plain mpich 4 "$programs/cosched-calls-mpich" 1; done
  ((hung > hung_with_cosched)) || fail "mpich hung in $hung_with_cosched of $with_cosched jobs with cosched, in none without"
fi
echo "mpich hung in $hung_with_cosched of $with_cosched jobs with cosched, in $((hung - hung_with_cosched)) without"

# No shared memory to be had: nothing is done, with two threads neither.
for i in "${!nodes[@]}"; do on_node "$i" mount -o remount,size=4k /dev/shm && on_node "$i" cp /proc/version /dev/shm/full; done
options=()
for mpi in "${mpis[@]}"; do
  [[ $mpi == openmpi || $mpi == mpich ]] || continue
  cosched "$mpi" 2 "$programs/cosched-threads-$mpi" || fail "$mpi, no memory: exit status"
  [[ $(cat "$work/got") == 5050 || $(cat "$work/got") == "no threads" ]] || fail "$mpi, no memory: '$(cat "$work/got")'"
  (($(grep -c "^cosched: no shared memory for the ranks of a node" "$work/err") == 1)) || fail "$mpi, no memory: $(cat "$work/err")"
done
exit "$((failures > 0))"
