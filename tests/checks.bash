# For scripts among the tests that run programs and look at what they print. Sets `bin`, `work` (a folder, gone at the end) and
# `failures`; ends by `exit "$((failures > 0))"` in the script.
bin=$CLEAVE_BIN_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# refuses LINE PROGRAM [ARGUMENT…]: that line on standard error and nothing else, exit status 2.
refuses() {
  local line=$1 status
  shift
  "$bin/$1" "${@:2}" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == 2 ]] || fail "$*: exit status $status"
  [[ ! -s $work/out ]] || fail "$*: something on standard output"
  [[ $(cat "$work/err") == "$line" ]] || fail "$*: '$(cat "$work/err")', expected '$line'"
}
