#!/usr/bin/python3
"""Writes the figures of run.py, and those of cliffs.py, into docs/performance.md, between their markers, with plots."""
import argparse
import json
import os
import statistics
import sys
import time

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run

PAGE = os.path.join(run.ROOT, "docs", "performance.md")
IMAGES = os.path.join(run.ROOT, "docs", "images", "performance")
BENCH, CLIFFS = "./dev bench", "cliffs.py"
COLOURS = {"itemd": "#1b6ac9", "epoll": "#dfe2e7", "Beast": "#b8bec7", "PostgreSQL": "#3f7d58", "Redis": "#c2453c",
           "DynamoDB Local": "#c98a1b", "dynalite": "#7a5ea8"}


def read(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    return rows[0], rows[1:]


def median(rounds, key):
    return statistics.median(row[key] for row in rounds.values())


def plot(groups, connections, path):
    """Operations per second of every server, on a logarithmic scale, because they differ by three powers of ten."""
    chosen = {w: contenders for (w, phase, c), contenders in groups.items() if phase == "loaded" and c == connections}
    names = [name for name in COLOURS if any(name in contenders for contenders in chosen.values())]
    figure, axes = pyplot.subplots(figsize=(9, 0.42 * len(chosen) * max(1, len(names)) / 2 + 1.2))
    height = 0.8 / len(names)
    for at, name in enumerate(names):
        rows = [(i - at * height, contenders[name]) for i, contenders in enumerate(reversed(chosen.values()))
                if name in contenders]
        middle = [median(rounds, "per_second") for _, rounds in rows]
        axes.barh([y for y, _ in rows], middle, height, color=COLOURS[name], label=name, xerr=[
            [m - min(r["per_second"] for r in rounds.values()) for m, (_, rounds) in zip(middle, rows)],
            [max(r["per_second"] for r in rounds.values()) - m for m, (_, rounds) in zip(middle, rows)]],
            error_kw={"linewidth": 0.7})
    axes.set_yticks([i - 0.4 + height / 2 for i in range(len(chosen))], list(reversed(chosen)))
    axes.set_xscale("log")
    axes.set_xlabel(f"per second at {connections} connections: median of the rounds, lines from the smallest to the largest")
    axes.legend(ncols=len(names), loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def rate(rounds):
    return run.spread([row["per_second"] for row in rounds.values()])


def text(description, rows):
    groups = run.by_contender(rows)
    names = [name for name in COLOURS if any(name in contenders for contenders in groups.values())]
    machine = description["machine"]
    date = time.strftime("%Y-%m-%d", time.gmtime(description["at"]))
    lines = [f"{date}, {machine['cores']} cores of {machine['processor']}, {machine['memory_bytes'] / 2**30:.0f} GiB, load "
             f"{description['load']:.1f} before, {description['syncs_per_second']:,.0f} syncs of an appended KiB per second. "
             f"{description['orders']:,} orders with three lines each, {description['rounds']} rounds of "
             f"{description['seconds']} s. In a cell: per second (smallest-largest), then the median of the rounds' ratios "
             "itemd / other, in bold where itemd is faster.", "",
             "| workload | connections | " + " | ".join(names) + " | itemd: p50, p99 ms | CPU µs of itemd per operation "
             "| cores of others |", "|---|---|" + "---|" * (len(names) + 3)]
    for (workload, phase, connections), contenders in groups.items():
        cells = []
        for name in names:
            if name not in contenders:
                cells.append("")
            elif name == "itemd":
                cells.append(rate(contenders[name]))
            else:
                ratio = run.ratio_to(contenders["itemd"], contenders[name])
                cells.append(f"{rate(contenders[name])}; " + (f"**{ratio:.2f}**" if ratio >= 1 else f"{ratio:.2f}"))
        own = contenders["itemd"]
        cpu = statistics.median(row["server_cores"] / row["per_second"] * 1e6 for row in own.values())
        others = max(row["other_cores"] for rounds in contenders.values() for row in rounds.values())
        lines.append(f"| {workload}{'' if phase == 'loaded' else ', after writes'} | {connections} | " + " | ".join(cells) +
                     f" | {median(own, 'p50_ms'):.2f}, {median(own, 'p99_ms'):.2f} | {cpu:.1f} | at most {others:.2f} |")
    lines += ["", "The workloads:", ""]
    lines += [f"- `{name}`: {run.WORKLOADS[name][0]}." for name in dict.fromkeys(w for w, _, _ in groups)]
    if description["writes"]:
        lines += ["", f"\"After writes\": after {description['writes']:,} more orders, and 20 s without requests."]
    return lines, groups


def put_into_page(name, lines):
    begin, end = f"<!-- figures of {name} begin -->", f"<!-- figures of {name} end -->"
    with open(PAGE) as file:
        page = file.read()
    before, rest = page.split(begin)
    _, after = rest.split(end)
    with open(PAGE, "w") as file:
        file.write(before + begin + "\n\n" + "\n".join(lines) + "\n\n" + end + after)


def write_bench(path):
    description, rows = read(path)
    lines, groups = text(description, rows)
    for connections in sorted({c for _, phase, c in groups if phase == "loaded" and c != 4}):
        name = f"{connections}-connections.svg"
        plot(groups, connections, os.path.join(IMAGES, name))
        lines += ["", f"![Operations per second of each server at {connections} connections](images/performance/{name})"]
    put_into_page(BENCH, lines)


def plot_seconds(rows, path):
    figure, (rates, tails) = pyplot.subplots(2, 1, sharex=True, figsize=(9, 4))
    seconds = [row["second"] for row in rows]
    rates.plot(seconds, [row["per_second"] for row in rows], color=COLOURS["itemd"], linewidth=0.8)
    rates.set_ylabel("puts per second")
    tails.plot(seconds, [row["p99_ms"] for row in rows], color=COLOURS["Redis"], linewidth=0.8)
    tails.set_ylabel("p99, ms")
    tails.set_xlabel("second")
    for axes in (rates, tails):
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write_cliffs(path):
    with open(path) as file:
        figures = json.load(file)
    lines = ["| load | begins with | ends with | worst |", "|---|---|---|---|"]
    writes, tenth = figures["writes"], max(1, len(figures["writes"]) // 10)
    mean = lambda rows: statistics.mean(row["per_second"] for row in rows)
    lines += [f"| `w2_put` at full rate, 64 connections, {len(writes)} s | {mean(writes[:tenth]):,.0f}/s | "
              f"{mean(writes[-tenth:]):,.0f}/s | {min(row['per_second'] for row in writes):,.0f}/s in a second; p99 of a second "
              f"{max(row['p99_ms'] for row in writes):.0f} ms |"]
    for name, unit, what in (("queue", "us", "a queue: put, query of the head, deletion of the head, {:,} times"),
                             ("large", "ms", "an item of 390 KB that is replaced {:,} times")):
        rows = figures[name]
        shown = "µs" if unit == "us" else unit
        lines += [f"| {what.format(rows[-1]['done'])} | {rows[0][unit]:,.1f} {shown} | {rows[-1][unit]:,.1f} {shown} | "
                  f"{max(row[unit] for row in rows):,.1f} {shown} |"]
    alone, beside = figures["scans"]
    lines += [f"| GetItem of 16 connections, alone and beside 64 scans that count | {alone['per_second']:,.0f}/s, p99 {alone['p99_ms']:.1f} ms | "
              f"{beside['per_second']:,.0f}/s, p99 {beside['p99_ms']:.1f} ms | |"]
    plot_seconds(writes, os.path.join(IMAGES, "writes-by-second.svg"))
    lines += ["", "![Puts per second and p99 in each second of writes at full rate](images/performance/writes-by-second.svg)"]
    put_into_page(CLIFFS, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="?", help="the JSON lines of run.py")
    parser.add_argument("--cliffs", help="the JSON of cliffs.py, with all its loads")
    options = parser.parse_args()
    os.makedirs(IMAGES, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = "itemdb"
    if options.figures:
        write_bench(options.figures)
    if options.cliffs:
        write_cliffs(options.cliffs)


if __name__ == "__main__":
    main()
