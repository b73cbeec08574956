# For the scripts here, after checks.bash: one daemon of a gang on this machine, at $socket, and jobs of two processes that
# compute all the time.
#   serve             starts the daemon; sets `daemon`
#   queue FILE        a job, stopped as `kind` says; its processes' ids are in FILE, what it says in FILE.err; sets `client`
#   started FILE      waits until both processes of a job run
#   runs FILE WHAT    fails unless they make progress; so do `stopped` unless they make none, and `gone` unless none is left
#   first_job, last_job, states   what `ps` says: the least and the greatest number of a job, and the states of all jobs
#   in_each_way COMMAND  runs it with a daemon, once for each way to stop jobs that this user may use: cgroup2, cgroup1, signals
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
[[ -x $bin/cleave ]] || exit 77
socket=$work/gang
gang=("$bin/cleave" gang --socket "$socket")
spin='for i in 1 2; do (while :; do :; done) & echo $! >>"$0"; done; wait'

kind=signals
cgroups=  # of this script's jobs: another script's may be there too
trap 'end_all; rm -rf "$work"' EXIT
end_all() {  # a keeper whose client is killed ends its job
  local left
  left=$(jobs -p)
  [[ -z $left ]] || kill -9 $left 2>/dev/null
  wait 2>/dev/null
}

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
ticks() { cpu_ticks $(<"$1"); }  # FILE: CPU time of a job's processes so far
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
      if alive "$pid"; then sleep 0.05; continue 2; fi
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
numbers() { "${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+'; }
first_job() { numbers | head -1; }
last_job() { numbers | sort -n | tail -1; }
states() { "${gang[@]}" ps --json | grep -oP '"state":"\K[a-z]+' | sort | tr '\n' ' '; }
both_say() { grep -q "$1" "$work/a.err" && grep -q "$1" "$work/b.err"; }

in_each_way() {
  local name
  for kind in cgroup2 cgroup1 signals; do
    cgroups=
    serve
    "${gang[@]}" run --stop-by "$kind" true 2>"$work/err" ||
      { echo "skipped: $(cat "$work/err")"; kill "$daemon"; wait "$daemon"; continue; }
    "$@"
    [[ $kind == signals || $cgroups == *cleave-gang-* ]] || fail "$kind: its jobs are in no cgroup of their own"
    for name in $cgroups; do
      [[ -z $(find /sys/fs/cgroup -type d -name "$name" 2>/dev/null) ]] || fail "$kind: a cgroup is left: $name"
    done
    echo "ok: $kind"
  done
}
