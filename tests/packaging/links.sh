#!/usr/bin/env bash
# labels: once
# Each relative link of a document leads to a file, and to a heading of it if it names one.
set -uo pipefail
cd "$CLEAVE_SOURCE_DIR" || exit 1
failures=0 links=0
headings() {  # as GitHub makes anchors of them
  sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
while IFS=: read -r page link; do
  link=${link#](} link=${link%)}
  [[ $link == *://* ]] && continue
  ((++links))
  path=${link%%#*} file=$page
  [[ -z $path ]] || file=$(dirname "$page")/$path
  if [[ ! -e $file ]]; then
    echo "FAILED: $page: no file $link"
    ((++failures))
  elif [[ $link == *#* ]] && ! headings "$file" | grep -qxF -- "${link#*#}"; then
    echo "FAILED: $page: no heading $link"
    ((++failures))
  fi
done < <(find . -name build -prune -o -name '*.md' -exec grep -oE '\]\([^ )]+\)' --with-filename {} +)
((links > 50)) || { echo "FAILED: found $links links only"; exit 1; }
exit $((failures > 0))
