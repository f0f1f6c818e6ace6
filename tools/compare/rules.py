"""The rules of the comparison: what makes a run void."""
import plan


def reads_did_their_work(figures, engine, threads):
    """Every read found its key, every one of a missing key found none. The floor has neither."""
    broken = []
    for column, share in (("readrandom", 1), ("readmissing", 0), ("seekrandom", 1), ("readwhilewriting", 1)):
        for o in figures.of(engine, column, threads) if engine != "floor" else []:
            if o["found"] != share * o["reads"]:
                broken.append("%s, threads=%d: %s found %d of %d keys" %
                              (engine, threads, column, o["found"], o["reads"]))
    for o in figures.of(engine, "readseq", threads):
        if o["operations"] != o["num"] // threads * threads:
            broken.append("%s, threads=%d: readseq saw %d of %d entries" % (engine, threads, o["operations"], o["num"]))
    return broken


def pmlsm_stays_within(figures, threads):
    """Memtables, what is in runs when reads start, and anonymous memory."""
    broken = []
    for o in figures.of("pmlsm", "readrandom", threads):
        data = o["num"] * (o["key_bytes"] + o["value_bytes"])
        if o["memtable_bytes"] > plan.MEMTABLES_MAX_BYTES:
            broken.append("pmlsm, threads=%d: memtables of %d bytes; must be 0 to %d" %
                          (threads, o["memtable_bytes"], plan.MEMTABLES_MAX_BYTES))
        if o["memtable_bytes"] > (1 - plan.RUNS_MIN_SHARE) * data:
            broken.append("pmlsm, threads=%d: %d bytes in memtables when reads start; must be 0 to %d (%.0f %% of the "
                          "data in runs)" % (threads, o["memtable_bytes"], (1 - plan.RUNS_MIN_SHARE) * data,
                                             100 * plan.RUNS_MIN_SHARE))
        if o["anonymous_bytes"] > plan.ANONYMOUS_MAX_SHARE * data:
            broken.append("pmlsm, threads=%d: %d bytes of anonymous memory; must be 0 to %d (%.0f %% of the data)" %
                          (threads, o["anonymous_bytes"], plan.ANONYMOUS_MAX_SHARE * data,
                           100 * plan.ANONYMOUS_MAX_SHARE))
    return broken


def peers_are_in_place(figures):
    """A peer far slower here, beside the floor, than it is known to be was not given a fair run."""
    broken = []
    for engine, places in plan.PLACES.items():
        for column, place in places.items():
            measured = figures.ratio(engine, "floor", column)
            if measured is None:
                continue
            known = place / plan.PLACE_OF_FLOOR[column]
            if measured < plan.PLACE_REACHED * known:
                broken.append("%s: %s at %.4f of the floor; its place is %.4f, and it must reach %.0f %% of that" %
                              (engine, column, measured, known, 100 * plan.PLACE_REACHED))
    return broken


def check(figures, engines, thread_counts):
    """What is broken, a line each; none: the run counts."""
    broken = []
    for threads in thread_counts:
        for engine in engines:
            broken += reads_did_their_work(figures, engine, threads)
        broken += pmlsm_stays_within(figures, threads)
    return broken + peers_are_in_place(figures)
