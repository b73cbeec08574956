#!/usr/bin/env bash
# Runs commands as a newcomer would type them: in a bare Debian 12 (debootstrap's minbase, git and make), in a clone of
# the commit that is checked out here, with an empty environment. Needs root, debootstrap and Linux's namespaces.
# usage: cmake/bare.sh COMMAND… [-- COMMAND…]…   each is a line for the shell; what follows it is not run if it fails.
#        cmake/bare.sh --base                     only makes the bare system, if there is none
#   What follows a -- runs in a copy of the system as those before the first -- left it: `make mpi` with what `make build`
#   has built, and without the packages that `make nats` has installed. The copies run at the same time, so that one
#   installs packages while another one compiles; each one's output is printed as a whole. The status is that of the first
#   command that failed.
#   CLEAVE_BARE_KEEP=1  leaves the systems under build/bare/ and says where they are
# The bare system is kept as build/bare/debian-12.tar: made again when it is a week old. Uncommitted changes do not count.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "bare.sh: $1" >&2; exit 2; }
keep=build/bare
base=$keep/debian-12.tar

# The inner half: root of a namespace, so that nothing which is mounted or left running outlives it.
if [[ ${1:-} == --inside ]]; then
  root=$2
  shift 2
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  # Devices of its own: what a command does to one does nothing to this machine's.
  mount -t tmpfs -o mode=755 dev "$root/dev"
  mkdir "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  device() { mknod -m 666 "$root/dev/$1" c "$2" "$3"; }
  device null 1 3
  device zero 1 5
  device full 1 7
  device random 1 8
  device urandom 1 9
  device tty 5 0
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  ln -s /proc/self/fd/0 "$root/dev/stdin"
  ln -s /proc/self/fd/1 "$root/dev/stdout"
  ln -s /proc/self/fd/2 "$root/dev/stderr"
  for line; do
    echo "bare.sh: $line"
    start=$SECONDS status=0
    chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      bash -c "cd /root/cleave && $line" </dev/null || status=$?
    echo "bare.sh: $line: status $status after $((SECONDS - start)) s"
    ((status == 0)) || exit "$status"
  done
  exit
fi

(($#)) || fail "expected COMMAND…, for example: cmake/bare.sh 'make demo' 'make test'"
((EUID == 0)) || fail "chroot and mount need root"
for program in debootstrap unshare chroot git apt-get; do
  command -v "$program" >/dev/null || fail "there is no $program here (Debian: apt-get install debootstrap)"
done
mkdir -p "$keep"
# Where this machine's apt gets its packages from; nothing if that is no Debian 12: debootstrap's own default then.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null |
  sed -n 's/ bookworm main$//p' | head -n 1)

roots=() inside=() logs=()
remove() {  # what was killed a moment ago may still write
  local tries=50
  until rm -rf --one-file-system "$@" 2>/dev/null || ((--tries == 0)); do sleep 0.1; done
}
clean() {
  ((${#inside[@]} == 0)) || kill -KILL "${inside[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  remove "$keep/new.$$" "$base.$$" "${logs[@]}"
  [[ ${CLEAVE_BARE_KEEP:-} == 1 ]] || remove "${roots[@]}"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

make_base() {
  echo "bare.sh: making a bare Debian 12 (log: $keep/debootstrap.log)"
  debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$keep/new.$$" ${mirror:+"$mirror"} \
    >"$keep/debootstrap.log" 2>&1 </dev/null || { tail -n 20 "$keep/debootstrap.log" >&2; fail "debootstrap failed"; }
  rm -f "$keep/new.$$"/var/cache/apt/archives/*.deb
  tar -C "$keep/new.$$" -cf "$base.$$" .
  mv "$base.$$" "$base"
  rm -rf --one-file-system "$keep/new.$$"
}
exec 9>"$keep/lock"
flock 9  # whoever comes at the same time waits for the one that is made
[[ -n $(find "$base" -mtime -7 2>/dev/null) ]] || make_base
exec 9>&-
[[ $1 != --base ]] || exit 0

new_root() {
  root=$(mktemp -d "$PWD/$keep/root.XXXXXX")
  roots+=("$root")
  [[ ${CLEAVE_BARE_KEEP:-} != 1 ]] || echo "bare.sh: the system stays in $root"
}
start() {  # ROOT COMMAND…: inside the system there; its process is appended to `inside`
  unshare --mount --pid --fork --kill-child --mount-proc bash cmake/bare.sh --inside "$@" &
  inside+=($!)
}

new_root
tar -C "$root" -xf "$base"
# The network and apt's source are this machine's; nothing else is.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
[[ -z $mirror ]] || printf 'deb %s bookworm main\n' "$mirror" >"$root/etc/apt/sources.list"
git clone -q --no-hardlinks --no-tags . "$root/root/cleave"
git -C "$root/root/cleave" checkout -q --detach "$(git rev-parse HEAD)"

lines=()
while (($#)) && [[ $1 != -- ]]; do
  lines+=("$1")
  shift
done
start "$root" "${lines[@]}"
status=0
wait "${inside[0]}" || status=$?
inside=()
((status == 0)) || exit "$status"

first=$root lines=()
for line in "${@:2}" --; do
  if [[ $line != -- ]]; then
    lines+=("$line")
  elif ((${#lines[@]})); then
    new_root
    cp -a --one-file-system "$first/." "$root"
    logs+=("$keep/log.$$.${#logs[@]}")
    start "$root" "${lines[@]}" >"${logs[-1]}" 2>&1
    lines=()
  fi
done
for i in "${!inside[@]}"; do
  one=0
  wait "${inside[i]}" || one=$?
  ((status)) || status=$one
  cat "${logs[i]}"
done
inside=()
exit "$status"
