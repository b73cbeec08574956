#!/usr/bin/env bash
# labels: slow once
# `cleave cosched mpirun ...` finds the library for the launcher's MPI, and refuses what it cannot start.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

refuses "cleave: mpirun ...: expected a program, got nothing" cleave cosched
refuses "cleave: unknown option '--quiet' (--help lists them)" cleave cosched --quiet mpirun -n 2 true
refuses "cleave: --policy: expected one of spin, block, two-phase, logp, adaptive, got 'lazy'" \
  cleave cosched --policy lazy mpirun -n 2 true
refuses "cleave: --spin: expected a whole number from 0 to 1000000, got '-1'" \
  cleave cosched --spin=-1 mpirun -n 2 true
refuses "cleave: --free-spin: expected a whole number from 0 to 1000000, got 'long'" \
  cleave cosched --free-spin long mpirun -n 2 true
refuses "cleave: --turn: expected a whole number from 0 to 10000, got '-3'" cleave cosched --turn=-3 mpirun -n 2 true
for wrong in no-such-launcher /no/such/mpirun /etc/passwd /tmp; do
  refuses "cleave: COMMAND: expected a program, got '$wrong'" cleave cosched "$wrong"
done
refuses "cleave: COMMAND: 'true' does not tell its MPI: give --mpi openmpi or --mpi mpich" cleave cosched true

for mpi in "${mpis[@]}"; do
  launch "$mpi" 2 "$bin/cg-$mpi" S --json
  "$bin/cleave" cosched --policy adaptive --report "$work/report" "${command[@]}" >"$work/out" 2>"$work/err" || fail "$mpi: $(cat "$work/err")"
  grep -q '"verified":true' "$work/out" || fail "$mpi: $(cat "$work/out")"
  grep -q '"policy":"adaptive"' "$work/report" || fail "$mpi: $(cat "$work/report")"
  (($(counted waits) > 0)) || fail "$mpi: no waits"
  "$bin/cleave" cosched --report "$work/none/report" "${command[@]}" >"$work/out" 2>"$work/err" && fail "$mpi: a report that is lost has status 0"
  grep -q '"verified":true' "$work/out" || fail "$mpi: a report that is lost costs the answer: $(cat "$work/err")"
  [[ $(grep -c "^cosched: $work/none/report: cannot be written: No such file or directory$" "$work/err") == 1 ]] ||
    fail "$mpi: a report that is lost: $(cat "$work/err")"
  # LogP's time is a round trip more than a wake-up.
  "$bin/cleave" cosched --policy logp --free-spin 0 --report "$work/report" "${command[@]}" >"$work/out" 2>"$work/err" || fail "$mpi: $(cat "$work/err")"
  grep -q '"policy":"logp"' "$work/report" || fail "$mpi: $(cat "$work/report")"
  (($(counted spun_longer) == 0 && $(counted spin_time_us) >= $(counted wake_us))) || fail "$mpi: $(cat "$work/report")"
done

# A program of another MPI than its launcher's. Its line may stand among those that Open MPI's launcher prints.
other_mpi() {  # LAUNCHER'S-MPI EXPECTED GOT PROGRAM…: both are parts of the line
  launch "$1" 2 "${@:4}"
  timeout 60 "$bin/cleave" cosched "${command[@]}" >"$work/out" 2>"$work/err"
  local status=$?
  ((status == 2)) || fail "$1, ${*:4}: exit status $status: $(cat "$work/err")"
  (($(grep -c '^cosched: ' "$work/err") == 1)) || fail "$1, ${*:4}: one line expected: $(cat "$work/err")"
  grep -qE "^cosched: the program's MPI: expected $2, as for its launcher, got $3$" "$work/err" || fail "$1, ${*:4}: $(cat "$work/err")"
  [[ ! -s $work/out ]] || fail "$1, ${*:4}: it began: $(cat "$work/out")"
}
declare -A library=([openmpi]='libmpi\.so\.40' [mpich]='libmpich\.so\.12')
cat >"$work/unknown.c" <<'END'
int PMPI_Init(int* argc, char*** argv) { return !argc || !argv; }
int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
END
cat >"$work/program.c" <<'END'
int MPI_Init(int*, char***);
int main(int argc, char** argv) { return MPI_Init(&argc, &argv); }
END
cat >"$work/module.c" <<'END'
int MPI_Init(int*, char***);
int begin(void) { return MPI_Init(0, 0); }
END
cat >"$work/host.c" <<'END'
#include <dlfcn.h>
int main(int argc, char** argv) { return argc < 2 || ((int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "begin"))(); }
END
gcc -shared -fPIC -o "$work/libunknown.so" "$work/unknown.c" && gcc -o "$work/unknown" "$work/program.c" "$work/libunknown.so" -Wl,-rpath,"$work" &&
  gcc -o "$work/host" "$work/host.c" -ldl || fail "no program of an unknown MPI"
for mpi in openmpi mpich; do
  [[ " ${mpis[*]} " == *" $mpi "* ]] || continue
  other_mpi "$mpi" "${library[$mpi]}" ".*/libunknown\.so" "$work/unknown"
  # No MPI at all: a launcher starts whatever it is given, a shell that starts the program for one.
  launch "$mpi" 2 echo hello
  [[ $("$bin/cleave" cosched "${command[@]}" 2>&1) == $'hello\nhello' ]] || fail "$mpi: not hello twice"
  for other in openmpi mpich; do
    [[ " ${mpis[*]} " == *" $other "* && $other != "$mpi" ]] || continue
    other_mpi "$mpi" "${library[$mpi]}" ".*/${library[$other]}.*" "$bin/cg-$other" S
    # Loaded by the program itself, as Python does.
    "mpicc.$other" -shared -fPIC -o "$work/module-$other.so" "$work/module.c" || fail "$other: no module"
    other_mpi "$mpi" "${library[$mpi]}" another "$work/host" "$work/module-$other.so"
  done
done

static=$(mpicc.mpich -show 2>/dev/null | grep -oP -- '-L\K\S+' | head -1)/libmpich.a
if [[ " ${mpis[*]} " == *" mpich "* && -e $static ]]; then
  mapfile -t needed < <(ldd "${static%.a}.so" | grep -oP '=> \K/\S+')
  gcc -o "$work/static" "$work/program.c" "$static" "${needed[@]}" || fail "no program with MPI in it"
  refuses "cleave: COMMAND: '$work/static': expected a program with MPI as a shared library, got one that contains it" \
    cleave cosched mpirun.mpich -n 2 "$work/static"
fi
exit "$((failures > 0))"
