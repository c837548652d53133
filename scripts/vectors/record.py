"""Records src/model/embedded/vectors/*.json from PyTorch (CPU): python3 scripts/vectors/record.py [NAME ...]

Inputs are not stored: both sides derive them (`numbers`). Outputs are float32, base64.
"""

import base64
import json
import pathlib
import sys
from collections import defaultdict

import torch
import torch.nn.functional as F

from llama import adapter, logits, numbers, recall, rotate, weights

FOLDER = pathlib.Path(__file__).parents[2] / "src/model/embedded/vectors"
CONFIG = dict(
    vocabSize=50, hiddenSize=16, intermediateSize=24, layers=2, heads=4, kvHeads=2, headDim=4,
    ropeTheta=10000, rmsNormEps=1e-5, maxPositions=64, tiedHead=True,
)  # fmt: skip
RANK, ALPHA = 4, 8
# Three data; the first two share four tokens. Positions with weight or advantage 0 carry no loss.
DATA = [
    dict(input=[1, 5, 9, 13, 17, 21, 25], target=[5, 9, 13, 17, 21, 25, 2], weights=[0, 0, 0, 1, 1, 0.5, 1], advantages=[0, 0, 0, 1.5, 1.5, 1.5, -0.5]),
    dict(input=[1, 5, 9, 13, 40, 41], target=[5, 9, 13, 40, 41, 2], weights=[0, 0, 0, 1, 1, 1], advantages=[0, 0, 0, -1, -1, -1]),
    dict(input=[3, 4, 6], target=[4, 6, 2], weights=[0, 1, 2], advantages=[0, 0.7, 0.7]),
]  # fmt: skip
TEMPERATURE, LOW, HIGH = 0.8, 0.8, 1.2


def pack(tensor):
    return base64.b64encode(tensor.detach().contiguous().float().numpy().tobytes()).decode()


def token_loss(kind, lp, old, a, w):
    ratio = (lp - old).exp()
    clipped = ratio.clamp(LOW, HIGH)
    return {
        "cross_entropy": lambda: -w * lp,
        "importance_sampling": lambda: -w * ratio * a,
        "ppo": lambda: -w * torch.minimum(ratio * a, clipped * a),
        "cispo": lambda: -w * clipped.detach() * lp * a,
    }[kind]()


KINDS = ["cross_entropy", "importance_sampling", "ppo", "cispo"]


def run(config, kind, lora, temperature, prompt=None):
    """Summed loss, log-probabilities and gradients of DATA, each datum on its own; behind a soft prompt where one is given."""
    w = weights(config)
    a = adapter(config, RANK) if lora else None
    total, found = 0, []
    for index, d in enumerate(DATA):
        z = logits(config, w, torch.tensor(d["input"]), a, ALPHA / RANK, prompt) / temperature
        lp = z.log_softmax(-1).gather(-1, torch.tensor(d["target"])[:, None])[:, 0]
        # Old log-probabilities near the new ones, so that some ratios are inside the bounds and some outside.
        old = lp.detach() + numbers(70 + index, len(lp), scale=0.4)
        total = total + token_loss(kind, lp, old, torch.tensor(d["advantages"]), torch.tensor(d["weights"])).sum()
        found.append((lp, old))
    total.backward()
    trained = {"prompt_embeddings": prompt} if prompt is not None else a if lora else w
    return dict(
        loss=total.item(),
        logprobs=[pack(lp) for lp, _ in found],
        old=[pack(old) for _, old in found],
        gradients={name: pack(t.grad) for name, t in trained.items()},
    )


def record_llama():
    untied = CONFIG | {"tiedHead": False}
    sequence = torch.tensor(DATA[0]["input"])
    return dict(
        config=CONFIG,
        tokens=DATA[0]["input"],
        tied=dict(logits=pack(logits(CONFIG, weights(CONFIG), sequence)), **run(CONFIG, "cross_entropy", False, 1)),
        untied=dict(logits=pack(logits(untied, weights(untied), sequence)), **run(untied, "cross_entropy", False, 1)),
    )


def record_losses():
    """The formulas alone, on ratios at, inside and outside the bounds; and through the model into LoRA gradients."""
    old, a, w = numbers(80, 32) - 2, numbers(81, 32), numbers(82, 32) + 1
    formulas = {}
    for kind in KINDS:
        lp = (old + numbers(83, 32, scale=0.6)).requires_grad_()
        loss = token_loss(kind, lp, old, a, w)
        loss.sum().backward()
        formulas[kind] = dict(loss=pack(loss), gradient=pack(lp.grad))
    return dict(
        config=CONFIG, rank=RANK, alpha=ALPHA, data=DATA, temperature=TEMPERATURE, clipLow=LOW, clipHigh=HIGH,
        formulas=formulas,
        lora={kind: run(CONFIG, kind, True, 1 if kind == "cross_entropy" else TEMPERATURE) for kind in KINDS},
    )  # fmt: skip


VIRTUAL = 5


def record_prompt():
    """A soft prompt of VIRTUAL vectors in front of every datum: its gradient under each loss."""
    prompt = lambda: numbers(7000, VIRTUAL, CONFIG["hiddenSize"], scale=0.4).requires_grad_()
    temperature = lambda kind: 1 if kind == "cross_entropy" else TEMPERATURE
    return dict(length=VIRTUAL, runs={kind: run(CONFIG, kind, False, temperature(kind), prompt()) for kind in KINDS})


def record_rules():
    """Each operation: its output, and its inputs' gradients for a given gradient of the output."""

    def case(function, *inputs):
        leaves = [numbers(100 + i, *shape).requires_grad_() for i, shape in enumerate(inputs)]
        y = function(*leaves)
        y.backward(numbers(200, *y.shape))
        return dict(output=pack(y), gradients=[pack(leaf.grad) for leaf in leaves])

    heads = lambda x, n: x.view(*x.shape[:2], n, 4).transpose(1, 2)
    mask = torch.where(numbers(301, 2, 3, 5) > 0.5, -1e9, 0.0)
    mask[:, :, 0] = 0
    picks = torch.tensor([3, 0, 3, 1, 3])
    targets = torch.tensor([2, 0, 6])

    def attend(q, k, v):
        q, k, v = heads(q, 4), heads(k, 2).repeat_interleave(2, 1), heads(v, 2).repeat_interleave(2, 1)
        p = (q @ k.transpose(-1, -2) / 2 + mask[:, None]).softmax(-1)
        return (p @ v).transpose(1, 2).reshape(2, 3, 16)

    memory = dict(keys=numbers(302, 5, 8), values=numbers(303, 5, 8), neighbours=5)
    shape = dict(heads=4, kvHeads=2, headDim=4)

    def remember(q):
        read = recall(shape, memory, q.view(6, 4, 4).transpose(0, 1))
        return read.transpose(0, 1).reshape(2, 3, 16)

    def gate(local, recalled, b):
        g = b.sigmoid().repeat_interleave(4)
        return g * recalled + (1 - g) * local

    return dict(
        add=case(lambda a, b: a + b, (2, 3), (2, 3)),
        sub=case(lambda a, b: a - b, (2, 3), (2, 3)),
        mul=case(lambda a, b: a * b, (2, 3), (2, 3)),
        neg=case(lambda a: -a, (2, 3)),
        exp=case(lambda a: a.exp(), (2, 3)),
        minimum=case(torch.minimum, (4, 5), (4, 5)),
        clip=case(lambda a: a.clamp(-0.3, 0.4), (4, 5)),
        linear=case(lambda x, w: 0.5 * F.linear(x, w), (2, 3, 4), (5, 4)),
        transpose=case(lambda x: x.permute(2, 0, 1), (2, 3, 4)),
        reshape=case(lambda x: x.reshape(6, 2, 2), (2, 3, 4)),
        rmsNorm=case(lambda x, w: F.rms_norm(x, (8,), w, 1e-5), (2, 3, 8), (8,)),
        rotary=case(lambda x: rotate(x.view(3, 2, 4), 10000).view(1, 3, 8), (1, 3, 8)),
        swiglu=case(lambda gate, up: F.silu(gate) * up, (2, 3, 8), (2, 3, 8)),
        geglu=case(lambda gate, up: F.gelu(4 * gate, approximate="tanh") * up, (2, 3, 8), (2, 3, 8)),
        addBias=case(lambda x, b: x + b, (2, 3, 8), (8,)),
        attention=case(attend, (2, 3, 16), (2, 5, 8), (2, 5, 8)),
        gatherRows=case(lambda x: x[picks], (4, 6)),
        columns=case(lambda x: x[..., 2:5], (2, 3, 8)),
        stack=case(lambda a, b: torch.cat([a, b]), (2, 5), (3, 5)),
        recall=case(remember, (2, 3, 16)),
        gated=case(gate, (2, 3, 8), (2, 3, 8), (2,)),
        targetLogprobs=case(lambda z: (z / 0.8).log_softmax(-1).gather(-1, targets[:, None])[:, 0], (3, 7)),
    ) | {"mask": pack(mask)}


def record_adamw():
    """Three steps with global-norm clipping and weight decay."""
    p = torch.nn.Parameter(numbers(400, 40))
    optimizer = torch.optim.AdamW([p], lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    steps = []
    for step in range(3):
        p.grad = numbers(410 + step, 40)
        norm = torch.nn.utils.clip_grad_norm_([p], 2.0)
        optimizer.step()
        steps.append(dict(norm=norm.item(), values=pack(p)))
    return steps


def record_anchors():
    """Log-probabilities of every target; the mean squared gradient one datum at a time; a step that is held back."""

    def logprobs(d, w, a, temperature=1):
        z = logits(CONFIG, w, torch.tensor(d["input"]), a, ALPHA / RANK) / temperature
        return z.log_softmax(-1).gather(-1, torch.tensor(d["target"])[:, None])[:, 0]

    def importance(lora):
        w, a = weights(CONFIG), adapter(CONFIG, RANK) if lora else None
        trained = a if lora else w
        squares = {name: torch.zeros_like(t) for name, t in trained.items()}
        for d in DATA:
            for t in trained.values():
                t.grad = None
            (torch.tensor(d["weights"]) * logprobs(d, w, a)).sum().backward()
            for name, t in trained.items():
                squares[name] += t.grad**2
        return {name: square / len(DATA) for name, square in squares.items()}

    def held():
        """Three steps of AdamW on the first datum, the loss with its EWC penalty differentiated by autograd."""
        w, a = weights(CONFIG), adapter(CONFIG, RANK)
        fisher, start = importance(True), {name: t.detach().clone() for name, t in a.items()}
        optimizer = torch.optim.AdamW(a.values(), lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0)
        steps = []
        for _ in range(3):
            optimizer.zero_grad()
            penalty = sum(STRENGTH / 2 * (fisher[n] * (t - start[n]) ** 2).sum() for n, t in a.items())
            loss = (-torch.tensor(DATA[0]["weights"]) * logprobs(DATA[0], w, a)).sum()
            (loss + penalty).backward()
            norm = torch.nn.utils.clip_grad_norm_(a.values(), 1.0)
            optimizer.step()
            steps.append(dict(penalty=penalty.item(), norm=norm.item()))
        return dict(steps=steps, values={name: pack(t) for name, t in a.items()})

    w, a = weights(CONFIG), adapter(CONFIG, RANK)
    packed = lambda tensors: {name: pack(t) for name, t in tensors.items()}
    return dict(
        temperature=TEMPERATURE, strength=STRENGTH,
        logprobs=[pack(logprobs(d, w, a, TEMPERATURE)) for d in DATA],
        importance=dict(lora=packed(importance(True)), full=packed(importance(False))),
        held=held(),
    )  # fmt: skip


STRENGTH = 20.0
# Two pairs; the sides of each share their context, and differ in length.
PAIRS = [
    dict(context=[1, 5, 9], chosen=[13, 17, 2], rejected=[40, 2]),
    dict(context=[3, 4], chosen=[6, 2], rejected=[7, 8, 9, 2]),
]
BETA, SMOOTHING = 0.1, 0.2


MEMORY_ENTRIES = 7


def record_memory():
    """A memory read in one layer: loss, log-probabilities, gradients of the gates and of LoRA on its queries; and what is kept."""

    def reading(layer, neighbours):
        w, width = weights(CONFIG), CONFIG["kvHeads"] * CONFIG["headDim"]
        memory = dict(
            layer=layer, neighbours=neighbours, gate=numbers(7002, CONFIG["heads"]).requires_grad_(),
            keys=numbers(7000, MEMORY_ENTRIES, width), values=numbers(7001, MEMORY_ENTRIES, width),
        )  # fmt: skip
        module = f"model.layers.{layer}.self_attn."
        inputs, outputs = CONFIG["hiddenSize"], CONFIG["heads"] * CONFIG["headDim"]
        lora = {
            module + "q_proj.lora_A.weight": numbers(7010, RANK, inputs, scale=0.4).requires_grad_(),
            module + "q_proj.lora_B.weight": numbers(7011, outputs, RANK, scale=0.4).requires_grad_(),
        }
        total, found = 0, []
        for d in DATA:
            lp = logits(CONFIG, w, torch.tensor(d["input"]), lora, ALPHA / RANK, memory=memory).log_softmax(-1)
            lp = lp.gather(-1, torch.tensor(d["target"])[:, None])[:, 0]
            total = total - (lp * torch.tensor(d["weights"])).sum()
            found.append(lp)
        total.backward()
        trained = {module + "memory_gate": memory["gate"]} | lora
        return dict(
            layer=layer, neighbours=neighbours, loss=total.item(), logprobs=[pack(lp) for lp in found],
            gradients={name: pack(t.grad) for name, t in trained.items()},
        )  # fmt: skip

    seen = defaultdict(list)
    logits(CONFIG, weights(CONFIG), torch.tensor(DATA[0]["input"]), seen=seen)
    collected = seen["recalled"]
    return dict(
        entries=MEMORY_ENTRIES,
        rank=RANK,
        alpha=ALPHA,
        data=DATA,
        readings=[reading(layer, neighbours) for layer in range(CONFIG["layers"]) for neighbours in (1, 3, 99)],
        collected=[dict(keys=pack(keys), values=pack(values)) for keys, values in collected],
    )


def record_preference():
    """DPO as TRL publishes it (DPOTrainer.dpo_loss, `sigmoid` with `label_smoothing`), mean over the pairs."""

    def continuation(w, a, context, side):
        tokens = torch.tensor(context + side)
        z = logits(CONFIG, w, tokens[:-1], a, ALPHA / RANK)
        return z.log_softmax(-1).gather(-1, tokens[1:, None])[len(context) - 1 :, 0].sum()

    def case(smoothing):
        w, a = weights(CONFIG), adapter(CONFIG, RANK)
        losses, margins = [], []
        for index, pair in enumerate(PAIRS):
            chosen, rejected = (continuation(w, a, pair["context"], pair[side]) for side in ("chosen", "rejected"))
            ratios = (chosen - reference[index]["chosen"]) - (rejected - reference[index]["rejected"])
            losses.append(
                -F.logsigmoid(BETA * ratios) * (1 - smoothing) - F.logsigmoid(-BETA * ratios) * smoothing
            )
            margins.append(BETA * ratios)
        loss = torch.stack(losses).mean()
        loss.backward()
        return dict(
            loss=loss.item(),
            margins=[margin.item() for margin in margins],
            gradients={name: pack(t.grad) for name, t in a.items()},
        )

    # The reference is the base model, and the policy its adapted self, so that margins are not 0.
    w = weights(CONFIG)
    reference = [
        {side: continuation(w, None, pair["context"], pair[side]).item() for side in ("chosen", "rejected")}
        for pair in PAIRS
    ]
    return dict(
        rank=RANK, alpha=ALPHA, pairs=PAIRS, beta=BETA, smoothing=SMOOTHING, reference=reference,
        plain=case(0.0), smoothed=case(SMOOTHING),
    )  # fmt: skip


# Bounds near 1, so that sequences lie on either side of them; and a dual clip near the upper one.
SEQUENCE_LOW, SEQUENCE_HIGH, DUAL, KL = 0.95, 1.05, 1.25, 0.3


def policy_loss(kind, lp, old, a):
    """One sequence's losses, a token each; only tokens with an advantage count. As published, by autograd alone."""
    ratio, counts = (lp - old).exp(), a != 0
    if kind == "gspo":
        s = ((lp - old) * counts).sum().div(counts.sum()).exp().detach()
        of_token = s * lp.exp() / lp.exp().detach()
        return -torch.minimum(of_token * a, of_token.clamp(SEQUENCE_LOW, SEQUENCE_HIGH) * a) * counts
    if kind == "gspo_plain":
        s = ((lp - old) * counts).sum().div(counts.sum()).exp()
        return -torch.minimum(s * a, s.clamp(SEQUENCE_LOW, SEQUENCE_HIGH) * a) * counts
    if kind == "dual_clip":
        inner = torch.minimum(ratio * a, ratio.clamp(LOW, HIGH) * a)
        return -torch.where(a < 0, torch.maximum(inner, DUAL * a), inner)
    return token_loss(kind, lp, old, a, torch.ones_like(lp))


POLICIES = ["importance_sampling", "ppo", "dual_clip", "cispo", "gspo"]


def record_policies():
    """Policy losses that a trainer need not know: alone, and through the model, the mean over sequences of their token means."""

    def alone(kind, same):
        old, a = numbers(80, 8, 4) - 2, numbers(81, 8, 4)
        a = a[:, :1].expand(8, 4) if same else a
        lp = (old + numbers(83, 8, 4, scale=0.6)).requires_grad_()
        losses = torch.stack([policy_loss(kind, lp[i], old[i], a[i]) for i in range(8)])
        losses.sum().backward()
        return dict(loss=pack(losses.sum(1)), gradient=pack(lp.grad))

    def through(kind, kl):
        w, a = weights(CONFIG), adapter(CONFIG, RANK)
        total, old_logprobs = 0, []
        for index, d in enumerate(DATA):
            def logprobs(given):
                z = logits(CONFIG, w, torch.tensor(d["input"]), given, ALPHA / RANK) / TEMPERATURE
                return z.log_softmax(-1).gather(-1, torch.tensor(d["target"])[:, None])[:, 0]

            lp, reference = logprobs(a), logprobs(None).detach()
            old = lp.detach() + numbers(70 + index, len(lp), scale=0.4)
            advantages = torch.tensor(d["advantages"])
            k3 = (reference - lp).exp() - (reference - lp) - 1
            of_token = policy_loss(kind, lp, old, advantages) + kl * k3
            total = total + of_token[advantages != 0].mean() / len(DATA)
            old_logprobs.append(pack(old))
        total.backward()
        return dict(loss=total.item(), old=old_logprobs, gradients={name: pack(t.grad) for name, t in a.items()})

    return dict(
        clipLow=LOW, clipHigh=HIGH, sequenceLow=SEQUENCE_LOW, sequenceHigh=SEQUENCE_HIGH, dualClip=DUAL, kl=KL,
        formulas={kind: alone(kind, False) for kind in POLICIES},
        gspoPlain=alone("gspo_plain", True), gspoSame=alone("gspo", True),
        through={kind: through(kind, 0.0) for kind in POLICIES}, near={kind: through(kind, KL) for kind in POLICIES},
    )  # fmt: skip


# Weights of auxiliary targets: some where the loss has weight 0, and one datum has none.
AUXILIARY = [[0.5, 0, 2, 0, 0.25, 1, 0], None, [0, 1, 0.5]]
OUTPUTS = 3


def record_auxiliary():
    """A linear head on the normed last state: its mean squared error over the outputs, weighted, beside each loss."""

    def case(kind, lora):
        w, a = weights(CONFIG), adapter(CONFIG, RANK) if lora else None
        head = numbers(900, OUTPUTS, CONFIG["hiddenSize"], scale=0.4).requires_grad_()
        main, beside, old_logprobs = 0, 0, []
        for index, (d, auxiliary) in enumerate(zip(DATA, AUXILIARY)):
            seen = defaultdict(list)
            z = logits(CONFIG, w, torch.tensor(d["input"]), a, ALPHA / RANK, seen=seen)
            [h] = seen["final"]
            lp = z.log_softmax(-1).gather(-1, torch.tensor(d["target"])[:, None])[:, 0]
            old = lp.detach() + numbers(70 + index, len(lp), scale=0.4)
            old_logprobs.append(pack(old))
            main = main + token_loss(kind, lp, old, torch.tensor(d["advantages"]), torch.tensor(d["weights"])).sum()
            if auxiliary:
                targets = numbers(910 + index, len(lp), OUTPUTS)
                beside = beside + (torch.tensor(auxiliary) * ((h @ head.T - targets) ** 2).mean(-1)).sum()
        (main + beside).backward()
        trained = (a if lora else w) | {"auxiliary.weight": head}
        return dict(
            loss=main.item(), auxiliaryLoss=beside.item(), old=old_logprobs,
            gradients={name: pack(t.grad) for name, t in trained.items()},
        )  # fmt: skip

    return dict(
        config=CONFIG, rank=RANK, alpha=ALPHA, data=DATA, weights=AUXILIARY, outputs=OUTPUTS,
        lora={kind: case(kind, True) for kind in ("cross_entropy", "ppo")}, full=case("cross_entropy", False),
    )  # fmt: skip


# Texts of a datastore, and one that is mixed with it: what the first text says comes again in it.
TEXTS = [[1, 5, 9, 13, 17, 21, 25, 2, 8, 30], [3, 4, 6, 9, 13, 40, 41, 2], [7, 7, 9, 11]]
ASKED = [1, 5, 9, 13, 40, 44, 9, 13]
MIXES = [dict(weight=0.3, neighbours=4, temperature=5.0), dict(weight=1.0, neighbours=1, temperature=1.0), dict(weight=0.6, neighbours=19, temperature=40.0), dict(weight=0.5, neighbours=3, temperature=0.2)]  # fmt: skip


def record_nearest():
    """kNN-LM: keys, and log-probabilities of all tokens under mixtures with the base model and with an adapter."""

    def read(tokens, lora):
        seen = defaultdict(list)
        a = adapter(CONFIG, RANK) if lora else None
        z = logits(CONFIG, weights(CONFIG), torch.tensor(tokens), a, ALPHA / RANK, seen=seen)
        return seen["mlp"][-1].detach(), z.detach()

    def mixed(lora):
        keys = torch.cat([read(text, lora)[0][:-1] for text in TEXTS])
        values = torch.tensor([token for text in TEXTS for token in text[1:]])
        state, z = read(ASKED, lora)
        found = []
        for mix in MIXES:
            distance, entry = torch.cdist(state.double(), keys.double()).square().topk(mix["neighbours"], largest=False)
            share = (-distance / mix["temperature"]).softmax(-1)
            near = torch.zeros(len(ASKED), CONFIG["vocabSize"], dtype=torch.float64).scatter_add(1, values[entry], share)
            found.append({
                str(temperature): pack((mix["weight"] * near + (1 - mix["weight"]) * (z.double() / temperature).softmax(-1)).log().clamp(min=-1e4))
                for temperature in (1, TEMPERATURE)
            })
        return dict(keys=pack(keys), logprobs=found)

    return dict(texts=TEXTS, asked=ASKED, mixes=MIXES, temperature=TEMPERATURE, base=mixed(False), adapter=mixed(True))


records = dict(
    llama=record_llama,
    losses=record_losses,
    prompt=record_prompt,
    rules=record_rules,
    adamw=record_adamw,
    anchors=record_anchors,
    memory=record_memory,
    preference=record_preference,
    policies=record_policies,
    auxiliary=record_auxiliary,
    nearest=record_nearest,
)
for name in sys.argv[1:] or records:
    content = dict(torch=torch.__version__) | dict(vectors=records[name]())
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
