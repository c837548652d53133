"""Records logistic regression, calibration and scores for src/reward/learned, by scikit-learn and scipy.

    pip install scikit-learn scipy
    python scripts/vectors/reward.py > src/reward/learned/reward.vectors.json
"""

import json

import numpy
import scipy.stats
import sklearn
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

random = numpy.random.default_rng(15)


def logistic(rows, features, l2):
    x = random.normal(size=(rows, features))
    y = (random.random(rows) < 1 / (1 + numpy.exp(-x[:, 0] + 0.5 * x[:, 1] - 0.3))).astype(int)
    counts = random.uniform(0.1, 2, rows)
    fit = LogisticRegression(C=1 / l2, tol=1e-12, max_iter=100_000).fit(x, y, sample_weight=counts)
    return {
        "rows": x.tolist(),
        "targets": y.tolist(),
        "counts": counts.tolist(),
        "l2": l2,
        "intercept": float(fit.intercept_[0]),
        "weights": fit.coef_[0].tolist(),
    }


def scored(n, rounded):
    scores = numpy.round(random.normal(size=n), rounded)
    accepted = (random.random(n) < 1 / (1 + numpy.exp(-2 * scores + 0.5))).astype(int)
    return scores, accepted


def platt():
    scores, accepted = scored(60, 6)
    fit = _SigmoidCalibration().fit(scores, accepted)
    at = numpy.linspace(-4, 4, 9)
    return {"scores": scores.tolist(), "accepted": accepted.tolist(), "at": at.tolist(), "told": fit.predict(at).tolist()}


def isotonic():
    scores, accepted = scored(60, 1)
    counts = random.uniform(0.1, 2, 60)
    fit = IsotonicRegression(out_of_bounds="clip").fit(scores, accepted, sample_weight=counts)
    at = numpy.linspace(-4, 4, 41)
    return {
        "scores": scores.tolist(),
        "accepted": accepted.tolist(),
        "counts": counts.tolist(),
        "at": at.tolist(),
        "told": fit.predict(at).tolist(),
    }


def accuracy():
    told = numpy.round(random.random(50), 1)
    truth = (random.random(50) < told).astype(int)
    return {
        "told": told.tolist(),
        "truth": truth.tolist(),
        "brier": float(brier_score_loss(truth, told)),
        "auc": float(roc_auc_score(truth, told)),
    }


def student():
    return [
        {"probability": p, "degrees": d, "quantile": float(scipy.stats.t.ppf(p, d))}
        for p in (0.9, 0.95, 0.975, 0.99)
        for d in (9, 15, 40, 400)
    ]


print(
    json.dumps(
        {
            "by": {"sklearn": sklearn.__version__, "numpy": numpy.__version__, "scipy": scipy.__version__},
            "logistic": [logistic(20, 3, 1.0), logistic(40, 2, 0.01), logistic(12, 20, 2.5)],
            "platt": platt(),
            "isotonic": isotonic(),
            "accuracy": accuracy(),
            "student": student(),
        },
        indent=1,
    )
)
