#!/usr/bin/env bash
# Each folder of src/ and of include/cleave/detail is a room, which includes only itself and the rooms named here;
# examples/ is one that includes public headers only.
# usage: cmake/rooms.sh          prints each include that is not allowed, and fails if there is one
#        cmake/rooms.sh --draw   prints who includes whom, as a Mermaid graph (docs/architecture.md)
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A may=(
  [detail]="" [travel]="machine detail" [division]="detail travel" [graph]="machine travel core detail"
  [machine]="" [requests]="machine detail" [cutoff]="machine detail division" [trace]="machine detail"
  [core]="machine requests cutoff trace travel detail division" [transport]="machine" [protocol]="machine transport"
  [node]="machine requests core travel trace transport protocol detail"
  [runtime]="machine core trace transport node travel detail"
  [mpi]="machine transport" [nats]="machine transport" [sites]="machine transport nats" [cosched]="machine preload" [record]="machine preload" [preload]=""
)
room_of() {  # path of a file, as it is included or as it lies in the source tree
  local path=${1#include/}
  path=${path#src/}
  path=${path#cleave/}
  if [[ $path == detail/*/* ]]; then path=${path#detail/}; fi
  echo "${path%%/*}"
}
includes() {  # "room file other included" for each include of a room by another
  local file included
  while IFS=: read -r file included; do
    echo "$(room_of "$file") $file $(room_of "$included") $included"
  done < <(grep -rnoE '^#include ("[a-z_]+/[a-z_/]+\.hpp"|<cleave/detail/[a-z_/]+\.hpp>)' src include/cleave/detail |
    sed -E 's/^([^:]*):[0-9]*:#include ["<](.*)[">]$/\1:\2/') | awk '$1 != $3'
}
if [[ ${1:-} == --draw ]]; then  # an arrow is left out where others lead there
  includes | awk '{ edge[$1 " " $3]; room[$1]; room[$3] }
    function reaches(a, b, c) {
      for (c in room) if (((a " " c) in edge) && (c == b || reaches(c, b))) return 1
      return 0
    }
    END {
      print "graph TD"
      for (e in edge) {
        split(e, r, " ")
        direct = 1
        for (c in room) if (c != r[2] && ((r[1] " " c) in edge) && reaches(c, r[2])) direct = 0
        if (direct) print "  " r[1] " --> " r[2] | "sort"
      }
    }'
  exit
fi
wrong=0
while read -r room file other included; do
  [[ " ${may[$room]?"$file is in no room of $0"} " == *" $other "* ]] && continue
  echo "$file includes $included: $room may include itself${may[$room]:+, ${may[$room]// /, }}"
  wrong=1
done < <(includes)
# The programs of examples/ are what users write: they include the public headers and nothing else of the project.
while IFS= read -r line; do
  echo "$line: an example may include <cleave/….hpp> and example.hpp"
  wrong=1
done < <(grep -nE '^#include ("|<cleave/)' examples/*.[ch]pp | grep -vE ':#include ("example.hpp"|<cleave/[a-z_]+\.hpp>)$')
exit "$wrong"
