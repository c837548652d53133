"""Records advantages for src/credit/pinned.test.ts, by numpy and by other roads than the ones taken in src/credit.

    pip install numpy
    python scripts/vectors/credit.py > src/credit/credit.vectors.json

- GAE: the value of each step from a ridge regression solved by lstsq on an augmented system, over the attempts of the other
  folds (one attempt a fold), and advantages as the explicit double sum of (gamma * lambda)^l * delta, not as a recursion.
- MaxRL and the batch z-score: straight from their definitions, over random rewards.
"""

import json

import numpy as np

rng = np.random.default_rng(7)


def ridge(rows, targets, penalty):
    centre, middle = rows.mean(axis=0), targets.mean()
    width = rows.shape[1]
    system = np.vstack([rows - centre, np.sqrt(penalty) * np.eye(width)])
    wanted = np.concatenate([targets - middle, np.zeros(width)])
    weights = np.linalg.lstsq(system, wanted, rcond=None)[0]
    return lambda row: middle + (row - centre) @ weights


def gae(attempts, discount, trace, penalty):
    returns = [
        np.array([sum(discount ** (k - t) * r for k, r in enumerate(a["rewards"]) if k >= t) for t in range(len(a["rewards"]))])
        for a in attempts
    ]
    advantages = []
    for i, attempt in enumerate(attempts):
        others = [j for j in range(len(attempts)) if j != i]
        value = ridge(
            np.vstack([attempts[j]["features"] for j in others]),
            np.concatenate([returns[j] for j in others]),
            penalty,
        )
        values = [float(value(np.array(row))) for row in attempt["features"]] + [0.0]
        deltas = [r + discount * values[t + 1] - values[t] for t, r in enumerate(attempt["rewards"])]
        advantages.append(
            [sum((discount * trace) ** (k - t) * deltas[k] for k in range(t, len(deltas))) for t in range(len(deltas))]
        )
    return advantages


def gae_case(discount, trace, penalty):
    attempts = []
    for _ in range(5):
        length = int(rng.integers(1, 6))
        attempts.append(
            {
                "features": rng.normal(size=(length, 3)).round(3).tolist(),
                "rewards": rng.normal(size=length).round(3).tolist(),
            }
        )
    # Three steps a feature and more: the fit hangs on all of them.
    return {
        "discount": discount,
        "trace": trace,
        "lambda": penalty,
        "attempts": attempts,
        "advantages": gae(attempts, discount, trace, penalty),
    }


def max_rl(rewards, floor):
    r = np.array(rewards)
    return ((r - r.mean()) / (r.mean() - floor)).tolist()


def z_score(groups, epsilon):
    centred = [np.array(g) - np.mean(g) for g in groups]
    flat = np.concatenate(centred)
    return [((g - flat.mean()) / (flat.std() + epsilon)).tolist() for g in centred]


groups = [rng.uniform(0, 1, size=4).round(3).tolist() for _ in range(3)]
print(
    json.dumps(
        {
            "numpy": np.__version__,
            "gae": [gae_case(1, 0.95, 1), gae_case(0.9, 0.8, 0.1), gae_case(0.99, 0, 5)],
            "maxRl": [
                {"floor": floor, "rewards": (r := rng.uniform(floor, 1, size=5).round(3).tolist()), "advantages": max_rl(r, floor)}
                for floor in (0, -0.5)
            ],
            "zScore": {"groups": groups, "epsilon": 1e-6, "advantages": z_score(groups, 1e-6)},
        },
        indent=2,
    )
)
