#!/usr/bin/env bash
# labels: slow once
# The daemon's socket: what is said of it if it cannot be used, who may use it, and more jobs than one answer holds.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

refuses "cleave: --socket: '$socket': no daemon there: No such file or directory (start one: cleave gang serve)" \
  cleave gang --socket "$socket" ps
serve
refuses "cleave: --socket: '$socket': another daemon serves it" cleave gang --socket "$socket" serve
refuses "cleave: JOB: 77: no such job" cleave gang --socket "$socket" pause 77
refuses "cleave: -- mpirun ...: expected a program, got nothing" cleave gang --socket "$socket" run
[[ $(stat -c %a "$socket") == 600 ]] || fail "the socket's mode: $(stat -c %a "$socket")"
touch "$work/data"
refuses "cleave: --socket: '$work/data': expected a socket or nothing there" cleave gang --socket "$work/data" serve
[[ -f $work/data ]] || fail "a file at --socket was removed"

# More jobs than one answer holds.
if command -v python3 >/dev/null; then
  python3 - "$socket" <<'END' &
import json, socket, sys, time
asked = []
for n in range(400):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(json.dumps({"do": "run", "command": "x" * 80}).encode())
    asked.append(s)
time.sleep(600)
END
  many=$!
  all_there() { [[ $("${gang[@]}" ps | grep -c xxx) == 400 ]]; }
  patiently all_there || fail "$("${gang[@]}" ps | wc -l) lines for 400 jobs"
  kill "$many"
  wait "$many" 2>/dev/null
fi

if ((EUID == 0)); then
  chmod 711 "$work"
  setpriv --reuid 65534 --clear-groups "$bin/cleave" gang --socket "$socket" ps 2>"$work/err" && fail "another user may ask"
  grep -q "Permission denied" "$work/err" || fail "another user: $(cat "$work/err")"
  chmod 666 "$socket"  # whoever opened it: the daemon asks the kernel who it is
  setpriv --reuid 65534 --clear-groups "$bin/cleave" gang --socket "$socket" ps 2>"$work/err" && fail "another user is answered"
fi
kill "$daemon"
exit "$((failures > 0))"
