#!/usr/bin/env bash
# labels: once
# `cleave record` counts all messages, finds who waits for whom, and refuses what it cannot read.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export OMPI_MCA_mpi_yield_when_idle=1
plan=$work/run.plan

refuses "cleave: mpirun ...: expected a program, got nothing" cleave record
refuses "cleave: unknown option '--quiet' (--help lists them)" cleave record --quiet mpirun -n 2 true
refuses "cleave: COMMAND: expected a program, got 'no-such-launcher'" cleave record no-such-launcher
refuses "cleave: COMMAND: 'true' does not tell its MPI: give --mpi openmpi or --mpi mpich" cleave record true
refuses "cleave: $work/none/run.plan: cannot be written: No such file or directory" \
  cleave record -o "$work/none/run.plan" mpirun true

value() { grep -oP "\"$1\":\K[-0-9.e+]+" "$work/out" | head -1; }
is() { [[ $(value "$1") == "$2" ]] || fail "$mpi: $1: $(value "$1"), expected $2"; }
# waits RANK OTHER: for some time, of the 0.05 seconds that it takes on a machine that is not busy
waits() {
  grep -oP "\"rank\":$1,\"waits_for\":$2,\"seconds\":\K[-0-9.e+]+" "$work/out" >"$work/wait" ||
    fail "$mpi: rank $1 does not wait for rank $2"
  awk '{ exit !($1 > 0.005 && $1 < 60) }' "$work/wait" || fail "$mpi: rank $1 waits $(cat "$work/wait") s for rank $2"
}
# recorded ARGUMENT…: the program's arguments; the object that is printed is in $work/out.
recorded() {
  launch "$mpi" 3 "$CLEAVE_BINARY_DIR/tests/programs/record-calls-$mpi" "$@"
  timeout 60 "$bin/cleave" record -o "$plan" --json "${command[@]}" >"$work/out" 2>"$work/err"
}

printf '{"cleave_network": 1, "networks": [%s, %s]}' \
  '{"name": "cleave-openmpi", "L_us": 1, "o_us": 1, "g_us": 1, "G_us_per_byte": 1}' \
  '{"name": "plain", "L_us": 1, "o_us": 1, "g_us": 1, "G_us_per_byte": 1}' >"$work/network.json"
for mpi in "${mpis[@]}"; do
  [[ -e $CLEAVE_BINARY_DIR/tests/programs/record-calls-$mpi ]] || { fail "$mpi: record-calls-$mpi is not built"; continue; }
  recorded || fail "$mpi: exit status $?: $(cat "$work/err")"
  is ranks 3
  is messages 20
  is bytes 24568.0
  is collectives 18
  is without_partner 0
  is calls_of_other_threads 3
  waits 1 0
  waits 2 0
  awk -v is="$(value forecast)" -v was="$(value seconds)" \
    'BEGIN { exit !(is > 0.95 * was && is < 1.05 * was) }' ||
    fail "$mpi: a forecast of $(value forecast) s for this run of $(value seconds) s"
  grep -qE '"what":"after (Recv|Barrier|Send) in (send|receive|late_sender|main)' "$work/out" || fail "$mpi: no name: $(cat "$work/out")"
  forecast=$(value forecast)
  "$bin/cleave" plan "$plan" --json >"$work/out" || fail "$mpi: cleave plan"
  is nodes 3
  grep -oP '"nodes":3,"workers":1,"seconds":\K[-0-9.e+]+' "$work/out" | grep -qxF "$forecast" ||
    fail "$mpi: cleave plan forecasts something else than $forecast: $(cat "$work/out")"
  "$bin/cleave" plan "$plan" --network "$work/network.json" --json >"$work/out" || fail "$mpi: cleave plan --network"
  grep -q '"network":"plain"' "$work/out" || fail "$mpi: messages as over another network than MPI's own: $(cat "$work/out")"
  refuses "cleave: --nodes: expected at most 3, as $plan is a run of 3 ranks, which are not divided, got 4" \
    cleave plan "$plan" --nodes 4

  refuses "md: --plan: cleave::team_graph: $plan: expected a graph of a team, got a run of an MPI program" \
    md 4 --steps 1 --plan "$plan"

  rm "$plan"
  recorded 3
  status=$?
  [[ $status == 3 ]] || fail "$mpi: exit status $status for the program's 3"
  [[ -s $plan ]] || fail "$mpi: nothing recorded of a program that has failed at its end"

  rm "$plan"
  printf '%s\n' "${command[*]} >&2" 'truncate -s -64 "$CLEAVE_RECORD_FOLDER/rank-1"' 'exit 0' >"$work/job.sh"
  timeout 60 "$bin/cleave" record -o "$plan" --mpi "$mpi" sh "$work/job.sh" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == 2 ]] || fail "$mpi: a rank's file is cut: exit status $status"
  grep -qE "^/.*/rank-1: expected the rank's MPI_Finalize, got the file's end after [0-9]+ calls$" "$work/err" ||
    fail "$mpi: a rank's file is cut: $(cat "$work/err")"
  [[ ! -s $work/out && ! -e $plan ]] || fail "$mpi: something written of a file that is cut"

  refuses "cleave: nothing recorded: expected a program that calls MPI_Init" cleave record -o "$plan" --mpi "$mpi" true
done
exit "$((failures > 0))"
