"""How a statement of the paper is judged: pairs of figures; the first has to be less, no more, or about alike."""
from dataclasses import dataclass

HOLDS = "holds"
IN_PART = "holds in part"
NOT = "does not hold"
UNSEEN = "cannot be seen here"
NOT_MEASURED = "not measured"

# What a statement is judged by. Counts are exact, and the same on every machine; the model is exact arithmetic on them;
# times are this machine's and this run's.
COUNTS = "counts"
MODEL = "model"
TIMES = "times"

ABOUT = 0.25  # "the same", "similar": the larger is at most so much larger
NOISE = 0.05  # of times: nearer than this is no difference
# Of the pairs that must agree; as tools/experiments/findings.cc has them.
HOLDS_FROM = 0.9
IN_PART_FROM = 0.5

# Names of relations, as the page prints them.
RELATIONS = {
    "<": lambda left, right, noise: left * (1 + noise) < right,
    "<=": lambda left, right, noise: left <= right * (1 + noise),
    "about": lambda left, right, noise: max(left, right) <= (1 + ABOUT) * min(left, right),
}


@dataclass
class Statement:
    """One of the paper's. pairs(rows) gives (label, left, right) of what is compared; a missing figure is None."""
    number: str
    section: str
    claim: str
    basis: str
    test: str  # left, relation, right, in words
    relation: str = "<"
    pairs: object = None
    reason: str = ""  # why it does not hold, or not everywhere, or cannot be seen


@dataclass
class Verdict:
    statement: Statement
    verdict: str
    agreeing: int = 0
    pairs: int = 0
    figures: str = ""  # of the pairs, in a line


def short(value):
    return "%.0f" % value if value == int(value) or value >= 1000 else "%.3g" % value


def figures_of(statement, pairs):
    return "; ".join("%s: %s %s%s %s" % (label, short(left), "" if agrees else "not ", statement.relation, short(right))
                     for label, left, right, agrees in pairs)


def judge(statement, rows):
    if statement.pairs is None:
        return Verdict(statement, UNSEEN)
    relation = RELATIONS[statement.relation]
    noise = NOISE if statement.basis == TIMES else 0
    pairs = [(label, left, right, relation(left, right, noise)) for label, left, right in statement.pairs(rows)
             if left is not None and right is not None]
    agreeing = sum(agrees for _, _, _, agrees in pairs)
    if not pairs:
        verdict = NOT_MEASURED
    elif agreeing >= HOLDS_FROM * len(pairs):
        verdict = HOLDS
    else:
        verdict = IN_PART if agreeing >= IN_PART_FROM * len(pairs) else NOT
    return Verdict(statement, verdict, agreeing, len(pairs), figures_of(statement, pairs))
