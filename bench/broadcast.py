#!/usr/bin/env python3
"""A team's broadcast beside each fixed way, over processes of this machine.

usage: bench/broadcast.py [--rounds N] [--nodes 2,4,8,16] [--bytes N,…] [FOLDER OF THE PROGRAMS]

Ways take turns within each run. Prints for each point the median of each in microseconds, the best fixed way, and by how much `auto` is
slower than that; "slower" where that is more than 5 % and beyond the 95 % interval of the two medians (by resampling).
"""
import argparse
import json
import os
import random
import statistics
import subprocess

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--nodes", default="2,4,8,16")
parser.add_argument("--bytes", default="4096,262144,1048576,67108864")
parser.add_argument("--auto", default="auto", help="CLEAVE_BROADCAST of the row `auto`")
parser.add_argument("bin", nargs="?", default="build/release/bin")
how = parser.parse_args()

ways = ["auto", "flat", "binomial", "chain", "binary"]
environment = dict(os.environ, CLEAVE_WORKERS="1", CLEAVE_PLUGINS=how.bin + "/../lib", CLEAVE_BROADCAST=how.auto,
                   OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(nodes):
    """Rows of all lengths and ways, with the seconds of each repetition. Within a run ways take turns."""
    out = subprocess.run(["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(nodes),
                          how.bin + "/net-broadcast", "--bytes", how.bytes],
                         env=environment, stdout=subprocess.PIPE, check=True, text=True, timeout=500).stdout
    return map(json.loads, out.splitlines())


def interval_of_ratio(a, b):
    """The 95 % interval of the ratio of the medians."""
    draw = random.Random(1)
    ratios = sorted(statistics.median(draw.choices(a, k=len(a))) / statistics.median(draw.choices(b, k=len(b)))
                    for _ in range(1000))
    return ratios[25], ratios[975]


print("| nodes | bytes | " + " | ".join(f"{w}, µs" for w in ways) + " | auto to the best |")
print("| --- " * (len(ways) + 3) + "|")
for nodes in map(int, how.nodes.split(",")):
    seconds = {way: {} for way in ways}
    for _ in range(how.rounds):
        for row in run(nodes):
            seconds[row["way"]].setdefault(row["bytes"], []).extend(row["seconds"])
    for length in map(int, how.bytes.split(",")):
        median = {way: statistics.median(seconds[way][length]) for way in ways}
        best = min(ways[1:], key=median.get)
        low, high = interval_of_ratio(seconds["auto"][length], seconds[best][length])
        judged = "slower" if median["auto"] > 1.05 * median[best] and low > 1.05 else ""
        print(f"| {nodes} | {length} | " + " | ".join(f"{1e6 * median[w]:.0f}" for w in ways) +
              f" | {best} {median['auto'] / median[best]:.2f} ({low:.2f} to {high:.2f}) {judged} |", flush=True)
