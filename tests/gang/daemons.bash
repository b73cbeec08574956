# For the scripts here, after checks.bash and nats/machines.bash: daemons of one gang on this machine, each in the place of a
# node's, with a socket of its own. Their jobs reach other nodes by a shell that stays here.
#   on NODE COMMAND…        in that node's place
#   serve NODE [ARGUMENT…]  its daemon, with $work/NODE.cleave; what keepers do is in $work/NODE.log; sets `daemon` and
#                           daemons[NODE]
#   begin_job NODE FILE SCRIPT [NODE…]  a job of bash that runs SCRIPT there, and by the remote shell on the other nodes; its
#                           processes write their ids into $work/FILE.NODE; sets `job`, and `name` as ps shows it
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
declare -A daemons=()
gang=("$bin/cleave" gang)
unset CLEAVE_GANG_JOB CLEAVE_GANG_KEEPER CLEAVE_GANG_SHELL CLEAVE_GANG_REMOTE_SOCKET CLEAVE_GANG_STOP_BY
unset SLURM_JOB_ID LSB_JOBID PBS_JOBID JOB_ID
unset OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent HYDRA_LAUNCHER_EXEC
# What ssh and its server are elsewhere: a command that is no descendant of who asked for it.
cat >"$work/shell" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
work=$work host=\$1
shift
echo "exec \$*" >"\$work/ssh.\$\$"
echo "\$\$" >"\$work/\$host.asked"
until [[ -e \$work/ssh.\$\$.status ]]; do sleep 0.05; done
exit "\$(cat "\$work/ssh.\$\$.status")"
END
chmod +x "$work/shell"
server_of() {  # NODE
  local asked here=("${at[@]}")
  mkfifo "$work/$1.asked"
  {
    while read -r asked; do
      {
        CLEAVE_GANG_SOCKET=$work/$1.socket NODE=$1 "${here[@]}" sh "$work/ssh.$asked" </dev/null &
        echo "$!" >>"$work/started"
        wait "$!"
        echo "$?" >"$work/ssh.$asked.part" && mv "$work/ssh.$asked.part" "$work/ssh.$asked.status"
      } &
    done
  } <>"$work/$1.asked" 2>>"$work/$1.out" &
}
trap 'end_started; end_all; rm -rf "$work"' EXIT
end_started() {  # their keepers end what they have started
  local pid k pids=()
  [[ ! -e $work/started ]] || mapfile -t pids <"$work/started"
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  for pid in "${pids[@]}"; do
    for ((k = 0; k < 100; ++k)); do [[ -e /proc/$pid ]] || break; sleep 0.05; done
    [[ ! -e /proc/$pid ]] || echo "after SIGTERM and 5 s there is still process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
  done
}

at=()  # words before each command of a node
on() { CLEAVE_GANG_SOCKET=$work/$1.socket NODE=$1 "${@:2}"; }
serve() {
  [[ -e $work/$1.asked ]] || server_of "$1"
  : >"$work/$1.out"
  CLEAVE_GANG_SOCKET=$work/$1.socket "${at[@]}" "${gang[@]}" serve --join "$work/$1.cleave" --log "$work/$1.log" "${@:2}" >>"$work/$1.out" 2>&1 &
  daemon=$!
  daemons[$1]=$daemon
  until_said "$1.out" 'serves .*'
}
# As a launcher of MPI does: its own part here, and others through the agent that is set. There a shell stays around it.
cat >"$work/launch" <<'END'
file=$1 script=$2
shift 2
for node; do "$OMPI_MCA_plm_rsh_agent" -x "$node" "file='$file' bash -c '$script'; exit" & done
file=$file bash -c "$script" &
wait
END
run_on() {  # NODE FILE ARGUMENT…: its process is the command's, for `kill`
  # As from a terminal: what Bash starts in the background ignores SIGINT.
  CLEAVE_GANG_SOCKET=$work/$1.socket NODE=$1 file=$work/$2 "${at[@]}" env --default-signal=INT "${gang[@]}" run --stop-by "${kind:-signals}" "${@:3}" 2>"$work/$2.err" &
  job=$!
  echo "$job" >>"$work/started"
}
begin_job() {
  local k before
  rm -f "$work/$2".*
  before=$(on "$1" "${gang[@]}" ps --json | grep -oP '"job":"\K[^"]+' | sort)
  run_on "$1" "$2" --remote-shell "$work/shell" -- bash "$work/launch" "$work/$2" "$3" "${@:4}"
  new_name() { name=$(comm -13 <(echo "$before") <(on "$1" "${gang[@]}" ps --json | grep -oP '"job":"\K[^"]+' | sort) | grep "^here\.$1\." | head -1); [[ -n $name ]]; }
  patiently new_name "$1" || fail "job $2 is not queued: $(cat "$work/$2.err")"
  parts_begin() { local node; for node; do [[ -s $work/$file.$node ]] || return; done; }
  local file=$2
  patiently parts_begin "$1" "${@:4}" || fail "job $2 did not begin everywhere: $(cat "$work/$2.err" "$work"/*.out)"
}
spin='echo $$ >>"$file.$NODE"; while :; do :; done'

ticks() { cpu_ticks "$(head -1 "$1")"; }  # FILE: CPU time of its process so far
goes_on() {  # FILE WHAT: it makes progress
  local before
  before=$(ticks "$work/$1")
  progressed() { (($(ticks "$work/$1") > before)); }
  patiently progressed "$1" || fail "$2: $1 does not run: $(on a "${gang[@]}" ps 2>&1)"
}
stays() {  # FILE WHAT: it makes none, once it has stopped
  stood() {
    local before
    before=$(ticks "$work/$1")
    sleep 0.5
    (($(ticks "$work/$1") == before))
  }
  patiently stood "$1" || fail "$2: $1 is not stopped"
}
gone() {  # FILE WHAT
  local pid how
  pid=$(head -1 "$work/$1")
  is_gone() { ! alive "$pid"; }
  patiently is_gone && return
  fail "$2: process $pid of $1 is left"
  while ((pid > 1 && pid != $$)); do  # it, its keeper, whoever began that
    grep -E '^(Name|State|Pid|PPid|SigPnd|ShdPnd|SigBlk|SigIgn):' "/proc/$pid/status" || break
    pid=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
  done
  grep -n '' "$work/started" "$work/${1#*.}.out"
  tail -5 "$work/${1#*.}.log"
  pid=$(head -1 "$work/$1")
  for how in CONT TERM KILL; do
    kill "-$how" "$pid" && sleep 1 && is_gone && echo "it is gone after SIG$how" && break
  done
}
ps_says() {  # NODE REGEX
  on "$1" "${gang[@]}" ps --json >"$work/ps" 2>&1 && grep -qE -- "$2" "$work/ps"
}
until_ps() { patiently ps_says "$@" || fail "ps on $1: not '$2': $(cat "$work/ps")"; }
