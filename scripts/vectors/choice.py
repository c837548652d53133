"""Records posteriors and chances for src/agent/choice and src/optimize/choice, by scipy and numpy.

    pip install numpy scipy
    python scripts/vectors/choice.py > src/agent/choice/choice.vectors.json

- the chance of each of several independent Beta or Gaussian qualities, less its cost, to be the highest: adaptive quadrature over
  scipy's densities and distribution functions, not a grid;
- Bayesian linear regression: numpy's inverse of the precision, observation by observation;
- LinUCB: algorithm 1 of Li et al. 2010, as it is printed, on random contexts.
"""

import json

import numpy
import scipy
from scipy import integrate, stats


def best(distributions, costs):
    chances = []
    for i, own in enumerate(distributions):
        low, high = own.ppf(1e-12), own.ppf(1 - 1e-12)

        def density(t, i=i, own=own):
            product = own.pdf(t)
            for j, rival in enumerate(distributions):
                if j != i:
                    product *= rival.cdf(t - costs[i] + costs[j])
            return product

        points = sorted({min(max(d.mean() - costs[j] + costs[i], low), high) for j, d in enumerate(distributions)})
        chances.append(integrate.quad(density, low, high, limit=400, points=points, epsabs=1e-10)[0])
    return chances


BETAS = [
    {"counts": [[1, 1], [1, 1]], "costs": [0, 0]},
    {"counts": [[9, 3], [4, 8], [1, 1]], "costs": [0, 0, 0]},
    {"counts": [[80, 20], [95, 5]], "costs": [0, 0.15]},
    {"counts": [[4000, 1000], [4050, 950]], "costs": [0.01, 0]},
]
NORMALS = [
    {"means": [0.2, 0.5, 0.45], "deviations": [0.3, 0.1, 0.02], "costs": [0, 0.1, 0]},
    {"means": [0.5, 0.5], "deviations": [0.1, 0.4], "costs": [0.05, 0]},
]


def regression():
    random = numpy.random.default_rng(7)
    precision, moments = numpy.eye(3), numpy.array([0, 0, 0.5])
    seen = []
    for _ in range(6):
        x = numpy.append(random.uniform(-1, 1, 2).round(3), 1)
        quality = round(float(random.uniform(0, 1)), 3)
        precision, moments = precision + numpy.outer(x, x), moments + quality * x
        seen.append({"features": x[:2].tolist(), "quality": quality})
    asked = numpy.array([0.3, -0.7, 1])
    inverse = numpy.linalg.inv(precision)
    return {
        "seen": seen,
        "asked": asked[:2].tolist(),
        "noise": 0.5,
        "mean": float(asked @ inverse @ moments),
        "deviation": float(0.5 * numpy.sqrt(asked @ inverse @ asked)),
    }


def lin_ucb():
    """Arms and rewards in turn, prior moments 0.5 on the intercept, alpha = width * noise = 0.6."""
    random = numpy.random.default_rng(11)
    truth = numpy.array([[0.5, 0.1, 0.4], [-0.5, 0.2, 0.5], [0.0, -0.4, 0.45]])
    a = [numpy.eye(3) for _ in range(3)]
    b = [numpy.array([0, 0, 0.5]) for _ in range(3)]
    rounds = []
    for _ in range(60):
        x = numpy.append(random.uniform(-1, 1, 2).round(3), 1)
        bounds = []
        for k in range(3):
            inverse = numpy.linalg.inv(a[k])
            bounds.append(float(inverse @ b[k] @ x + 0.6 * numpy.sqrt(x @ inverse @ x)))
        arm = int(numpy.argmax(bounds))
        reward = float(numpy.clip(truth[arm] @ x, 0, 1).round(3))
        a[arm] += numpy.outer(x, x)
        b[arm] = b[arm] + reward * x
        rounds.append({"features": x[:2].tolist(), "arm": arm, "reward": reward})
    return {"width": 1.2, "noise": 0.5, "rounds": rounds}


print(
    json.dumps(
        {
            "made": {"numpy": numpy.__version__, "scipy": scipy.__version__},
            "betas": [{**c, "best": best([stats.beta(*ab) for ab in c["counts"]], c["costs"])} for c in BETAS],
            "normals": [
                {**c, "best": best([stats.norm(m, s) for m, s in zip(c["means"], c["deviations"])], c["costs"])}
                for c in NORMALS
            ],
            "regression": regression(),
            "linUcb": lin_ucb(),
        },
        indent=1,
    )
)
