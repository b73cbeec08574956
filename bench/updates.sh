#!/usr/bin/env bash
# How long it takes until all nodes have what one of them has found, over processes of this machine: a shared value and a gathered
# variable. usage: bench/updates.sh [FOLDER OF THE PROGRAMS]   (build/release/bin)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-build/release/bin}
export CLEAVE_WORKERS=1 CLEAVE_PLUGINS=$bin/../lib OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
echo "| nodes | shared, µs (10 to 90 %) | gathered, µs (10 to 90 %) | messages for an update | bytes for an update |"
echo "| --- | --- | --- | --- | --- |"
for nodes in 2 4 8 16 32; do
  row="| $nodes"
  for what in --shared ""; do
    # shellcheck disable=SC2086
    line=$(mpirun.openmpi --oversubscribe --bind-to none -n "$nodes" "$bin/net-updates" $what)
    row+=" | $(sed -E 's/.*"us":([0-9]+)[^,]*,"us_low":([0-9]+)[^,]*,"us_high":([0-9]+).*/\1 (\2 to \3)/' <<<"$line")"
  done
  row+=" | $(sed -E 's/.*"messages_per_update":([0-9]+\.[0-9]?)[^,]*,"bytes_per_update":([0-9]+).*/\1 | \2/' <<<"$line") |"
  echo "$row"
done
