"""Runs engines by pmlsm_bench, one process each, and collects their JSON."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import plan


def bench(options, engine, threads, db, benchmarks, more):
    """One process of pmlsm_bench: its stdout and its outcomes."""
    report = db + ".json"
    command = [options.binary, "--engine=" + engine, "--db=" + db, "--num=%d" % options.num,
               "--reads=%d" % options.reads, "--scans=%d" % options.num, "--threads=%d" % threads,
               "--seed=%d" % options.seed, "--divide_work", "--seek_nexts=10", "--progress_reports=false", "--json=" + report,
               "--benchmarks=" + ",".join(benchmarks)] + more
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("compare: %s failed:\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    with open(report) as file:
        return done.stdout, json.load(file)


def run_one(options, engine, threads, repeat):
    """Fills, reads, overwrites; then opens in fresh processes. The DB is gone afterwards: memory is short."""
    scratch = tempfile.mkdtemp(prefix="pmlsm_compare.", dir=options.dir)
    try:
        db = os.path.join(scratch, "db")
        stdout, outcomes = bench(options, engine, threads, db, plan.benchmarks(engine, threads), [])
        if threads == 1:
            outcomes += bench(options, engine, 1, db, ["open"], ["--use_existing_db"])[1]
            if engine == "pmlsm":
                # libpmemobj's own open of the same pool, and nothing else.
                bare = bench(options, "floor", 1, db, ["open"], ["--use_existing_db"])[1]
                for outcome in bare:
                    outcome["benchmark"] = "open-bare-pool"
                outcomes += bare
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for outcome in outcomes:
        outcome["repeat"] = repeat
        # pmlsm's own bare open comes from the floor's adapter, and every JSON row belongs to the run that it is from.
        outcome["run"] = {"engine": engine, "threads": threads}
    return stdout.split("-" * 20)[0], outcomes


def run_all(options):
    """Interleaved: every engine once, then every engine again. (settings of each engine, all outcomes)"""
    settings, outcomes = {}, []
    for repeat in range(options.repeats):
        for threads in options.threads:
            for engine in options.engines:
                header, found = run_one(options, engine, threads, repeat)
                if engine not in settings:
                    settings[engine] = header
                    print("== %s\n%s" % (engine, header), flush=True)
                print("repeat %d of %d, threads=%d: %s" % (repeat + 1, options.repeats, threads, engine), flush=True,
                      file=sys.stderr)
                outcomes += found
    return settings, outcomes
