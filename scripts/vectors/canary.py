"""Records e-values for src/gate/canary/difference-test.test.ts, in exact rational arithmetic but for square roots.

    python scripts/vectors/canary.py > src/gate/canary/difference-test.vectors.json

Written from the definition in the docstring of difference-test.ts, by another road: the mean and the spread are taken
anew from the whole past at every session (here all pasts are shorter than the memory), capitals are multiplied out, not
summed as logarithms, and Python's Decimal of 60 digits stands for floating point.
"""

import json
import random
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
EFFECTS = [Fraction(1, 10), Fraction(1, 5), Fraction(2, 5)]


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def evidence(sessions: list[tuple[bool, Fraction, Fraction | None]], margin: Fraction) -> tuple[float, float, int]:
    """(log of the last mean capital, log of the largest, sessions compared)."""
    past: list[Fraction] = []
    squares: list[Fraction] = []
    capital = [Decimal(1)] * 3
    largest = Decimal(1)
    for candidate, propensity, value in sessions:
        if value is None or propensity in (0, 1):
            continue
        mean = (Fraction(1, 2) + sum(past)) / (1 + len(past))
        variance = (Fraction(1) + sum(squares)) / (4 + len(squares))
        weight = Fraction(1) / propensity if candidate else Fraction(-1) / (1 - propensity)
        # propensity * (inverse-propensity-weighted value), against the margin
        y = propensity * weight * (value - mean) - propensity * margin
        worst = max(mean, (1 - mean) * propensity / (1 - propensity)) + propensity * max(margin, Fraction(0))
        for j, effect in enumerate(EFFECTS):
            kelly = decimal(effect * (1 - propensity)) / decimal(variance).sqrt()
            capital[j] *= 1 + min(kelly, decimal(Fraction(1, 2) / worst)) * decimal(y)
        largest = max(largest, sum(capital) / 3)
        past.append(value)
        squares.append((value - mean) ** 2)
    return float((sum(capital) / 3).ln()), float(largest.ln()), len(past)


def case(seed: int, n: int, baseline: int, candidate: int, margin: str, graded: bool, ramp: list[str]) -> dict:
    draw = random.Random(seed)
    sessions = []
    for i in range(n):
        share = Fraction(ramp[i * len(ramp) // n])
        is_candidate = draw.random() < share
        rate = candidate if is_candidate else baseline
        value = Fraction(draw.randrange(0, rate + 1), 100) if graded else Fraction(int(draw.randrange(100) < rate))
        sessions.append((is_candidate, share, None if draw.random() < 0.1 else value))
    now, most, compared = evidence(sessions, Fraction(margin))
    return {
        "margin": float(Fraction(margin)),
        "sessions": [[int(c), float(p), None if v is None else float(v)] for c, p, v in sessions],
        "now": now,
        "most": most,
        "compared": compared,
    }


print(
    json.dumps(
        [
            case(1, 120, 50, 80, "0", False, ["1/2"]),
            case(2, 120, 80, 50, "0", False, ["1/2"]),
            case(3, 300, 50, 90, "1/50", False, ["1/10", "1/2", "9/10"]),
            case(4, 200, 60, 60, "-1/10", True, ["1/4"]),
            case(5, 200, 2, 30, "1/20", False, ["1/100", "1/5", "1"]),
        ]
    )
)
