#!/usr/bin/env bash
# usage: must_not_compile.bash SOURCE COMPILER [INCLUDE OPTION…]
# Succeeds if the compiler refuses the source, the first error says in its one line what the source's line "// error: …"
# says, and no more than 11 others follow. A line "// flags: …" has options, "// says: …" what stands anywhere else.
set -uo pipefail
source=$1
expected=$(sed -n 's|^// error: *||p' "$source" | head -1)
flags=$(sed -n 's|^// flags: *||p' "$source" | head -1)
says=$(sed -n 's|^// says: *||p' "$source" | head -1)
[[ $expected ]] || { echo "$source: expected a line \"// error: <regular expression>\""; exit 1; }
# shellcheck disable=SC2086  # several words
if told=$("$2" -std=c++20 -fsyntax-only $flags "${@:3}" "$source" 2>&1); then
  echo "$2 compiles it"
  exit 1
fi
errors=$(grep -E '(^|: )(fatal )?error: ' <<<"$told")
first=${errors%%$'\n'*}
if ! grep -qE "error: .*($expected)" <<<"$first"; then
  printf 'expected as the first error "%s", got "%s"; all of it:\n%s\n' "$expected" "$first" "$told"
elif ! grep -qE -- "$says" <<<"$told"; then
  printf 'expected "%s" somewhere:\n%s\n' "$says" "$told"
elif (($(wc -l <<<"$errors") > 12)); then
  printf '%s errors: expected no more than 12\n%s\n' "$(wc -l <<<"$errors")" "$told"
else
  exit 0
fi
exit 1
