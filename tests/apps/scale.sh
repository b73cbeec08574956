#!/usr/bin/env bash
# labels: once slow
# bench/scale.sh runs every application on 1, 2, … all CPUs beside copies of its sequential program, and its table is that of its JSON.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
scale=$CLEAVE_SOURCE_DIR/bench/scale.sh

bash "$scale" --quick 1 "$bin" "$work/results" >"$work/table" 2>"$work/err" || fail "exit status $?: $(cat "$work/err")"
for program in fib queens pentomino compare lu gravity uts clique matmul cholesky sort connect4 sudoku md tsp; do
  grep -qE "^\| $program[^|]* \| sequential \| [0-9.e-]+ \| \| \| \|\$" "$work/table" || fail "no $program in: $(cat "$work/table")"
done
cpus=$(nproc)
for n in 1 "$cpus"; do  # a share of what copies do is judged by nobody here
  lines=$(grep -cE "^\| \| $n( \| [0-9.e+-]+){3} \| [0-9]+ % \|\$" "$work/table")
  [[ $lines == 15 ]] || fail "$lines of 15 lines with $n workers in: $(cat "$work/table")"
done
# The JSON by itself: what the medians are of, and what follows from them.
/usr/bin/python3 - "$work/results/scale.json" "$cpus" >"$work/out" 2>&1 <<'END' || fail "scale.json: $(cat "$work/out")"
import json, math, sys
scale, cpus = json.load(open(sys.argv[1])), int(sys.argv[2])
assert scale["scale"] == 1 and scale["cpus"] == cpus and len(scale["programs"]) == 15
for program in scale["programs"]:
    counts = [run["workers"] for run in program["runs"]]
    assert counts == [1 << k for k in range(20) if 1 << k < cpus] + [cpus], counts
    for run in program["runs"]:
        assert len(run["seconds"]) == 1 and [len(c) for c in run["copies_seconds"]] == [run["workers"]]
        assert math.isclose(run["speedup"] * run["seconds"][0], program["sequential"])
        limit = sum(program["sequential"] / s for s in run["copies_seconds"][0])
        assert math.isclose(run["copies_speedup"], limit)
        assert math.isclose(run["of_copies"] * limit, run["speedup"])
assert scale["programs"][0]["answer"] == 75025, scale["programs"][0]
END
if [[ -d /usr/lib/python3/dist-packages/matplotlib ]]; then
  [[ $(head -c 4 "$work/results/scale.png" | tail -c 3) == PNG ]] || fail "no picture"
fi

# A wrong answer, a program that fails, bad arguments: one line, and no table.
refused() {  # STATUS LINE ARGUMENT…
  local status
  bash "$scale" "${@:3}" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == "$1" && ! -s $work/out && $(cat "$work/err") == $2 ]] ||
    fail "${*:3}: status $status, '$(cat "$work/out" "$work/err")', expected '$2'"
}
refused 2 "scale.sh: ROUNDS: expected a number from 1 to 999, got '0'" --quick 0
refused 2 "scale.sh: $work: expected the folder of the programs (make build)" --quick 1 "$work"
mkdir "$work/wrong"
ln -s "$bin"/* "$work/wrong"
rm "$work/wrong/fib"
printf '#!/bin/sh\nexec "%s/fib" "$@" --workers 99999\n' "$bin" >"$work/wrong/fib"
chmod +x "$work/wrong/fib"
refused 1 "scale.sh: fib 25 *: fib: --workers:*" --quick 1 "$work/wrong" "$work/other"
printf '#!/bin/sh\ncase $* in *sequential*) n=26 ;; *) n=25 ;; esac\nshift\nexec "%s/fib" $n "$@"\n' "$bin" >"$work/wrong/fib"
refused 1 "scale.sh: fib 25: answers 75025 and 121393" --quick 1 "$work/wrong" "$work/other"
exit "$((failures > 0))"
