#!/usr/bin/python3
"""Draws the pictures of README.md and docs/, and writes the table of docs/study.md.

usage: docs/plot.py [--docs FOLDER] [--cosched COSCHED.json]... [STUDY.json]

Without STUDY.json the data are those of docs/study.json. With one, what `cleave study` has written,
its quartiles replace docs/study.json first. The tables of docs/performance.md and sim/README.md are
data too. In the same way COSCHED.json, of `cleave study cosched`, replaces
docs/cosched-MPI-PROCESSOR.json; the tables of bench/coscheduling.md and its picture are made of
those that there are.
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

BEGIN, END = "<!-- `make plot` writes this table -->", "<!-- end of the table -->"
IN_README = {"cleave": "Cleave", "lace": "Lace", "rayon": "Rayon", "onetbb": "oneTBB",
             "libomp": "OpenMP (LLVM)", "libgomp": "OpenMP (GCC)"}
PROGRAMS = ["fib", "queens", "uts", "tree-2", "skynet", "matmul"]
COSTS = [("spawn", 1), ("spawn", 2), ("migrate", 2), ("spread", 2)]
TWO, SEQUENTIAL = "#0b6e4f", "#b03a2e"
LONGEST_LINE = 120


class BadInput(Exception):
    """What is wrong with a file, in one line."""


def unit(cell):
    return "cycles" if cell["kernel"] in ("spawn", "migrate", "spread") else "seconds"


def read_study(file):
    try:
        study = json.loads(file.read_text())
        if study["study"] != 1:
            raise ValueError('no "study": 1')
        for cell in study["cells"]:
            if not cell.get("failed"):
                statistics.median(cell[unit(cell)])
        study["date"], study["machine"], study["cpus"], study["passes"], study["size"]
        return study
    except (OSError, ValueError, KeyError, TypeError, statistics.StatisticsError) as e:
        raise BadInput(f"{file}: expected the study.json of a study, got {type(e).__name__}: {e}")


def quartiles(values):
    if len(values) < 3:
        return [statistics.median(values)]
    return [float(f"{q:.6g}") for q in statistics.quantiles(values, n=4, method="inclusive")]


def condensed(study):
    """The study with the quartiles of each cell's rounds, and without what no picture shows."""
    cells = []
    for cell in study["cells"]:
        kept = {k: cell[k] for k in ("kernel", "system", "workers", "failed") if k in cell}
        if not cell.get("failed"):
            kept[unit(cell)] = quartiles(cell[unit(cell)])
        cells.append(kept)
    return study | {"cells": cells}


def as_text(study):
    """JSON with a line for each cell, so that a change shows as one."""
    head = json.dumps({k: v for k, v in study.items() if k != "cells"}, indent=1)
    cells = ",\n".join("  " + json.dumps(cell) for cell in study["cells"])
    return f'{head[:-2]},\n "cells": [\n{cells}\n ]\n}}\n'


def median(study, kernel, system, workers):
    """None where there is no such cell, nan where it failed."""
    for cell in study["cells"]:
        if (cell["kernel"], cell["system"], cell["workers"]) == (kernel, system, workers):
            return float("nan") if cell.get("failed") else statistics.median(cell[unit(cell)])
    return None


def systems_of(study):
    return list(dict.fromkeys(cell["system"] for cell in study["cells"]))


def about(study):
    passes = "one pass" if study["passes"] == 1 else f"medians of {study['passes']} passes"
    return (f"{study['date']}; {study['machine']}, {study['cpus']} CPUs; {study['size']} sizes, "
            f"{passes}. Left is better; the scales are logarithmic.")


def seconds_axis(axis):
    axis.set_xscale("log")
    axis.grid(axis="x", which="both", color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(which="both", length=0)
    name = lambda s, _=None: f"{s:g} s" if s >= 1 else f"{1e3 * s:g} ms"
    axis.xaxis.set_major_formatter(name)
    low, high = axis.get_xlim()
    decades = [10.0**k for k in range(-5, 4) if low <= 10.0**k <= high]
    if len(decades) < 2:
        marks = (1, 2, 5) if high < 15 * low else (1, 3)  # as many as fit
        steps = [m * 10.0**k for k in range(-5, 4) for m in marks]
        axis.set_xticks([step for step in steps if low <= step <= high])
    axis.xaxis.set_minor_formatter(lambda *_: "")
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def draw_programs(study, names, file):
    """One panel for each program, one line for each system: seconds on one and on two workers."""
    rows = list(reversed(names))
    figure, axes = pyplot.subplots(2, 3, sharey=True, figsize=(10, 1.9 + 0.46 * len(rows)))
    for axis, kernel in zip(axes.flat, PROGRAMS):
        alone = median(study, kernel, "serial", 1)
        sequential = axis.axvline(alone, color=SEQUENTIAL, linestyle="--", linewidth=1.2)
        for y, system in enumerate(rows):
            one, two = (median(study, kernel, system, n) for n in (1, 2))
            if one is None or one != one:
                axis.text(0.98, y, "failed", ha="right", va="center", fontsize=8,
                          color="#888888", transform=axis.get_yaxis_transform())
                continue
            if two is not None:
                axis.plot([one, two], [y, y], color="#bbbbbb", linewidth=1.5, zorder=1)
                on_two = axis.scatter(two, y, s=34, color=TWO, zorder=3)
            on_one = axis.scatter(one, y, s=34, facecolor="white", edgecolor=TWO, linewidth=1.6,
                                  zorder=2)
        axis.set_title(kernel, fontsize=11, fontweight="bold", loc="left")
        axis.set_yticks(range(len(rows)), [names[system] for system in rows])
        axis.set_ylim(-0.6, len(rows) - 0.4)
        axis.margins(x=0.12)
        seconds_axis(axis)
    labels = ["sequential program", "one worker", "two workers"]
    figure.legend([sequential, on_one, on_two], labels, loc="upper right", ncols=3,
                  frameon=False, fontsize=9)
    figure.text(0.008, 0.008, about(study), fontsize=8, color="#555555")
    save(figure, file)


def save(figure, file):
    inch = 1 / figure.get_figheight()
    figure.tight_layout(rect=(0, 0.15 * inch, 1, 1 - 0.25 * inch))
    # Without the version of matplotlib, which would change the file and not the picture.
    figure.savefig(file, dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def short(x):
    if x is None:
        return ""
    if x != x:
        return "failed"
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def table(study):
    """Cycles of what a task costs, and milliseconds of whole programs on two workers."""
    measured = {cell["kernel"] for cell in study["cells"]}
    programs = [kernel for kernel in ["tree-1"] + PROGRAMS if kernel in measured]
    heads = [f"{kernel}, {n}" if kernel == "spawn" else kernel for kernel, n in COSTS] + programs
    lines = ["| system | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for system in systems_of(study):
        costs = [median(study, kernel, system, n) for kernel, n in COSTS]
        workers = 1 if system == "serial" else 2
        times = [median(study, kernel, system, workers) for kernel in programs]
        cells = [short(c) for c in costs] + [short(t and 1e3 * t) for t in times]
        lines.append(f"| {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def with_table(page, text):
    head, begin, rest = page.read_text().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise BadInput(f"{page}: expected the lines '{BEGIN}' and '{END}'")
    return f"{head}{BEGIN}\n{text}\n{END}{tail}"


def ratios(page):
    """{processor: {application: (T_1/T_S, T_S/T_2)}}, each a list: a figure, or a range of two."""
    found, processor, columns = {}, None, None
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            processor, columns = line[3:].strip(), None
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            columns = None
        elif "T_1/T_S" in cells and "T_S/T_2" in cells:
            columns = cells.index("T_1/T_S"), cells.index("T_S/T_2")
        elif columns and not cells[0].startswith("---"):
            try:
                found.setdefault(processor, {})[cells[0]] = tuple(
                    [float(x) for x in cells[c].strip("*").split("–")] for c in columns)
            except (ValueError, IndexError):
                raise BadInput(f"{page}: expected two ratios in the line '{line}'")
    if not found:
        raise BadInput(f"{page}: expected tables with the columns T_1/T_S and T_S/T_2")
    return found


def draw_ratios(measured, file):
    rows = list(dict.fromkeys(app for column in measured.values() for app in column))[::-1]
    figure, axes = pyplot.subplots(1, 2, sharey=True, figsize=(10, 1.6 + 0.3 * len(rows)))
    marks = [("o", TWO), ("D", "#d98e04"), ("s", "#4063a8"), ("^", "#7b3f98")]
    titles = "$T_1/T_S$: one worker; left is better", "$T_S/T_2$: two workers; right is better"
    for which, (axis, title) in enumerate(zip(axes, titles)):
        axis.axvline(which + 1, color=SEQUENTIAL, linestyle="--", linewidth=1.2)
        for (processor, column), (mark, colour) in zip(measured.items(), marks):
            known = [(column[app][which], y) for y, app in enumerate(rows) if app in column]
            for figures, y in known:
                axis.plot(figures, [y] * len(figures), color=colour, linewidth=1.5, zorder=1)
            axis.scatter([statistics.mean(f) for f, _ in known], [y for _, y in known], s=36,
                         marker=mark, color=colour, label=processor, alpha=0.85, zorder=2)
        axis.set_yticks(range(len(rows)), rows)
        axis.set_title(title, fontsize=10, loc="left")
        axis.grid(color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.tick_params(length=0)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper right", ncols=4,
                  frameon=False, fontsize=9)
    save(figure, file)


def scales(page):
    """{strategy: ([workers], [efficiency in per cent])}."""
    names, found = None, {}
    for line in page.read_text().splitlines():
        cells = [c.strip(" `*") for c in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            names = None
        elif cells[0] == "workers":
            names = cells
        elif names and cells[0].isdigit():
            try:
                for name, cell in zip(names[1:], cells[1:]):
                    if cell:
                        workers, efficiency = found.setdefault(name, ([], []))
                        efficiency.append(float(cell.removesuffix("%")))
                        workers.append(int(cells[0]))
            except ValueError:
                raise BadInput(f"{page}: expected efficiencies in the line '{line}'")
    if not found:
        raise BadInput(f"{page}: expected a table with the column workers")
    return found


def draw_scales(measured, file):
    figure, axis = pyplot.subplots(figsize=(7, 4))
    for (name, (workers, efficiency)), mark in zip(measured.items(), "o^sDvPX"):
        axis.plot(workers, efficiency, marker=mark, markersize=5, linewidth=1.5, label=name)
    axis.set_xscale("log", base=2)
    ticks = sorted({w for workers, _ in measured.values() for w in workers})
    axis.set_xticks(ticks, ticks)
    axis.minorticks_off()
    axis.set_xlabel("workers")
    axis.set_title("efficiency on four sites, %", fontsize=10, loc="left")
    axis.grid(color="#e4e4e4", linewidth=0.6)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.legend(frameon=False, fontsize=9)
    save(figure, file)


def spread(values):
    """Median, least and most."""
    return [float(f"{v:.4g}") for v in (statistics.median(values), min(values), max(values))]


def condensed_shared(cell):
    programs = [job["program"] for job in cell["jobs"]]
    first = cell["jobs"][0]
    kept = {"part": cell["part"], "mode": cell["mode"], "ranks": first["ranks"],
            "jobs": " ".join(programs), "name": first["title"]}
    kept |= {k: cell[k] for k in ("spin_us", "failed", "stopped") if k in cell}
    if cell.get("seconds"):
        kept["seconds"] = spread([statistics.mean(jobs) for jobs in cell["seconds"]])
        cpu = [s for s in cell["cpu_seconds"] if s is not None]
        kept |= {"cpu_seconds": spread(cpu)} if cpu else {}
        kept |= {"fair": spread(cell["fair"])} if cell.get("fair") else {}
    return kept


def read_shared(file):
    """What `cleave study cosched` has written, or what is kept of it: a line for each cell."""
    try:
        study = json.loads(file.read_text())
        if study["study"] != "cosched":
            raise ValueError('no "study": "cosched"')
        cells = [condensed_shared(c) if isinstance(c["jobs"], list) else c for c in study["cells"]]
        for key in ("date", "machine", "cpus", "passes", "whole_passes", "size"):
            study[key]
        if not re.fullmatch("[a-z]+", study["mpi"]):
            raise ValueError(f"no MPI is named {study['mpi']}")
        for f in study["figures"]:
            goal_of(f)
        return {k: v for k, v in study.items() if k != "timelines"} | {"cells": cells}
    except (OSError, ValueError, KeyError, TypeError, AttributeError,
            statistics.StatisticsError) as e:
        raise BadInput(
            f"{file}: expected the cosched.json of a study, got {type(e).__name__}: {e}")


MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
MODES = ["plain", "yield", "gang", "block", "two-phase", "logp", "adaptive"]
SHARED = [(f"{n} × {p.upper()}", "copies" if n > 1 else "alone", [p] * n)
          for p in ("cg", "ft") for n in (1, 2, 3, 4)]
SHARED += [("CG with FT", "mixed", ["cg", "ft"]), ("3 × CG, staggered", "staggered", ["cg"] * 3),
           ("CG beside an outsider", "outsider", ["cg"])]


def goal_of(f):
    """A line of the table of goals."""
    asked = f"≤ {f['at_most']:.2f}" if "at_most" in f else f"≥ {f['at_least']:.2f}"
    value = f"{f['measured']:.3f} ({f['least']:.3f}–{f['most']:.3f})"
    if f["met"] not in (True, False):
        raise ValueError(f"met: {f['met']}")
    return [f["goal"], f["jobs"], f["mode"], asked, value]


def shared_cell(study, part, programs, mode, name=None, ranks=None):
    for cell in study["cells"]:
        if (cell["part"], cell["jobs"], cell["mode"]) != (part, " ".join(programs), mode):
            continue
        if "spin_us" in cell or "seconds" not in cell:
            continue
        if name in (None, cell["name"]) and ranks in (None, cell["ranks"]):
            return cell
    return None


def vendor_of(study):
    return re.match("[a-z0-9]*", study["machine"].lower())[0]


def name_of(study):
    return f"cosched-{study['mpi']}-{vendor_of(study)}.json"


def of_plain(study, cell):
    """The cell's time in times of the job alone under plain MPI."""
    alone = shared_cell(study, "alone", [cell["jobs"].split()[0]], "plain")
    return alone and [s / alone["seconds"][0] for s in cell["seconds"]]


def ranged(values):
    return f"{values[0]:.2f} ({values[1]:.2f}–{values[2]:.2f})" if values else ""


def shares_tables(study, modes):
    """Fair shares, with the least and the most; beside an outsider, times of the job alone."""
    lines = shares_table(study, modes)
    if max(map(len, lines)) <= LONGEST_LINE or len(modes) < 2:
        return lines
    half = len(modes) // 2
    return shares_tables(study, modes[:half]) + [""] + shares_tables(study, modes[half:])


def shares_table(study, modes):
    lines = ["| jobs | " + " | ".join(modes) + " |", "| --- |" + " ---: |" * len(modes)]
    for title, part, programs in SHARED:
        found = [shared_cell(study, part, programs, m) for m in modes]
        if not any(found):
            continue
        # What was ended at its limit takes longer than that.
        cells = [c and ("> " if c.get("stopped") else "") + ranged(c.get("fair") or of_plain(study, c))
                 for c in found]
        lines.append(f"| {title} | " + " | ".join(c or "" for c in cells) + " |")
    return lines


def imbalance_table(study, modes):
    kinds = list(dict.fromkeys((c["name"], c["ranks"]) for c in study["cells"] if c["part"] == "bsp"))
    shown = [m for m in modes if m != "gang" and any(
        c["part"] == "bsp" and c["mode"] == m for c in study["cells"])]
    if not kinds or not shown:
        return []
    lines = ["", "Two imbalanced jobs at once, in times of gang:", "",
             "| grain, µs | imbalance, % | ranks | " + " | ".join(shown) + " |",
             "| ---: | ---: | ---: |" + " ---: |" * len(shown)]
    for name, ranks in kinds:
        words, pair = name.split(), ["bsp", "bsp"]
        gang = shared_cell(study, "bsp", pair, "gang", name, ranks)
        found = [shared_cell(study, "bsp", pair, m, name, ranks) for m in shown]
        cells = [f"{c['seconds'][0] / gang['seconds'][0]:.2f}" if c and gang else "" for c in found]
        imbalance = words[words.index("--imbalance") + 1]
        lines.append(f"| {words[1]} | {imbalance} | {ranks} | " + " | ".join(cells) + " |")
    return lines


def cpu_table(study, modes):
    """CPU seconds of a job alone, in times of those that it takes asleep wherever it waits."""
    lines = []
    for c in study["cells"]:
        if c["part"] not in ("alone", "idle") or c["mode"] != "block" or "cpu_seconds" not in c:
            continue
        found = [shared_cell(study, c["part"], [c["jobs"]], m, c["name"]) for m in modes]
        cells = [f"{f['cpu_seconds'][0] / c['cpu_seconds'][0]:.2f}" if f and "cpu_seconds" in f else ""
                 for f in found]
        lines.append(f"| {c['name']} | " + " | ".join(cells) + " |")
    if not lines:
        return []
    return ["", "CPU seconds of a job alone, in times of what it takes asleep wherever it waits:", "",
            "| job | " + " | ".join(modes) + " |", "| --- |" + " ---: |" * len(modes)] + lines


def goals_table(study):
    if not study["figures"]:
        return []
    missed = [f for f in study["figures"] if not f["met"]]
    said = f"Of {len(study['figures'])} goals {len(study['figures']) - len(missed)} are met."
    if not missed:
        return ["", said]
    lines = ["", f"{said} These are not:", "", "| jobs | shared by | asked for | measured |",
              "| --- | --- | ---: | ---: |"]
    last = None
    for f in missed:
        goal, *rest = goal_of(f)
        if goal != last:
            lines.append(f"| *{goal}* | | | |")
            last = goal
        lines.append("| " + " | ".join(rest) + " |")
    return lines


def shared_tables(studies):
    lines = []
    for study in studies:
        modes = [m for m in MODES if any(c["mode"] == m for c in study["cells"])]
        passes = f"{study['whole_passes']} of {study['passes']} passes whole"
        lines += ["", f"#### {MPIS.get(study['mpi'], study['mpi'])}, {study['machine']}", "",
                  f"{study['date']}; {study['cpus']} CPUs; {study['size']} sizes; jobs of {study.get('seconds', 1.2)} s; "
                  f"{passes}, interleaved.", ""]
        lines += shares_tables(study, modes) + imbalance_table(study, modes)
        lines += cpu_table(study, modes) + goals_table(study)
    return "\n".join(lines[1:])


def draw_bars(axis, groups, colours):
    """Bars side by side for each group, with the least and the most: (title, {mode: values})."""
    modes = [m for m in colours if any(m in values for _, values in groups)]
    width = 0.8 / max(1, len(modes))
    top = 1.6 * max([1] + [v[0] for _, values in groups for m, v in values.items() if m != "plain"])
    for k, mode in enumerate(modes):
        for at, (_, values) in enumerate(groups):
            if mode not in values:
                continue
            middle, least, most = values[mode]
            x = at + (k - (len(modes) - 1) / 2) * width
            axis.bar(x, min(middle, top), 0.92 * width, color=colours[mode],
                     label=mode if at == next(i for i, g in enumerate(groups) if mode in g[1]) else None)
            if middle > top:
                axis.text(x, top, f"{middle:.1f}", ha="center", va="top", fontsize=8, color="white", rotation=90)
            else:
                axis.plot([x, x], [least, min(most, top)], color="#24292f", linewidth=0.9)
    axis.set_ylim(0, top)
    axis.set_xticks(range(len(groups)), [title for title, _ in groups], fontsize=9)
    axis.axhline(1, color=SEQUENTIAL, linestyle="--", linewidth=1.2)
    axis.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    if modes:
        axis.legend(frameon=False, fontsize=9, ncols=3, loc="upper right")


def draw_shared(study, file):
    """What the paper's figures 6 and 7 show, and where it expected more of it."""
    colours = {"plain": "#8b949e", "yield": "#c2410c", "gang": "#1d4ed8", "two-phase": "#0b6e4f", "adaptive": "#7c3aed"}

    def values_of(part, programs, name, unit):
        found = {m: shared_cell(study, part, programs, m, name) for m in colours}
        return {m: unit(c, found) for m, c in found.items() if c and unit(c, found)}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4), width_ratios=(2, 1))
    at_once = [(title, values_of(part, programs, None, lambda c, _: c.get("fair")))
               for title, part, programs in SHARED if part in ("copies", "mixed")]
    draw_bars(left, [g for g in at_once if g[1]], colours)
    left.set_title("At once: times of a fair share; below is better", fontsize=10, loc="left")
    names = dict.fromkeys(c["name"] for c in study["cells"] if c["part"] == "bsp")
    imbalanced = [(f"{name.split()[1]} µs", values_of("bsp", ["bsp", "bsp"], name, lambda c, found: found["gang"] and [
        s / found["gang"]["seconds"][0] for s in c["seconds"]])) for name in names]
    draw_bars(right, [g for g in imbalanced if g[1]], colours)
    right.set_title("Two imbalanced jobs, by grain: times of gang", fontsize=10, loc="left")
    save(figure, file)


def main():
    here = pathlib.Path(__file__).resolve().parent
    line = argparse.ArgumentParser(description=__doc__.partition("usage")[0])
    line.add_argument("--docs", metavar="FOLDER", type=pathlib.Path, default=here,
                      help="where the pages are (default: docs)")
    line.add_argument("--cosched", metavar="COSCHED.json", type=pathlib.Path, action="append",
                      help="what `cleave study cosched` wrote, one for each MPI "
                           "(default: docs/cosched-*.json)")
    line.add_argument("study", metavar="STUDY.json", type=pathlib.Path, nargs="?",
                      help="what `cleave study` wrote (default: docs/study.json)")
    asked = line.parse_args()
    docs = asked.docs
    # All is read before anything is written.
    study = condensed(read_study(asked.study)) if asked.study else read_study(docs / "study.json")
    needed = ("serial", 1), ("cleave", 2)
    missing = [k for k in PROGRAMS if any(median(study, k, *n) is None for n in needed)]
    if missing:
        file = asked.study or docs / "study.json"
        raise BadInput(f"{file}: expected serial and cleave, on two workers, in {missing[0]}")
    page = with_table(docs / "study.md", table(study))
    measured = ratios(docs / "performance.md")
    scaled = scales(docs.parent / "sim/README.md")
    new = [read_shared(file) for file in asked.cosched or []]
    kept = [read_shared(file) for file in docs.glob("cosched-*.json")]
    by_name = {name_of(s): s for s in kept + new}
    # Of one processor after the other, Open MPI first.
    shared = sorted(by_name.values(), key=lambda s: s["mpi"], reverse=True)
    shared.sort(key=vendor_of)
    shared_page = shared and with_table(docs.parent / "bench/coscheduling.md", shared_tables(shared))
    there = systems_of(study)
    (docs / "pictures").mkdir(exist_ok=True)
    if asked.study:
        (docs / "study.json").write_text(as_text(study))
    (docs / "study.md").write_text(page)
    chosen = {s: name for s, name in IN_README.items() if s in there}
    draw_programs(study, chosen, docs / "pictures/compared.png")
    draw_programs(study, {s: s for s in there if s != "serial"}, docs / "pictures/study.png")
    draw_ratios(measured, docs / "pictures/performance.png")
    draw_scales(scaled, docs / "pictures/scale.png")
    for study in new:
        (docs / name_of(study)).write_text(as_text(study))
    if shared:
        (docs.parent / "bench/coscheduling.md").write_text(shared_page)
        draw_shared(shared[0], docs / "pictures/coscheduling.png")


if __name__ == "__main__":
    try:
        main()
    except BadInput as e:
        print(f"plot.py: {re.sub(chr(10), ' ', str(e))}", file=sys.stderr)
        sys.exit(2)
    except OSError as e:
        print(f"plot.py: {e.filename}: {e.strerror}", file=sys.stderr)
        sys.exit(2)
