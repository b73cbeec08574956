# For the scripts that watch processes: what /proc/PID/stat tells, whatever the program's name is.
#   cpu_ticks PID…  the CPU time that these processes have taken so far, together, in hundredths of a second; one that is gone
#                   counts as 0
#   alive PID       whether this process is there and has not ended: one that nobody has waited for yet is not alive
cpu_ticks() {
  local pid stat sum=0
  for pid; do
    stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
    stat=(${stat##*) })
    ((sum += stat[11] + stat[12]))
  done
  echo "$sum"
}
alive() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == [^Z]* ]]; }
