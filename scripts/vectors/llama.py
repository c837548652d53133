"""A Llama in plain PyTorch: the reference that the embedded engine's recorded vectors come from."""

import torch
import torch.nn.functional as F

PROJECTIONS = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}


def numbers(seed, *shape, scale=1.0):
    """Pseudo-random float32 in [-scale, scale), the same here and in TypeScript (vectors.ts): a linear congruence."""
    state, values = seed, []
    for _ in range(torch.Size(shape).numel()):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append((state / 2**31 - 1) * scale)
    return torch.tensor(values, dtype=torch.float64).float().reshape(shape)


def shapes(c):
    q, kv, h, i = c["heads"] * c["headDim"], c["kvHeads"] * c["headDim"], c["hiddenSize"], c["intermediateSize"]
    sizes = {"q": (q, h), "k": (kv, h), "v": (kv, h), "o": (h, q), "gate": (i, h), "up": (i, h), "down": (h, i)}
    result = {"model.embed_tokens.weight": (c["vocabSize"], h)}
    for layer in range(c["layers"]):
        prefix = f"model.layers.{layer}."
        result[prefix + "input_layernorm.weight"] = (h,)
        for short, name in PROJECTIONS.items():
            result[prefix + name + ".weight"] = sizes[short]
        result[prefix + "post_attention_layernorm.weight"] = (h,)
    result["model.norm.weight"] = (h,)
    if not c["tiedHead"]:
        result["lm_head.weight"] = (c["vocabSize"], h)
    return result


def weights(c):
    """Every weight from its position in the list of names, norms around 1."""
    tensors = {}
    for index, (name, shape) in enumerate(shapes(c).items()):
        values = numbers(1000 + index, *shape, scale=0.4)
        tensors[name] = (values + 1 if len(shape) == 1 else values).requires_grad_()
    return tensors


def adapter(c, rank):
    """A LoRA pair for every projection and the head; B is not zero, so that every gradient is seen."""
    tensors = {}
    matrices = [n for n, s in shapes(c).items() if len(s) == 2 and n not in ("model.embed_tokens.weight", "lm_head.weight")]
    all_shapes = shapes(c) | {"lm_head.weight": (c["vocabSize"], c["hiddenSize"])}
    for index, name in enumerate([*matrices, "lm_head.weight"]):
        output, inputs = all_shapes[name]
        module = name.removesuffix(".weight")
        tensors[module + ".lora_A.weight"] = numbers(5000 + index, rank, inputs, scale=0.4).requires_grad_()
        tensors[module + ".lora_B.weight"] = numbers(6000 + index, output, rank, scale=0.4).requires_grad_()
    return tensors


def rotate(x, theta):
    """x [length, heads, headDim], half-split pairs."""
    half = x.shape[-1] // 2
    frequency = theta ** (-torch.arange(half, dtype=torch.float64) * 2 / x.shape[-1])
    angle = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * frequency
    cos, sin = angle.cos().float()[:, None], angle.sin().float()[:, None]
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def recall(c, memory, q):
    """Attention over each query's nearest entries of a memory: q [heads, length, headDim] before rotation."""
    group = c["heads"] // c["kvHeads"]
    k = memory["keys"].view(-1, c["kvHeads"], c["headDim"]).transpose(0, 1).repeat_interleave(group, 0)
    v = memory["values"].view(-1, c["kvHeads"], c["headDim"]).transpose(0, 1).repeat_interleave(group, 0)
    scores, picks = (q @ k.transpose(-1, -2) / c["headDim"] ** 0.5).topk(min(memory["neighbours"], k.shape[1]))
    picked = v[torch.arange(c["heads"])[:, None, None], picks]
    return (scores.softmax(-1)[..., None] * picked).sum(-2)


def logits(c, w, tokens, lora=None, scale=1.0, prompt=None, memory=None, seen=None):
    """Logits [length, vocab] of one sequence; behind a soft prompt [virtual, hidden] those of its tokens alone.

    `memory`: layer, neighbours, keys and values [entries, kvHeads * headDim], gate [heads].
    `seen`, a defaultdict(list), collects of each layer the keys before rotation with the values (`recalled`) and what the
    feed-forward network reads (`mlp`), and the last hidden state after its norm (`final`).
    """
    heads, kv, dim, eps = c["heads"], c["kvHeads"], c["headDim"], c["rmsNormEps"]

    def linear(x, name, base=None):
        y = F.linear(x, w[base or name])
        module = name.removesuffix(".weight")
        if lora and module + ".lora_A.weight" in lora:
            y = y + scale * F.linear(F.linear(x, lora[module + ".lora_A.weight"]), lora[module + ".lora_B.weight"])
        return y

    x = F.embedding(tokens, w["model.embed_tokens.weight"])
    if prompt is not None:
        x = torch.cat([prompt, x])
    for layer in range(c["layers"]):
        prefix = f"model.layers.{layer}."
        project = lambda x, short: linear(x, prefix + PROJECTIONS[short] + ".weight")
        n = F.rms_norm(x, x.shape[-1:], w[prefix + "input_layernorm.weight"], eps)
        unturned = project(n, "q").view(-1, heads, dim)
        q = rotate(unturned, c["ropeTheta"]).transpose(0, 1)
        keys, values = project(n, "k"), project(n, "v")
        k = rotate(keys.view(-1, kv, dim), c["ropeTheta"]).transpose(0, 1)
        v = values.view(-1, kv, dim).transpose(0, 1)
        o = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
        if memory and memory["layer"] == layer:
            g = memory["gate"].sigmoid()[:, None, None]
            o = g * recall(c, memory, unturned.transpose(0, 1)) + (1 - g) * o
        x = x + project(o.transpose(0, 1).reshape(len(x), heads * dim), "o")
        n = F.rms_norm(x, x.shape[-1:], w[prefix + "post_attention_layernorm.weight"], eps)
        if seen is not None:
            seen["recalled"].append((keys, values))
            seen["mlp"].append(n)
        x = x + project(F.silu(project(n, "gate")) * project(n, "up"), "down")
    x = F.rms_norm(x[-len(tokens) :], x.shape[-1:], w["model.norm.weight"], eps)
    if seen is not None:
        seen["final"].append(x)
    return linear(x, "lm_head.weight", "model.embed_tokens.weight" if c["tiedHead"] else "lm_head.weight")
