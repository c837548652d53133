"""Records intervals and p-values for src/gate/*.test.ts, by other roads than the ones taken in src/gate.

    pip install mpmath scipy statsmodels
    python scripts/vectors/gate.py > src/gate/gate.vectors.json

The test of a bounded mean asks for P(sum of E_i * y_i <= 0) with E_i independent standard exponentials. Here that is
- for distinct y: the closed form of partial fractions, in exact rational arithmetic;
- for differences -1, 0, 1 against a margin: an integral over two gamma variables;
- for values that occur many times: mpmath with 1,500 digits, the residues of the moment generating function over s;
- for 0/1 values: scipy's beta distribution (Clopper and Pearson), and for margin 0 statsmodels' exact McNemar test.
"""

import json
from fractions import Fraction

import mpmath
import scipy
import statsmodels
from scipy import integrate, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

GRADED = [
    {"floor": -1, "sample": ["1/2", "-1/10", "3/10", "1/20", "0", "7/10", "-3/20", "9/10"]},
    {"floor": 0, "sample": ["1/7", "2/7", "3/7", "4/7", "5/7", "6/7", "1/9", "2/9", "4/9", "5/9", "7/9", "8/9"]},
    {"floor": -2, "sample": ["1/3"]},
    {"floor": -1, "sample": [str(Fraction(((7 * i) % 31) - 12, 31)) for i in range(31)]},
]
PAIRED = [(5, 1, 6), (30, 20, 200), (12, 40, 200), (70, 40, 400), (0, 3, 100), (9, 0, 100)]
# Values with how often they occur, the floor, bounds: few against many, and values that lie close to a bound.
LOPSIDED = [
    {"floor": 0, "sample": [[1, 1], [0, 999]], "bounds": [0.012, 0.0005, 0.00001]},
    {"floor": 0, "sample": [[1, 999], [0, 1]], "bounds": [0.988, 0.9, 0.999, 0.9999]},
    {"floor": 0, "sample": [[1, 1000]], "bounds": [0.988, 0.999, 0.5078125]},
    {"floor": -1, "sample": [[1, 1], [0, 999]], "bounds": [-0.002, 0.0005, -0.000001]},
    {"floor": -1, "sample": [[-1, 1], [0, 400], [1, 7]], "bounds": [0.001, -0.02, 0]},
    {"floor": -1, "sample": [[-1, 3], [0.001, 900], [1, 2]], "bounds": [0.0009, 0, -0.01]},
    {"floor": -1, "sample": [[0.000001, 300], [1, 1]], "bounds": [0, -0.003, 0.0000005]},
    # So many that the recursion would take too long.
    {"floor": 0, "sample": [[1, 1500], [0, 1500]], "bounds": [0.5, 0.45, 0.48828125]},
    {"floor": 0, "sample": [[1, 39900], [0, 100]], "bounds": [0.9965, 0.999, 0.9975]},
    {"floor": -1, "sample": [[-1, 40], [0, 1900], [1, 900]], "bounds": [0.3, 0.28]},
    {"floor": -1, "sample": [[-1, 1], [0.0009765625, 3000], [0.5, 400]], "bounds": [0.0595703125, 0.05]},
]


def repeated_p_value(counted: list[list[float]], floor: float, bound: float) -> mpmath.mpf:
    """P(sum E_i y_i <= 0) as the residues of prod (1 - s y)^-k / s at the poles 1/y of the negative distances y."""
    counts: dict[mpmath.mpf, int] = {}
    for value, count in [[floor, 1], *counted]:
        distance = mpmath.mpf(value) - mpmath.mpf(bound)
        if distance != 0:
            counts[distance] = counts.get(distance, 0) + count
    if all(distance < 0 for distance in counts):
        return mpmath.mpf(1)
    # Either side's poles give the answer: the side of lower orders takes fewer terms.
    side = min([-1, 1], key=lambda sign: max(count for y, count in counts.items() if y * sign > 0))
    total = mpmath.mpf(0)
    for y, order in counts.items():
        if y * side < 0:
            continue
        pole = 1 / y
        # The Taylor series at the pole of everything but (1 - s y)^-order.
        series = [(-1) ** m / pole ** (m + 1) for m in range(order)]
        for other, count in counts.items():
            if other == y:
                continue
            at_pole = 1 - pole * other
            factor = [at_pole**-count]
            for m in range(1, order):
                factor.append(factor[-1] * (count + m - 1) / m * other / at_pole)
            series = [
                mpmath.fsum(series[i] * factor[m - i] for i in range(m + 1))
                for m in range(order)
            ]
        total -= series[order - 1] * (-y) ** -order
    return total if side < 0 else 1 - total


def p_value(sample: list[Fraction], floor: Fraction, bound: Fraction) -> Fraction:
    """P(sum E_i y_i <= 0), y the distances of floor and sample from bound, all distinct and none zero."""
    y = [value - bound for value in [floor, *sample]]
    total = Fraction(0)
    for j, negative in enumerate(y):
        if negative < 0:
            term = Fraction(1)
            for i, other in enumerate(y):
                if i != j:
                    term *= negative / (negative - other)
            total += term
    return total


def lower_bound(sample: list[Fraction], floor: Fraction, alpha: Fraction) -> Fraction:
    """Bisection; steps to a neighbour where the closed form divides by zero."""
    low, high = floor, max(sample)
    for _ in range(40):
        middle = (low + high) / 2 + Fraction(1, 10**15)
        if p_value(sample, floor, middle) <= alpha:
            low = middle
        else:
            high = middle
    return low


def paired_p_value(wins: int, losses: int, tasks: int, margin: float) -> float:
    """P((1 - m) G(wins) <= m G(ties) + (1 + m) G(losses + 1)), G gamma variables of these shapes."""
    ties = tasks - wins - losses
    if wins == 0:
        return 1.0
    won = stats.gamma(wins)
    lost = stats.gamma(losses + 1)
    tied = stats.gamma(ties)

    def inner(loss: float, tie: float) -> float:
        return lost.pdf(loss) * tied.pdf(tie) * won.cdf((margin * tie + (1 + margin) * loss) / (1 - margin))

    if margin == 0:
        return integrate.quad(lambda loss: lost.pdf(loss) * won.cdf(loss), 0, lost.isf(1e-16), epsabs=1e-13)[0]
    edges = (0 if ties < 2 else tied.ppf(1e-14), tied.isf(1e-14))
    return integrate.dblquad(inner, *edges, 0, lost.isf(1e-14), epsabs=1e-11, epsrel=1e-11)[0]


def main() -> None:
    graded = []
    for case in GRADED:
        sample = [Fraction(value) for value in case["sample"]]
        floor = Fraction(case["floor"])
        graded.append(
            {
                "floor": case["floor"],
                "sample": [float(value) for value in sample],
                "pValues": [
                    [bound, float(p_value(sample, floor, Fraction(bound)))]
                    for bound in [-0.40625, -0.125, 0.03125, 0.265625, 0.6328125]
                    if Fraction(bound) > floor
                ],
                "lower": [[alpha, float(lower_bound(sample, floor, Fraction(alpha)))] for alpha in [0.05, 0.005]],
            }
        )
    mpmath.mp.dps = 1500
    lopsided = [
        {
            "floor": case["floor"],
            "sample": case["sample"],
            "pValues": [
                [bound, float(repeated_p_value(case["sample"], case["floor"], bound))] for bound in case["bounds"]
            ],
        }
        for case in LOPSIDED
    ]
    print(
        json.dumps(
            {
                "mpmath": mpmath.__version__,
                "scipy": scipy.__version__,
                "statsmodels": statsmodels.__version__,
                "quantile": [[p, float(stats.norm.ppf(p))] for p in [1e-6, 0.0304, 0.2, 0.5, 0.8, 0.95, 0.975, 0.9995]],
                "wilson": [
                    [k, n, level, *map(float, proportion_confint(k, n, alpha=1 - level, method="wilson"))]
                    for k, n, level in [(0, 10, 0.95), (1, 10, 0.95), (7, 16, 0.9), (200, 400, 0.99), (400, 400, 0.95)]
                ],
                "clopperPearson": [
                    [k, n, alpha, float(stats.beta.ppf(alpha, k, n - k + 1))]
                    for k, n, alpha in [(1, 1, 0.05), (3, 10, 0.05), (150, 200, 0.025), (200, 200, 0.01)]
                ],
                # One-sided where the candidate wins more often: half of statsmodels' two-sided value.
                "mcnemar": [
                    [wins, losses, float(mcnemar([[3, wins], [losses, 4]], exact=True).pvalue / 2)]
                    for wins, losses in [(8, 1), (15, 5), (60, 41), (9, 0)]
                ],
                "paired": [
                    [wins, losses, tasks, margin, float(paired_p_value(wins, losses, tasks, margin))]
                    for wins, losses, tasks in PAIRED
                    for margin in [0, 0.02, 0.1]
                    if not (wins + losses == tasks and margin > 0)
                ],
                "graded": graded,
                "lopsided": lopsided,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
