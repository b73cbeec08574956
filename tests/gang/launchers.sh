#!/usr/bin/env bash
# labels: slow once
# Open MPI's and MPICH's own launchers put their remote parts into the job: two programs at once on two nodes take turns and
# are right, and a job ends everywhere. The nodes are this machine by other names; what stands for ssh leaves no kinship.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/daemons.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
if ((EUID != 0)) || ! unshare --uts true 2>/dev/null; then
  echo "skipped: needs root, for nodes with names of their own"
  exit 77
fi

begin_relay relay --site here --port 0
invite relay a b c
printf '%s\n' '#!/bin/sh' 'hostname "$1" && shift && exec "$@"' >"$work/as" && chmod +x "$work/as"
for node in a b c; do at=(unshare --uts "$work/as" "$node") && serve "$node"; done
at=(unshare --uts "$work/as" a)

for kind in signals cgroup2 cgroup1; do
  on a "${gang[@]}" run --stop-by "$kind" true 2>"$work/err" || { echo "skipped: $(cat "$work/err")"; continue; }
  for mpi in "${mpis[@]}"; do
    launcher "$mpi"
    cg=$bin/cg-$mpi
    case $mpi in
      openmpi*) launch=("$mpirun" --host b:1,c:1 --bind-to none --mca btl "tcp,self" --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo) ;;
      mpich) launch=("$mpirun" -hosts "b,c" -iface lo -n 2) ;;
    esac
    echo "# $mpi, $kind"
    rm -f "$work/$mpi".*
    run_on a "$mpi.spin" --job "$mpi" --remote-shell "$work/shell" -- "${launch[@]}" bash -c "file=$work/$mpi.spin; $spin"
    until_ps b "\"job\":\"$mpi\",\"nodes\":\\[\"here.a\",\"here.b\",\"here.c\"\\]"
    both_spin() { [[ $(cat "$work/$mpi.spin".? 2>/dev/null | wc -l) == 2 ]]; }
    patiently both_spin || fail "$mpi: no two ranks: $(cat "$work/$mpi.spin.err" "$work"/*.out)"
    on c "${gang[@]}" kill "$mpi" || fail "$mpi: kill"
    wait "$job"
    for pid in $(cat "$work/$mpi.spin".?); do
      echo "$pid" >"$work/pid"
      gone pid "$mpi: killed"
    done
    if [[ ! -x $cg ]]; then
      echo "skipped: no $cg"
      continue
    fi
    jobs=()
    for k in 1 2; do
      run_on a "$mpi.cg.$k" --remote-shell "$work/shell" -- "${launch[@]}" "$cg" W >"$work/$mpi.cg.$k"
      jobs+=("$job")
    done
    for k in 1 2; do
      wait "${jobs[k - 1]}" || fail "$mpi: cg: status $?: $(cat "$work/$mpi.cg.$k" "$work/$mpi.cg.$k.err")"
      grep -qi "verif" "$work/$mpi.cg.$k" || fail "$mpi: cg says: $(cat "$work/$mpi.cg.$k")"
    done
  done
done
exit "$((failures > 0))"
