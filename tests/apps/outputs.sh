#!/usr/bin/env bash
# What a program writes besides its answer: it costs a line and a status if it cannot be written, never the answer; a device
# stays a device and a link a link. An answer that cannot be printed is no success. Plug-ins come from nowhere but their folders.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
unset CLEAVE_TRACE CLEAVE_PLUGINS CLEAVE_TRANSPORT
cd "$work" || exit 1

# ends STATUS LINE COMMAND…: with that status, and with that line on standard error and nothing else there.
ends() {
  local status
  timeout 60 "${@:3}" >out 2>err
  status=$?
  [[ $status == "$1" ]] || fail "${*:3}: status $status, expected $1: $(cat err)"
  [[ $(cat err) == "$2" ]] || fail "${*:3}: '$(cat err)', expected '$2'"
}
# loses LINE COMMAND…: the answer of queens 8 is printed, and then what was lost.
loses() {
  ends 1 "$@"
  grep -q '92 solutions' out || fail "${*:2}: no answer"
  [[ -z $(compgen -G '*.part*') ]] || fail "${*:2}: something half-written is left"
}

# A device that is full: a node of its own as root, who could destroy the machine's.
full=/dev/full
if [[ $(id -u) == 0 ]]; then mknod full c 1 7 2>/dev/null && full=$PWD/full || full=; fi
if [[ -n $full ]]; then
  ln -s "$full" link
  for to in "$full" link; do
    loses "queens: $to: cannot be written: No space left on device" "$bin/queens" 8 --trace "$to"
    CLEAVE_TRACE=$to loses "queens: $to: cannot be written: No space left on device" "$bin/queens" 8
    [[ -c $full && -L link ]] || fail "--trace $to replaces it"
  done
fi
# A disk that is full.
if unshare -rm true 2>/dev/null; then
  mkdir small
  cat >on_small.sh <<'END'
mount -t tmpfs -o size=64k none small && echo old >small/t.json && cat /dev/zero >small/rest 2>/dev/null
"$@"
status=$?
[[ $(cat small/t.json) == old && $(ls small) == $'rest\nt.json' ]] || echo "in the folder: $(ls small)" >&2
exit "$status"
END
  loses "queens: small/t.json: cannot be written: No space left on device" \
    unshare -rm bash on_small.sh "$bin/queens" 8 --trace small/t.json
fi
loses "queens: large.json: cannot be written: File too large" \
  bash -c "ulimit -f 1; exec '$bin/queens' 8 --workers 16 --trace large.json"
mkfifo pipe
timeout 20 cat pipe >through &
reader=$!
ends 0 "" "$bin/queens" 8 --trace pipe
wait "$reader"
[[ -p pipe && $(tail -n 1 through) == "]}" ]] || fail "--trace to a pipe: $(tail -n 1 through)"
ln -s later.json dangling
ends 0 "" "$bin/queens" 8 --trace dangling
[[ -L dangling && $(tail -n 1 later.json) == "]}" ]] || fail "--trace to a link that leads to nothing"
ends 0 "" bash -c "'$bin/queens' 8 --json --trace /dev/stdout >both"
grep -q '"answer":92' both && grep -q traceEvents both || fail "--trace /dev/stdout with a file: $(head -c 300 both)"
refuses "queens: .: cannot be written: Is a directory" queens 8 --trace .
if [[ $(id -u) != 0 ]]; then
  mkdir shut && chmod 555 shut
  refuses "queens: shut/t.json: cannot be written: Permission denied" queens 8 --trace shut/t.json
fi
# A plan is written at the very end, by a destructor.
if [[ -n $full ]]; then
  ln -s "$full" new.plan
  ends 1 "cleave: new.plan: cannot be written: No space left on device" "$bin/md" 3 --steps 2 --plan new.plan
  grep -q '^answer ' out || fail "--plan to a device that is full: no answer"
  [[ -c $full ]] || fail "--plan replaces a device"
fi

# Descriptors that are closed stay without use, and what is printed to them is lost.
ends 1 "queens: cannot write to standard output" bash -c "exec '$bin/queens' 8 >&-"
ends 1 "queens: cannot write to standard output" bash -c "exec '$bin/queens' 8 --json --trace t.json >&-"
for program in "queens --help" "queens --version" "cleave --help" "clique --generate keller4"; do
  [[ -x $bin/${program%% *} ]] || continue
  ends 1 "${program%% *}: cannot write to standard output" bash -c "exec '$bin'/$program >&-"
  ends 1 "${program%% *}: cannot write to standard output" bash -c "exec '$bin'/$program >/dev/full"
done
ends 1 "queens: cannot write to standard output" bash -c "exec '$bin/queens' 8 >/dev/full"
bash -c "exec '$bin/queens' 8 --trace u.json 2>&- <&-" >out || fail "without standard input and error: status $?"
grep -q '92 solutions' out && [[ $(tail -n 1 u.json) == "]}" ]] || fail "without standard input and error: $(cat out)"
bash -c "exec '$bin/queens' 99 2>&-" && fail "a mistake that cannot be told has status 0"

# The version has one source.
version=$(sed -n 's/^project(cleave VERSION \([0-9.]*\).*/\1/p' "$CLEAVE_SOURCE_DIR/CMakeLists.txt")
for program in cleave queens demo md sim; do
  [[ -x $bin/$program ]] || continue
  [[ $("$bin/$program" --version) == "$program $version" ]] || fail "$program --version: $("$bin/$program" --version)"
done

# Nothing of the working folder is executed, however a program is found.
echo '[[gnu::constructor]] static void planted() { __builtin_printf("planted\n"); }' >planted.cpp
"$CXX" -shared -fPIC planted.cpp -o libcleave-mpi-openmpi99.so || fail "no plug-in made"
mkdir cleave lib open closed
for folder in cleave lib open closed; do cp libcleave-mpi-openmpi99.so "$folder"; done
chmod 777 open
export PATH=$bin:$PATH OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0
for path in "${LD_LIBRARY_PATH-}" ":" "/nowhere:"; do
  LD_LIBRARY_PATH=$path timeout 60 queens 8 --transport openmpi99 >out 2>err && fail "a plug-in that is not there: status 0"
  ! grep -q planted out err || fail "LD_LIBRARY_PATH=$path: a plug-in of the working folder is executed"
  grep -q '^queens: no plug-in libcleave-mpi-openmpi99.so in /' err || fail "no plug-in: $(cat err)"
done
CLEAVE_PLUGINS=open timeout 60 queens 8 --transport openmpi99 >out 2>err && fail "a folder of everybody: status 0"
[[ $(cat out err) == "queens: not loaded: $PWD/open/libcleave-mpi-openmpi99.so: others may write to $PWD/open (chmod go-w)" ]] ||
  fail "a folder of everybody: $(cat out err)"
CLEAVE_PLUGINS=closed timeout 60 queens 8 --transport openmpi99 >out 2>err && fail "a plug-in that is none: status 0"
grep -q '^queens: no plug-in of Cleave: ' err && grep -q planted out || fail "a folder that is named: $(cat out err)"
unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK
if [[ -x $bin/cleave ]]; then  # and what is loaded into every process of an MPI job
  mkdir -p moved/bin moved/lib
  cp "$bin/cleave" moved/bin
  library=$PWD/moved/lib/libcleave-cosched-openmpi.so
  cp libcleave-mpi-openmpi99.so "$library"
  [[ $(moved/bin/cleave cosched --mpi openmpi sh -c 'echo "$LD_PRELOAD"') == *"$library" ]] || fail "cosched does not preload its library"
  chmod 777 moved/lib
  ends 2 "cleave: not preloaded: $library: others may write to $PWD/moved/lib (chmod go-w)" \
    moved/bin/cleave cosched --mpi openmpi sh -c true
fi
exit "$((failures > 0))"
