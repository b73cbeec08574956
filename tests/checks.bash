# For scripts among the tests that run programs and look at what they print. Sets `bin`, `work` (a folder, gone at the end) and
# `failures`; ends by `exit "$((failures > 0))"` in the script.
bin=$CLEAVE_BIN_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 failures_told=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# ok WHAT: says that it holds, if nothing has failed since the last time.
ok() {
  ((failures > failures_told)) || echo "ok: $*"
  failures_told=$failures
}

# patiently COMMAND…: until it succeeds; a machine may be busy.
patiently() {
  local k
  for ((k = 0; k < 600; ++k)); do
    "$@" && return
    sleep 0.1
  done
  return 1
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

# opens PAGE WHAT: in Chromium, without an error on it; $work/dom is what it shows then. False where no Chromium is.
opens() {
  local browser
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium here to open the page in"
    return 1
  }
  HOME=$work timeout 60 "$browser" --headless --no-sandbox --disable-gpu --dump-dom "file://$1" \
    >"$work/dom" 2>/dev/null || fail "$2: Chromium cannot open the page"
  ! grep -o '<html[^>]*data-error=[^>]*>' "$work/dom" || fail "$2: an error on the page"
}
