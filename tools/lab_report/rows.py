"""The rows of the experiments: variables, exact counts, measured times; read from the files that the programs write."""
import csv
import functools
import json

LAYOUTS = ["sorted", "unsorted", "bitmap", "indirection", "hashing", "counted_hashing"]
# The search that belongs to a layout; sorted nodes know two more.
SEARCHES = {"sorted": "binary", "unsorted": "linear", "bitmap": "linear-bitmap", "indirection": "binary-slots",
            "hashing": "probe-bitmap", "counted_hashing": "probe-count"}
# What a layout iterates by.
ITERATED_BY = {"sorted": "count", "unsorted": "count", "bitmap": "bitmap", "indirection": "bitmap", "hashing": "bitmap",
               "counted_hashing": "count"}
POSITIONS = ["first", "middle", "last"]
COUNTS = ["bytes_modified", "lines_written", "blocks_written", "fences", "lines_read", "blocks_read",
          "dram_lines_read", "dram_blocks_read"]
MODELLED = "modelled_ns:"
# The metric that node_experiments measures; all others come from node_counts.
TIME = "ns"


def plain_name(name):
    """Without what Google Benchmark adds to a row's name."""
    return name.split("/iterations:")[0]


@functools.lru_cache(maxsize=None)
def choices_of(name):
    """(experiment, {variable: choice}) of a row's plain name."""
    experiment, *parts = name.split("/")
    return experiment, dict(part.split(":", 1) for part in parts)


class Rows:
    """By experiment and variables. A value that was not measured is None."""

    def __init__(self):
        self.rows = {}  # plain name -> {metric: value}
        self.contexts = {}

    def read_benchmarks(self, path, timed):
        """A --benchmark_out file of node_experiments (timed) or node_counts."""
        with open(path) as file:
            content = json.load(file)
        self.contexts["times" if timed else "counts"] = content["context"]
        for benchmark in content["benchmarks"]:
            row = self.rows.setdefault(plain_name(benchmark["name"]), {})
            if timed:
                row[TIME] = benchmark["real_time"]
                continue
            for metric, value in benchmark.items():
                if metric in COUNTS or metric.startswith(MODELLED):
                    row[metric] = value

    def value(self, experiment, metric, **variables):
        """Of the one row whose variables are these, in any order."""
        found = self.find(experiment, **variables)
        if len(found) > 1:
            raise ValueError("%d rows are %s %s" % (len(found), experiment, variables))
        return found[0][1].get(metric) if found else None

    def find(self, experiment, **variables):
        """(variables, metrics) of each row that has these variables; a name's "_" stands for none."""
        wanted = {key: str(value) for key, value in variables.items()}
        found = []
        for name, metrics in self.rows.items():
            of, has = choices_of(name)
            if of == experiment and all(has.get(key) == value for key, value in wanted.items()):
                found.append((has, metrics))
        return found

    def mean(self, experiment, metric, key, values, **variables):
        """Over rows that differ in one variable; None if one is missing."""
        found = [self.value(experiment, metric, **{key: value}, **variables) for value in values]
        return sum(found) / len(found) if found and None not in found else None

    def sizes(self):
        """The node sizes that were run."""
        return sorted({int(has["node"]) for has, _ in self.find("E4")})

    def devices(self):
        names = []
        for metrics in self.rows.values():
            names += [m[len(MODELLED):] for m in metrics if m.startswith(MODELLED) and m[len(MODELLED):] not in names]
        return names

    def write_csv(self, path):
        keys = ["layout", "search", "split", "by", "to", "levels", "inner", "nodes", "node", "position", "placement",
                "cache", "atomicity"]
        metrics = [TIME] + COUNTS + [MODELLED + device for device in self.devices()]
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["experiment"] + keys + metrics)
            for name, row in self.rows.items():
                experiment, has = choices_of(name)
                writer.writerow([experiment] + [has.get(key, "") for key in keys] + [row.get(m, "") for m in metrics])
