"""All statements of the paper, in its order, and their verdicts."""
import json

import judge
import statements_change
import statements_insights
import statements_read
import statements_restructure

STATEMENTS = (statements_read.STATEMENTS + statements_change.STATEMENTS + statements_restructure.STATEMENTS +
              statements_insights.STATEMENTS)
PREFIXES = ["E", "P.", "I."]  # experiments, profiles, insights


def place(number):
    """For sorting: E2.1 before E10.1."""
    prefix = next(i for i, prefix in enumerate(PREFIXES) if number.startswith(prefix))
    parts = number[len(PREFIXES[prefix]):].split(".")
    return prefix, [(int("".join(c for c in part if c.isdigit())), part) for part in parts]


def verdicts(rows):
    return [judge.judge(statement, rows) for statement in sorted(STATEMENTS, key=lambda s: place(s.number))]


def verdicts_of_lsm(path):
    """E6 and E7, which lsm_experiments has judged itself (its --json file)."""
    with open(path) as file:
        findings = json.load(file)["findings"]
    found = []
    for finding in findings:
        if not finding["id"].startswith("E"):
            continue  # not the paper's, or a summary of others
        statement = judge.Statement(finding["id"], finding["section"].split(",")[0], finding["claim"], judge.TIMES,
                                    finding["ratio"], reason=finding["reason"])
        figures = "median %.2f (%.2f to %.2f)" % (finding["median"], finding["min"], finding["max"])
        found.append(judge.Verdict(statement, finding["verdict"], finding["agreeing"], finding["pairs"],
                                   figures if finding["pairs"] else ""))
    return found


def in_order(all_verdicts):
    return sorted(all_verdicts, key=lambda verdict: place(verdict.statement.number))


def exact(verdict):
    """The same in every run."""
    return verdict.statement.basis != judge.TIMES or verdict.verdict == judge.UNSEEN


def table(all_verdicts):
    """A line a statement."""
    lines = []
    for verdict in all_verdicts:
        of_pairs = " (%d of %d)" % (verdict.agreeing, verdict.pairs) if verdict.pairs else ""
        statement = verdict.statement
        lines.append("%-6s %-7s %s%s: %s" %
                     (statement.number, statement.basis, verdict.verdict, of_pairs, statement.claim))
    return lines


def table_with_figures(all_verdicts):
    lines = []
    for verdict, line in zip(all_verdicts, table(all_verdicts)):
        lines.append(line)
        lines += ["    " + figure for figure in verdict.figures.split("; ") if figure]
    return lines
