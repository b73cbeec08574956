#!/usr/bin/env bash
# labels: slow once
# Programs that Debian ships, built on Open MPI or MPICH: the same output with cosched and without. LAMMPS and mpi4py.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

cat >"$work/melt.in" <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
thermo_modify format float %.17g
run 100
END
cat >"$work/mixed.py" <<'END'
import hashlib
from mpi4py import MPI

world = MPI.COMM_WORLD
me, ranks = world.rank, world.size
seen = []
for turn in range(200):
    request = world.irecv(source=(me - 1) % ranks, tag=turn)
    world.send({"from": me, "text": "x" * (turn * 50)}, dest=(me + 1) % ranks, tag=turn)
    seen.append(request.wait()["from"])
    seen.append(world.allreduce((me + 1.0) / (turn + 3)))
    later = world.isend(bytes(100_000), dest=(me + 1) % ranks)
    seen.append(len(world.recv(source=(me - 1) % ranks)))
    later.wait()
    seen.append(world.allgather(me * turn))
print(me, hashlib.sha256(repr(seen).encode()).hexdigest(), flush=True) if me == 0 else None
END

# same MPI NAME FILTER COMMAND…: what FILTER (a sed script) leaves of the output is the same, and ranks have waited.
same() {
  local mpi=$1 name=$2 filter=$3 ranks expected got
  shift 3
  for ranks in 2 4; do
    expected=$(cd "$work" && mpi_run "$mpi" "$ranks" "$@" 2>"$work/err" | sed -n "$filter")
    [[ -n $expected ]] || { fail "$mpi, $name, $ranks ranks, without cosched: nothing: $(cat "$work/err")"; continue; }
    for policy in two-phase block; do
      got=$(cd "$work" && CLEAVE_COSCHED_POLICY=$policy CLEAVE_COSCHED_REPORT=$work/report CLEAVE_COSCHED_FREE_SPIN=0 \
        cosched_run "$mpi" "$ranks" "$@" 2>"$work/err" | sed -n "$filter")
      [[ $got == "$expected" ]] || fail "$mpi, $name, $ranks ranks, $policy: '$got' $(cat "$work/err"), expected '$expected'"
      (($(counted sleeps) > 0)) || fail "$mpi, $name, $ranks ranks, $policy: no sleeps"
      (($(counted ended_late) * 1000 <= $(counted waits))) ||
        fail "$mpi, $name, $ranks ranks, $policy: waits ended late: $(cat "$work/report")"
      echo "$mpi, $name, $ranks ranks, $policy: $(cat "$work/report")"
    done
  done
}

tried=0
mpi_linked() {  # FILE -> openmpi, mpich or nothing
  ldd "$1" 2>/dev/null | sed -n 's/.*libmpi\.so\..*/openmpi/p; s/.*libmpich\.so\..*/mpich/p' | head -n 1
}
has() { printf '%s\n' "${mpis[@]}" | grep -qx -- "$1"; }

lammps=$(command -v lmp)
if [[ -n $lammps ]] && mpi=$(mpi_linked "$lammps") && has "$mpi"; then
  tried=1
  same "$mpi" LAMMPS '/^ *Step/,/^Loop time/{/^ *[0-9S]/p}' "$lammps" -in melt.in -log none
else
  echo "skipped: no LAMMPS here (Debian: lammps)"
fi
python=/usr/bin/python3
module=$("$python" -c 'import mpi4py.MPI; print(mpi4py.MPI.__file__)' 2>/dev/null)
if [[ -n $module ]] && mpi=$(mpi_linked "$module") && has "$mpi"; then
  tried=1
  same "$mpi" mpi4py p "$python" mixed.py
else
  echo "skipped: no mpi4py here (Debian: python3-mpi4py)"
fi
((tried)) || exit 77
exit "$((failures > 0))"
