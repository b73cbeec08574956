#!/usr/bin/env bash
# labels: timing once
# `cleave study --quick` runs every kernel on every system that is here, in less than two minutes; its page shows all of it.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"

start=$SECONDS
"$bin/cleave" study --quick -o "$work" >"$work/out" 2>"$work/err" </dev/null || fail "exit status $?: $(cat "$work/err")"
cat "$work/out"
# Sixteen systems take a minute and three quarters; a CI machine has six, or with cargo seven.
((SECONDS - start < 120)) || fail "took $((SECONDS - start)) s"
[[ ! -s $work/err ]] || fail "something on standard error, which is not a terminal: $(head -c 300 "$work/err")"
for system in serial cleave cleave_groups libgomp onetbb; do
  grep -q "^ *\"system\": \"$system\"" "$work/study.json" || fail "$system was not run"
done
# Cleave and the serial program never fail. Others may: libomp can take minutes on a busy machine.
grep -qE '^failed: .* on (serial|cleave|cleave_groups) ' "$work/out" && fail "a kernel failed on cleave"
grep -q "wrong answer" "$work/out" && fail "a wrong answer"
# Where the time goes, of the systems that are fast enough with clocks everywhere.
awk -F'"' '$2 == "kernel" { k = $4 } $2 == "system" { s = $4 } $2 == "shares" { print k, s }' "$work/study.json" >"$work/shares"
for kernel in tree-1 tree-2 fib queens uts skynet matmul; do
  for system in serial cleave_groups onetbb; do
    grep -qx "$kernel $system" "$work/shares" || fail "no shares of $kernel on $system"
  done
done
[[ -z $(compgen -G "$work/*.part*") ]] || fail "a half-written file"

"$bin/cleave" study --compare "$work/study.json" "$work/study.json" | grep -qx "nothing changed beyond noise" ||
  fail "--compare of one study with itself"

# Ctrl-C ends it with what there is by then.
"$bin/cleave" study --quick --passes 1000 --kernels fib --systems serial,cleave -o "$work/cut" >"$work/cut.out" 2>&1 &
study=$!
sleep 2
kill -INT "$study"
wait "$study"
status=$?
[[ $status == 130 ]] || fail "interrupted: exit status $status: $(cat "$work/cut.out")"
grep -q '"interrupted": true' "$work/cut/study.json" && [[ -s $work/cut/study.html ]] || fail "interrupted, it wrote nothing"
grep -q "^failed" "$work/cut.out" && fail "interrupted, it takes a run for failed"

# How busy the machine was is told, and if it was, everywhere.
grep -q '"others": [0-9]' "$work/study.json" || fail "it does not say what others used"
disturbed=$(grep -c '^ "disturbed": ' "$work/study.json")
[[ $(grep -c '^DISTURBED: ' "$work/out") == "$disturbed" ]] || fail "the terminal and study.json differ on what disturbed it"

if opens "$work/study.html" "the study"; then
  [[ $(grep -c 'class="disturbed"' "$work/dom") == "$disturbed" ]] || fail "the page and study.json differ on what disturbed it"
  plots=$(grep -o '<canvas' "$work/dom" | wc -l)
  # What a task costs, with all workers, migrate, spread; seven programs, and where the time of each goes.
  if [[ $(nproc) -ge 2 && $plots -ne 18 ]]; then fail "$plots plots, expected 18"; fi
  grep -q '<th>non-inherent idle</th>' "$work/dom" || fail "no table of where the time goes"
  bounds=$(grep -o '<th>greedy bound</th>' "$work/dom" | wc -l)
  if [[ $(nproc) -ge 2 && $bounds -ne 7 ]]; then fail "$bounds tables with the greedy bound, expected 7"; fi
  grep -q '<td>matmul</td>' "$work/dom" || fail "no figures of matmul"
fi

refuses "cleave: --kernels: expected some of spawn, migrate, spread, tree-1, tree-2, fib, queens, uts, skynet, matmul, got 'fob'" cleave study --kernels fob
refuses "$work/none.json: expected a readable file that is not empty, got No such file or directory" cleave study --compare "$work/none.json" "$work/study.json"
refuses "cleave: expected a command, got none (--help lists them)" cleave
refuses "cleave: gang: expected a command, got none (--help lists them)" cleave gang
refuses "cleave: unknown command 'studdy' (--help lists them)" cleave studdy
refuses "cleave: unexpected argument 'quick' (see --help)" cleave study quick
refuses "cleave: --workers: expected a whole number from 1 to 1024, got '0'" cleave study --workers 2,0
refuses "cleave: --compare: expected 2 values, got 1" cleave study --compare "$work/study.json"
refuses "serial: KERNEL: expected one of spawn, migrate, spread, tree-1, tree-2, fib, queens, uts, skynet, matmul, got 'fob'" systems/serial fob
refuses "serial: --account: not of spawn, migrate and spread" systems/serial spawn --account
"$bin/cleave" study --help | grep -q '^Usage: cleave study ' || fail "cleave study --help"

exit "$((failures > 0))"
