#!/usr/bin/env bash
# labels: slow once
# Jobs of the gang stop and continue as a whole, and whoever of daemon, keeper and client is killed, nothing stays stopped.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
[[ -x $bin/cleave ]] || exit 77
socket=$work/gang
gang=("$bin/cleave" gang --socket "$socket")
spin='for i in 1 2; do (while :; do :; done) & echo $! >>"$0"; done; wait'

started() {  # FILE: both processes of a job run
  for ((k = 0; k < 200; ++k)); do
    [[ -e $1 && $(wc -l <"$1") == 2 ]] && {
      cgroups+=" $(grep -oh 'cleave-gang-[0-9]*' "/proc/$(head -1 "$1")/cgroup")"
      return
    }
    sleep 0.05
  done
  fail "a job did not start: $("${gang[@]}" ps 2>&1)"
}
ticks() {  # FILE: CPU time of a job's processes so far
  local sum=0 pid stat
  while read -r pid; do
    stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
    stat=(${stat##*) })
    sum=$((sum + stat[11] + stat[12]))
  done <"$1"
  echo "$sum"
}
runs() {  # FILE WHAT: it makes progress
  local before
  before=$(ticks "$1")
  for ((k = 0; k < 200; ++k)); do
    (($(ticks "$1") > before)) && return
    sleep 0.05
  done
  fail "$kind: $2: does not run"
}
stopped() {  # FILE WHAT
  sleep 0.3
  local before
  before=$(ticks "$1")
  sleep 0.3
  (($(ticks "$1") == before)) || fail "$kind: $2: not stopped"
}
gone() {  # FILE WHAT: no process of it is left
  local pid
  for ((k = 0; k < 200; ++k)); do
    while read -r pid; do
      [[ $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) == [^Z]* ]] && { sleep 0.05; continue 2; }
    done <"$1"
    return
  done
  fail "$kind: $2: process $pid is left"
}
serve() {  # a socket may be left by a daemon that was killed
  rm -f "$work/log"
  "${gang[@]}" serve --slice 50 >"$work/log" 2>&1 &
  daemon=$!
  for ((k = 0; k < 100; ++k)); do grep -q serves "$work/log" 2>/dev/null && return; sleep 0.05; done
  fail "no daemon: $(cat "$work/log")"
}
queue() {  # FILE: a job; sets `client`
  rm -f "$1"
  "${gang[@]}" run --stop-by "$kind" -- bash -c "$spin" "$1" 2>"$1.err" &
  client=$!
  started "$1"
}
first_job() { "${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | head -1; }

refuses "cleave: --socket: '$socket': no daemon there: No such file or directory (start one: cleave gang serve)" \
  cleave gang --socket "$socket" ps
for kind in cgroup2 cgroup1 signals; do
  cgroups=  # of this test's jobs: another test's may be there too
  serve
  "${gang[@]}" run --stop-by "$kind" true 2>"$work/err" ||
    { echo "skipped: $(cat "$work/err")"; kill "$daemon"; wait "$daemon"; continue; }
  queue "$work/a"; a=$client
  job=$(first_job)
  queue "$work/b"; b=$client
  runs "$work/a" "first of two" && runs "$work/b" "second of two"
  "${gang[@]}" pause "$job" || fail "$kind: pause"
  stopped "$work/a" paused
  runs "$work/b" "the other one"
  "${gang[@]}" resume "$job" || fail "$kind: resume"
  runs "$work/a" resumed
  "${gang[@]}" pause "$job"
  stopped "$work/a" "paused again"
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null
  runs "$work/a" "paused, and the daemon killed" && runs "$work/b" "and the daemon killed"
  serve  # they come back, under their names, and take turns; a new job has another name
  returned() { grep -q '^cleave: a daemon is there again' "$work/a.err" && grep -q '^cleave: a daemon is there again' "$work/b.err"; }
  patiently returned || fail "$kind: jobs do not come back to a daemon: $(cat "$work/a.err" "$work/b.err")"
  queue "$work/c"; c=$client
  [[ $("${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | sort -u | wc -l) == 3 ]] || fail "$kind: not three jobs: $("${gang[@]}" ps)"
  "${gang[@]}" kill "$("${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | sort -n | tail -1)"
  wait "$c"; (($? == 143)) || fail "$kind: the last one's exit status"
  runs "$work/a" "returned" && runs "$work/b" "returned"
  "${gang[@]}" pause "$job" || fail "$kind: pause, after the daemon was killed"
  stopped "$work/a" "paused by another daemon"
  runs "$work/b" "the other one, returned"
  kill "$daemon"
  wait "$daemon"
  runs "$work/a" "paused, and the daemon ended"
  kill "$a" "$b"
  wait "$a"; (($? == 143)) || fail "$kind: ended by SIGTERM: exit status"
  wait "$b"
  gone "$work/a" "client ended" && gone "$work/b" "client ended"

  serve
  queue "$work/a"; a=$client
  (($(first_job) > job + 2)) || fail "$kind: a number is given again: $(first_job)"
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before its keeper is killed"
  kill -9 "$(pgrep -P "$a" -x gang-keeper)"
  wait "$a"; (($? == 137)) || fail "$kind: keeper killed: exit status"
  gone "$work/a" "keeper killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before its client is killed"
  kill -9 "$a"
  wait "$a" 2>/dev/null
  gone "$work/a" "client killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  "${gang[@]}" kill "$(first_job)"
  wait "$a"; (($? == 143)) || fail "$kind: kill: exit status"
  gone "$work/a" "killed"
  kill "$daemon"
  wait "$daemon" || fail "$kind: the daemon's exit status"
  [[ ! -e $socket ]] || fail "$kind: a socket is left"
  [[ $kind == signals || $cgroups == *cleave-gang-* ]] || fail "$kind: its jobs are in no cgroup of their own"
  for name in $cgroups; do
    [[ -z $(find /sys/fs/cgroup -type d -name "$name" 2>/dev/null) ]] || fail "$kind: a cgroup is left: $name"
  done
  echo "ok: $kind"
done

kind=any
serve
"${gang[@]}" run sh -c 'exit 7'; (($? == 7)) || fail "a job's exit status"
asked=$(nice -n 5 nice)
[[ $(nice -n 5 "${gang[@]}" run nice) == "$asked" ]] || fail "a job's nice value is not $asked"
policy=$(chrt --batch 0 "${gang[@]}" run sh -c 'chrt -p $$' | head -1)
[[ $policy == *SCHED_BATCH ]] || fail "a job's policy: $policy"
"${gang[@]}" run no-such-program 2>"$work/err"; (($? == 2)) || fail "no such program: exit status"
[[ $(cat "$work/err") == "cleave: COMMAND: 'no-such-program': No such file or directory" ]] || fail "$(cat "$work/err")"
refuses "cleave: --socket: '$socket': another daemon serves it" cleave gang --socket "$socket" serve
refuses "cleave: JOB: 77: no such job" cleave gang --socket "$socket" pause 77
refuses "cleave: -- mpirun ...: expected a program, got nothing" cleave gang --socket "$socket" run
[[ $(stat -c %a "$socket") == 600 ]] || fail "the socket's mode: $(stat -c %a "$socket")"
if ((EUID == 0)); then
  chmod 711 "$work"
  setpriv --reuid 65534 --clear-groups "$bin/cleave" gang --socket "$socket" ps 2>"$work/err" && fail "another user may ask"
  grep -q "Permission denied" "$work/err" || fail "another user: $(cat "$work/err")"
  chmod 666 "$socket"  # whoever opened it: the daemon asks the kernel who it is
  setpriv --reuid 65534 --clear-groups "$bin/cleave" gang --socket "$socket" ps 2>"$work/err" && fail "another user is answered"
fi
kill "$daemon"
exit "$((failures > 0))"
