#!/usr/bin/env bash
# Rooms include only what they may, and the picture of docs/architecture.md shows what they include.
# labels: once
set -euo pipefail
cd "$CLEAVE_SOURCE_DIR"
bash cmake/rooms.sh
if ! diff <(sed -n '/^```mermaid$/,/^```$/{/^```/!p}' docs/architecture.md) <(bash cmake/rooms.sh --draw); then
  echo "docs/architecture.md shows other arrows (<) than there are (>): bash cmake/rooms.sh --draw"
  exit 1
fi
