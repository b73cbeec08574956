#!/usr/bin/env bash
# Takes the C++ listings out of a Markdown page, so that the tests can compile and run them.
# usage: cmake/listings.sh PAGE.md FOLDER
#
# A listing (a block fenced by ```cpp) with a main is a program: it becomes FOLDER/PAGE-N.cpp. If the
# next block of the page is ```text, that is what the program prints (FOLDER/PAGE-N.expected). Any
# other ```cpp listing is a piece of a program, and its lines must stand, in this order and together
# but for indentation, in a program of the same page, before it or after it.
# A block fenced by ```cpp no-test is left alone. One fenced by ```cpp library=NAME is a shared library that the programs
# of the page load: FOLDER/PAGE-NAME.cc. One fenced by ```python is a program too: FOLDER/PAGE-N.py; one fenced by
# ```tascell too: FOLDER/PAGE-N.tc.
set -euo pipefail
page=$1 folder=$2
name=$(basename "$page" .md)
mkdir -p "$folder"
rm -f "$folder/$name"-*.{cpp,cc,py,tc,expected}
awk -v page="$page" -v prefix="$folder/$name-" '
  function squeezed(text) { gsub(/\n[ \t]+/, "\n", text); return text }
  /^```/ && !inside {
    kind = substr($0, 4); sub(/[ \t]+$/, "", kind)
    inside = 1; text = "\n"; start = NR
    next
  }
  /^```[ \t]*$/ && inside {
    inside = 0
    if (kind == "cpp" && text ~ /\n(int|auto) main\(/) {
      programs++; all = all squeezed(text) "\001"
      print "#line " (start + 1) " \"" page "\"" > (prefix programs ".cpp")
      printf "%s", substr(text, 2) > (prefix programs ".cpp")
      last_was_program = 1
      next
    }
    if (kind ~ /^cpp library=/) printf "#line %d \"%s\"\n%s", start + 1, page, substr(text, 2) > (prefix substr(kind, 13) ".cc")
    if (kind == "python" || kind == "tascell") {
      programs++; last_was_program = 1
      printf "%s", substr(text, 2) > (prefix programs (kind == "python" ? ".py" : ".tc"))
      next
    }
    if (kind == "cpp") { pieces++; piece[pieces] = squeezed(text); at[pieces] = start }
    if (kind == "text" && last_was_program) printf "%s", substr(text, 2) > (prefix programs ".expected")
    last_was_program = 0
    next
  }
  inside { text = text $0 "\n" }
  END {
    if (inside) { print page ":" start ": block is not closed" > "/dev/stderr"; exit 1 }
    for (i = 1; i <= pieces; i++)
      if (!index(all, piece[i])) {
        print page ":" at[i] ": listing is neither a program nor part of one on this page" > "/dev/stderr"
        bad = 1
      }
    exit bad
  }
' "$page"
