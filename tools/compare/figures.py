"""Best and median of the repeats, and ratios of medians."""
import statistics

import plan

LINE_BYTES = 64
MEDIA_CLASSES = ["log", "flush", "merge", "manifest"]


class Figures:
    """What the repeats say, by engine, column and threads. Rates are operations a second; "open" is one over seconds,
    so that more is better everywhere."""

    def __init__(self, outcomes):
        self.rates = {}
        self.outcomes = {}
        for outcome in outcomes:
            engine, threads, name = outcome["run"]["engine"], outcome["run"]["threads"], outcome["benchmark"]
            self.outcomes.setdefault((engine, name, threads), []).append(outcome)
            self.rates.setdefault((engine, name, threads), []).append(outcome["ops_per_sec"])
            if name == "readwhilewriting":
                self.rates.setdefault((engine, name + "-writer", threads), []).append(outcome["writer_ops_per_sec"])

    def of(self, engine, column, threads):
        return self.outcomes.get((engine, column, threads), [])

    def median(self, engine, column, threads=1):
        found = self.rates.get((engine, column, threads))
        return statistics.median(found) if found else None

    def best(self, engine, column, threads=1):
        found = self.rates.get((engine, column, threads))
        return max(found) if found else None

    def ratio(self, engine, other, column, threads=1):
        """How many times as fast as the other."""
        over, under = self.median(engine, column, threads), self.median(other, column, threads)
        return over / under if over and under else None

    def median_of(self, engine, column, field, threads=1):
        found = [outcome[field] for outcome in self.of(engine, column, threads) if field in outcome]
        return statistics.median(found) if found else None

    def write_amplification(self, threads=1):
        """Bytes at the medium for a byte of the user's, from the fill to where it has settled."""
        found = []
        for fill in self.of("pmlsm", "fillrandom", threads):
            # Of that repeat's waits, the first follows the fill.
            settle = next(o for o in self.of("pmlsm", "waitforcompaction", threads) if o["repeat"] == fill["repeat"])
            lines = sum(o["pmem"][kind]["lines"] for o in (fill, settle) for kind in MEDIA_CLASSES
                        if kind in o["pmem"])
            found.append(lines * LINE_BYTES / fill["bytes"])
        return statistics.median(found) if found else None


def columns(figures, engines, threads):
    return [column for column in plan.COLUMNS if any(figures.median(e, column, threads) for e in engines)]
