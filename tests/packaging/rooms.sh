#!/usr/bin/env bash
# Each folder of the sources is a room, and includes only itself and the rooms named here. Prints what includes another.
# labels: once
set -euo pipefail
cd "$CLEAVE_SOURCE_DIR"
declare -A may=(  # of src/, and of include/cleave/detail/; what each may include besides the standard library and itself
  [detail]="" [travel]="machine detail" [division]="detail travel" [graph]="machine travel core detail"
  [machine]="" [requests]="machine detail" [cutoff]="machine detail division" [trace]="machine detail"
  [core]="machine requests cutoff trace travel detail division" [transport]="machine" [protocol]="machine transport"
  [node]="machine requests core travel trace transport protocol detail" [runtime]="machine core trace transport node travel detail"
  [mpi]="machine transport" [nats]="machine transport" [sites]="machine transport nats" [cosched]="machine"
)
room_of() {  # path of a file, as it is included or as it lies in the source tree
  case $1 in
    */cleave/detail/*/* | cleave/detail/*/*) dirname "${1##*cleave/detail/}" ;;
    *cleave/detail/*) echo detail ;;
    src/*/* ) cut -d/ -f2 <<<"$1" ;;
    *) cut -d/ -f1 <<<"$1" ;;
  esac
}
wrong=0
while IFS=: read -r file included; do
  room=$(room_of "$file") other=$(room_of "$included")
  [[ $other == "$room" || " ${may[$room]?"$file is in no room: add it to $0"} " == *" $other "* ]] && continue
  echo "$file includes $included: $room may include itself${may[$room]:+, ${may[$room]// /, }}" && wrong=1
done < <(grep -rnoE '^#include ("[a-z_]+/[a-z_/]+\.hpp"|<cleave/detail/[a-z_/]+\.hpp>)' src include/cleave/detail |
  sed -E 's/^([^:]*):[0-9]*:#include ["<](.*)[">]$/\1:\2/')
exit "$wrong"
