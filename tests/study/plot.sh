#!/usr/bin/env bash
# The pictures come out of a study, the pages' figures are those of docs/study.json, and bad input changes nothing.
# labels: once
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
docs=$CLEAVE_SOURCE_DIR/docs
plot() { /usr/bin/python3 "$docs/plot.py" --docs "$work/docs" "$@"; }
fresh() {
  rm -rf "$work/docs" && mkdir "$work/docs" && cp "$docs"/study.{json,md} "$docs"/{performance,scale}.md "$work/docs"
}
pictures() {  # all four, as PNG
  for name in compared study performance scale; do
    [[ $(head -c 4 "$work/docs/pictures/$name.png" | tail -c 3) == PNG ]] || fail "$1: no picture $name.png"
  done
}

fresh
plot || fail "exit status $?"
pictures "of docs/study.json"
cmp "$docs/study.md" "$work/docs/study.md" || fail "the table of docs/study.md is not that of docs/study.json: make plot"
cmp "$docs/study.json" "$work/docs/study.json" || fail "docs/study.json was written to"

# What `cleave study` measures now can be drawn, and drawn again from what was kept of it.
"$bin/cleave" study --quick --passes 1 --systems serial,cleave,libgomp \
  --kernels fib,queens,uts,tree-2,skynet,matmul -o "$work" >"$work/out" || fail "no study: $(cat "$work/out")"
fresh
plot "$work/study.json" || fail "a new study: exit status $?"
pictures "of a new study"
grep -q '^| libgomp |' "$work/docs/study.md" || fail "no line of the table for libgomp"
grep -q '^| lace |' "$work/docs/study.md" && fail "Lace's old line is still there"
cp "$work/docs/study.md" "$work/first.md"
plot && cmp "$work/first.md" "$work/docs/study.md" || fail "another table from what was kept"

# refused LINE [ARGUMENT…]: that line, exit status 2, and nothing written.
refused() {
  local line=$1 status
  shift
  plot "$@" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == 2 && ! -s $work/out && $(cat "$work/err") == $line ]] || fail "$*: $status, $(cat "$work/err")"
  [[ ! -e $work/docs/pictures ]] || fail "$*: something was written"
}
fresh
refused "plot.py: $work/none.json: expected the study.json of a study, got *" "$work/none.json"
echo '{"study": 2}' >"$work/other.json"
refused "plot.py: $work/other.json: expected the study.json of a study, got *" "$work/other.json"
echo "[1]" >"$work/list.json"
refused "plot.py: $work/list.json: expected the study.json of a study, got *" "$work/list.json"
sed -i '/"kernel": "uts"/d' "$work/docs/study.json"
refused "plot.py: $work/docs/study.json: expected serial and cleave, on two workers, in uts"
fresh
sed -i 's/^| fib 40 .*/| fib 40 | fast |/' "$work/docs/performance.md"
refused "plot.py: $work/docs/performance.md: expected two ratios in the line *"
fresh
sed -i '/^<!-- end of the table/d' "$work/docs/study.md"
refused "plot.py: $work/docs/study.md: expected the lines *"
exit "$((failures > 0))"
