# For the scripts of the programs in bin/graphs, after checks.bash. Each program looks itself whether what a subtask reads was
# there.

# expect WORKERS COMMAND…: with few subtasks it prints one line, of so many workers.
expect() {
  local wanted=$1
  shift
  timeout 60 "$@" --steps 60 --rounds 1 >"$work/out" 2>"$work/err" || fail "$*: $(head -c 300 "$work/err")"
  [[ $(wc -l <"$work/out") == 1 ]] || fail "$*: not one line: $(head -c 300 "$work/out")"
  grep -q "\"workers\":$wanted,.*\"curve\":\[{\"granularity_us\":[0-9.e-]*,\"efficiency\":[0-9]" "$work/out" ||
    fail "$*: $(head -c 300 "$work/out")"
}

# each_grid COMMAND…: runs it with the arguments of every pattern, narrow and wide.
each_grid() {
  for pattern in trivial stencil fft; do
    for width in 1 2 13; do "$@" $pattern --width $width; done
  done
}
