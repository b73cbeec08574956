#!/usr/bin/python3
"""Makes of what bench/scale.sh measured a table, scale.json and scale.png.

usage: bench/scale.py MEASURED FOLDER CPUS

A line of MEASURED: program, workers, copies and the program's JSON, with tabs between. A run of the
parallel program has 0 copies; a copy of the sequential program has 0 workers, and the copies of one
run stand together.
"""
import datetime
import json
import pathlib
import platform
import statistics
import sys


def is_exact(answer):
    """Whether it must be the same however the work is divided: no number in it is rounded."""
    return not isinstance(answer, float) and (
        not isinstance(answer, list) or all(is_exact(part) for part in answer))


def read(file):
    """{program: {"answer", "workers": {n: [seconds]}, "copies": {n: [[seconds of each copy]]}}}."""
    programs = {}
    for line in file.read_text().splitlines():
        name, workers, copies, text = line.split("\t")
        printed = json.loads(text)
        program = programs.setdefault(name, {"answer": printed["answer"], "workers": {}, "copies": {}})
        if is_exact(printed["answer"]) and printed["answer"] != program["answer"]:
            sys.exit(f"scale.sh: {name}: answers {program['answer']} and {printed['answer']}")
        if int(workers):
            program["workers"].setdefault(int(workers), []).append(printed["seconds"])
            continue
        rounds = program["copies"].setdefault(int(copies), [])
        if not rounds or len(rounds[-1]) == int(copies):
            rounds.append([])
        rounds[-1].append(printed["seconds"])
    return programs


def summary(name, program):
    """Medians: seconds, the speed-up, and how many times one sequential program the copies do."""
    alone = statistics.median(one[0] for one in program["copies"][1])
    rows = []
    for n, seconds in sorted(program["workers"].items()):
        time = statistics.median(seconds)
        limit = statistics.median(sum(alone / s for s in copies) for copies in program["copies"][n])
        rows.append({"workers": n, "seconds": seconds, "copies_seconds": program["copies"][n],
                     "median": time, "speedup": alone / time, "copies_speedup": limit,
                     "of_copies": alone / time / limit})
    return {"program": name, "answer": program["answer"], "sequential": alone, "runs": rows}


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def table(programs):
    lines = ["| program | workers | seconds | speed-up | copies' | of copies' |",
             "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for program in programs:
        lines.append(f"| {program['program']} | sequential | {program['sequential']:.3g} | | | |")
        for run in program["runs"]:
            lines.append(f"| | {run['workers']} | {run['median']:.3g} | {run['speedup']:.2f} "
                         f"| {run['copies_speedup']:.2f} | {100 * run['of_copies']:.0f} % |")
    return "\n".join(lines)


def draw(measured, file):
    try:
        import matplotlib
    except ImportError:
        print("scale.sh: no picture: matplotlib is not installed (Debian: python3-matplotlib)",
              file=sys.stderr)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5))
    keys = "speedup", "of_copies"
    titles = "speed-up against the sequential program", "speed-up against what the copies do"
    for axis, key, title in zip(axes, keys, titles):
        for k, program in enumerate(measured["programs"]):
            workers = [run["workers"] for run in program["runs"]]
            axis.plot(workers, [run[key] for run in program["runs"]], marker="o^sDvPX"[k % 7],
                      markersize=4, linewidth=1.2, color=pyplot.cm.tab20(k % 20),
                      label=program["program"])
        axis.set_xscale("log", base=2)
        axis.set_xticks(workers, workers)
        axis.set_xlabel("workers")
        axis.set_title(title, fontsize=10, loc="left")
        axis.grid(color="#e4e4e4", linewidth=0.6)
    axes[0].plot(workers, workers, color="#b03a2e", linestyle="--", linewidth=1.2)
    axes[0].set_yscale("log", base=2)
    axes[0].set_yticks(workers, workers)
    axes[1].axhline(1, color="#b03a2e", linestyle="--", linewidth=1.2)
    axes[1].set_ylim(bottom=0)
    axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
    about = f"{measured['machine']}, {measured['cpus']} CPUs, {measured['date']}"
    figure.text(0.01, 0.01, about, fontsize=8, color="#555555")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(file, dpi=110, metadata={"Software": None})


def main():
    file, folder, cpus = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    measured = {"scale": 1, "date": datetime.date.today().isoformat(), "machine": processor(),
                "cpus": cpus, "programs": [summary(*one) for one in read(file).items()]}
    print(table(measured["programs"]))
    (folder / "scale.json").write_text(json.dumps(measured, indent=1) + "\n")
    draw(measured, folder / "scale.png")


if __name__ == "__main__":
    main()
