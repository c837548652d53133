"""Records symmetric InfoNCE and an encoder's gradient for src/optimize/choice/behaviour, by PyTorch's autograd in float64.

    pip install torch
    python scripts/vectors/behaviour.py > src/optimize/choice/behaviour/behaviour.vectors.json

- the loss by F.cross_entropy over both sides, the vectors by F.normalize, the hidden layer by F.linear: none of it by hand;
- parameters in the order of the encoder: rows of hidden units, then rows of the vector's numbers, each ending with its bias;
- Adam: three steps of torch.optim.Adam on given gradients.
"""

import json

import torch
import torch.nn.functional as F

torch.manual_seed(8)
torch.set_default_dtype(torch.float64)


def symmetric(first, second, temperature):
    scores = first @ second.T / temperature
    own = torch.arange(len(first))
    return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2


def loss_alone(n, dimensions, temperature):
    first, second = (torch.randn(n, dimensions, requires_grad=True) for _ in range(2))
    loss = symmetric(first, second, temperature)
    loss.backward()
    flat = lambda t: t.flatten().tolist()
    return dict(
        dimensions=dimensions, temperature=temperature, first=flat(first), second=flat(second),
        loss=loss.item(), firstSlope=flat(first.grad), secondSlope=flat(second.grad),
    )  # fmt: skip


def through(inputs, hidden, dimensions, lengths, temperature):
    inner = hidden or inputs
    at = (0.7 * torch.randn(hidden * (inputs + 1) + dimensions * (inner + 1))).requires_grad_()
    cut = hidden * (inputs + 1)
    layer, out = at[:cut].view(hidden, inputs + 1), at[cut:].view(dimensions, inner + 1)

    def vector(steps):
        active = torch.tanh(F.linear(steps, layer[:, :-1], layer[:, -1])) if hidden else steps
        return F.normalize(F.linear(active.mean(0), out[:, :-1], out[:, -1]), dim=0)

    sides = [[torch.randn(length, inputs) for length in side] for side in lengths]
    first, second = (torch.stack([vector(steps) for steps in side]) for side in sides)
    loss = symmetric(first, second, temperature)
    loss.backward()
    return dict(
        inputs=inputs, hidden=hidden, dimensions=dimensions, temperature=temperature, at=at.tolist(),
        first=[steps.tolist() for steps in sides[0]], second=[steps.tolist() for steps in sides[1]],
        vector=first[0].tolist(), loss=loss.item(), gradient=at.grad.tolist(),
    )  # fmt: skip


def adam():
    values = torch.nn.Parameter(torch.randn(4))
    start = values.tolist()
    optimizer = torch.optim.Adam([values], lr=0.03, eps=1e-8)
    steps = []
    for _ in range(3):
        values.grad = torch.randn(4)
        optimizer.step()
        steps.append(dict(gradient=values.grad.tolist(), values=values.tolist()))
    return dict(rate=0.03, start=start, steps=steps)


print(
    json.dumps(
        dict(
            torch=torch.__version__,
            losses=[loss_alone(2, 3, 1.0), loss_alone(5, 2, 0.2)],
            encoders=[
                through(3, 4, 2, [[1, 2, 3], [2, 2, 1]], 0.3),
                through(3, 0, 2, [[2, 1], [3, 1]], 1.0),
            ],
            adam=adam(),
        ),
        indent=1,
    )
)
