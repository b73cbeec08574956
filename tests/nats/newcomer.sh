#!/usr/bin/env bash
# labels: once
# docs/sites.md, line by line as it stands there (it sets `bin` first): two sites on one host, and the answer that it shows.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
# The ports are those of the text, so it needs a network of its own.
if [[ ${1:-} != inside ]]; then
  trap - EXIT
  rm -rf "$work"
  unshare -rn ip link set lo up 2>/dev/null ||
    { echo "skipped: no network namespaces for this user, or no ip (Debian: iproute2)"; exit 77; }
  exec unshare -rn bash "$0" inside
fi
ip link set lo up
mapfile -t lines < <(sed -n '/^    $bin.cleave relay --site chiba/,/^$/s/^    //p' "$CLEAVE_SOURCE_DIR/docs/sites.md")
((${#lines[@]} == 8)) || fail "docs/sites.md: ${#lines[@]} commands, expected 8"
mkdir "$work/here"
cd "$work/here" || exit 1
: >"$work/said"
waited=0
for line in "${lines[@]}"; do
  eval "$line" >"$work/out" 2>>"$work/said" || fail "$line: status $?: $(cat "$work/said")"
  if [[ $line == *"&" ]]; then
    waited=$((waited + 1))
    all_serve() { [[ $(grep -cE 'ready: |offers ' "$work/said") == "$waited" ]]; }
    patiently all_serve || fail "$line: $(cat "$work/said")"
  fi
done
grep -qxF "$(sed -n '/^answer /p' "$CLEAVE_SOURCE_DIR/docs/sites.md")" "$work/out" || fail "$(cat "$work/out" "$work/said")"
# Closed, standard output stays closed: the relay's socket does not get the answer.
$bin/cleave submit m1.cleave queens 10 >&- 2>"$work/err"
[[ $? == 1 && $(tail -n 1 "$work/err") == "cleave: cannot write to standard output" ]] || fail ">&-: $(cat "$work/err")"
exit "$((failures > 0))"
