#!/usr/bin/env bash
# labels: once
# The Tascell programs of apps/tascell: right by 1, 2 and 8 workers and in a check; what is wrong on a command line is one line.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"

# nearly REGEX PROGRAM [ARGUMENT…]: prints what is so, with blanks for the ends of lines, and nothing on standard error but the
# check's own line. The last digits of sums of doubles depend on the order.
nearly() {
  timeout 120 "$bin/tascell-$2" "${@:3}" >"$work/out" 2>"$work/err" || fail "${*:2}: exit status $?: $(cat "$work/err")"
  [[ $(tr '\n' ' ' <"$work/out") =~ ^$1$ ]] || fail "${*:2}: '$(cat "$work/out")', expected '$1'"
  [[ -z $(grep -v '^cleave: CLEAVE_CHECK=' "$work/err") ]] || fail "${*:2}: $(cat "$work/err")"
}
# prints LINE PROGRAM [ARGUMENT…]: exactly that.
prints() { nearly "$1 " "${@:2}"; }
force='x = -0.28452254970376[0-9]+ y = -0.213391230192579?[0-9]* z = -0.8536155172331[0-9]+ '
small='error = ([0-9.]+e-1[5-9]|0) '

for workers in 1 2 8; do
  prints 'r = 832040' fib 30 --workers "$workers"
  prints 's = 724' queens 10 --workers "$workers"
  prints 'r = 25' comp 5000 --workers "$workers"
  nearly "$small" lu 200 --workers "$workers"
  nearly "$force" grav 20 --workers "$workers"
done
for check in 1 100; do
  prints 'r = 610' fib 15 --check "$check"
  prints 's = 10' queens 5 --check "$check"
  prints 'r = 0' comp 100 --check "$check"
  nearly "$small" lu 100 --check "$check"
  nearly 'x = -0.039028974986287[0-9]+ y = .* z = .*' grav 3 --check "$check"
done
prints 's = 9356' pentomino

refuses "tascell-fib: expected the numbers n, got 0 arguments" tascell-fib
refuses "tascell-fib: expected the numbers n, got 2 arguments" tascell-fib 1 2
refuses "tascell-fib: n: expected a whole number that it can hold, got '1x'" tascell-fib 1x
refuses "tascell-fib: n: expected a whole number that it can hold, got '3000000000'" tascell-fib 3000000000
refuses "tascell-pentomino: expected no arguments, got 1 argument" tascell-pentomino 1
[[ $("$bin/tascell-fib" --help) == "usage: tascell-fib [--time] n "* ]] || fail "--help: $("$bin/tascell-fib" --help)"
"$bin/tascell-fib" --time 20 >"$work/out" 2>"$work/err"
[[ $(cat "$work/out") == "r = 6765" && $(cat "$work/err") =~ ^[0-9]+\.[0-9]{6}\ s$ ]] || fail "--time: $(cat "$work/out" "$work/err")"

# The translator: a mistake is a line as a compiler prints it; nothing is written then.
cd "$work" || exit 1
printf 'task t {\n  in: int *p;\n};\n' >wrong.tc
refuses "wrong.tc:2:11: error: expected no pointer in a field that travels (fields before 'in:' stay), got '*'" \
  cleave tascell wrong.tc -o made.cpp
[[ ! -e made.cpp ]] || fail "a program with a mistake is written"
: >empty.tc
refuses "empty.tc: expected a readable file that is not empty, got an empty file" cleave tascell empty.tc
refuses "none.tc: expected a readable file that is not empty, got No such file or directory" cleave tascell none.tc
refuses "cleave: FILE: expected a word, got nothing" cleave tascell

# A compiler names the line of the program, and so does a mistake of C in it.
sed 's|y = this.r;|y = this.r + unknown;|' "$CLEAVE_SOURCE_DIR/apps/tascell/fib.tc" >fib.tc
"$bin/cleave" tascell fib.tc -o fib.cpp || fail "tascell fib.tc"
line=$(grep -n unknown fib.tc | cut -d: -f1)
"$CXX" -std=c++20 -fsyntax-only -I"$CLEAVE_SOURCE_DIR/include" -I"$CLEAVE_BINARY_DIR/generated/include" fib.cpp 2>errors &&
  fail "an unknown name compiles"
grep -q "^fib.tc:$line:" errors || fail "the compiler does not name fib.tc:$line: $(head -3 errors)"
exit "$((failures > 0))"
