#!/usr/bin/env bash
# labels: slow once
# Programs under `cleave record`: they give the same answers, all messages are matched, and a forecast of the recorded run
# is its time.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export OMPI_MCA_mpi_yield_when_idle=1

value() { grep -oP "\"$1\":\K[-0-9.e+]+" <(tail -1 "$work/out") | head -1; }
# tells NAME LEAST-MESSAGES LEAST-COLLECTIVES REGEX MPI RANKS PROGRAM…: the program prints a line with REGEX.
tells() {
  launch "${@:5}"
  timeout 300 "$bin/cleave" record -o "$work/run.plan" --page "$work/run.html" --json "${command[@]}" >"$work/out" 2>"$work/err" ||
    fail "$1, $5: exit status $?: $(cat "$work/err")"
  grep -qE "$4" "$work/out" || fail "$1, $5: no '$4' in $(cat "$work/out")"
  (($(value messages) >= $2 && $(value collectives) >= $3)) || fail "$1, $5: $(value messages) messages, $(value collectives) collectives"
  [[ $(value without_partner) == 0 ]] || fail "$1, $5: $(value without_partner) messages have no partner"
  awk -v is="$(value forecast)" -v was="$(value seconds)" 'BEGIN { exit !(is > 0.95 * was && is < 1.05 * was) }' ||
    fail "$1, $5: a forecast of $(value forecast) s for this run of $(value seconds) s"
  ok "$1, $5: $(value seconds) s, forecast $(value forecast) s"
}

for mpi in "${mpis[@]}"; do
  [[ -e $bin/cg-$mpi ]] || continue
  tells cg 1000 3 '"verified":true' "$mpi" 4 "$bin/cg-$mpi" S --json
  tells ft 0 10 '"verified":true' "$mpi" 4 "$bin/ft-$mpi" S --json
done
if opens "$work/run.html" "the page"; then
  (($(grep -o '<canvas' "$work/dom" | wc -l) >= 4)) || fail "the page: no timelines"
fi

mpi_of_program() {  # PROGRAM -> the MPI that it is linked to, if that can be run here
  local mpi
  mpi=$(ldd "$1" 2>/dev/null | grep -oE 'libmpi\.so\.40|libmpich\.so\.12' | head -1)
  case $mpi in libmpi*40) mpi=openmpi ;; libmpich*) mpi=mpich ;; *) return 1 ;; esac
  [[ " ${mpis[*]} " == *" $mpi "* ]] && echo "$mpi"
}
melt=/usr/share/lammps/examples/melt/in.melt
if lmp=$(command -v lmp) && mpi=$(mpi_of_program "$lmp") && [[ -e $melt ]]; then
  sed 's/^run.*/run 50/' "$melt" >"$work/in.melt"
  tells LAMMPS 100 20 '^Loop time of ' "$mpi" 2 "$lmp" -in "$work/in.melt" -log none
else
  echo "skipped: no LAMMPS with its examples (Debian: lammps, lammps-examples)"
fi
library=$(/usr/bin/python3 -c 'import mpi4py.MPI; print(mpi4py.MPI.__file__)' 2>/dev/null)
if [[ -n $library ]] && mpi=$(mpi_of_program "$library"); then
  cat >"$work/ring.py" <<'PROGRAM'
from mpi4py import MPI
all = MPI.COMM_WORLD
for step in range(20):
    total = all.allreduce(all.rank)
    all.send({"from": all.rank}, dest=(all.rank + 1) % all.size)
    got = all.recv(source=MPI.ANY_SOURCE)
if all.rank == 0:
    print("total", total)
PROGRAM
  tells mpi4py 60 20 '^total 3$' "$mpi" 3 /usr/bin/python3 "$work/ring.py"
else
  echo "skipped: no mpi4py (Debian: python3-mpi4py)"
fi
exit "$((failures > 0))"
