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


def logits(c, w, tokens, lora=None, scale=1.0, states=None):
    """Logits [length, vocab] of one sequence. Appends to `states` what each feed-forward network reads [length, hidden]."""
    heads, kv, dim, eps = c["heads"], c["kvHeads"], c["headDim"], c["rmsNormEps"]

    def linear(x, name, base=None):
        y = F.linear(x, w[base or name])
        module = name.removesuffix(".weight")
        if lora and module + ".lora_A.weight" in lora:
            y = y + scale * F.linear(F.linear(x, lora[module + ".lora_A.weight"]), lora[module + ".lora_B.weight"])
        return y

    x = F.embedding(tokens, w["model.embed_tokens.weight"])
    for layer in range(c["layers"]):
        prefix = f"model.layers.{layer}."
        project = lambda x, short: linear(x, prefix + PROJECTIONS[short] + ".weight")
        n = F.rms_norm(x, x.shape[-1:], w[prefix + "input_layernorm.weight"], eps)
        q = rotate(project(n, "q").view(-1, heads, dim), c["ropeTheta"]).transpose(0, 1)
        k = rotate(project(n, "k").view(-1, kv, dim), c["ropeTheta"]).transpose(0, 1)
        v = project(n, "v").view(-1, kv, dim).transpose(0, 1)
        o = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
        x = x + project(o.transpose(0, 1).reshape(len(tokens), heads * dim), "o")
        n = F.rms_norm(x, x.shape[-1:], w[prefix + "post_attention_layernorm.weight"], eps)
        if states is not None:
            states.append(n)
        x = x + project(F.silu(project(n, "gate")) * project(n, "up"), "down")
    x = F.rms_norm(x, x.shape[-1:], w["model.norm.weight"], eps)
    return linear(x, "lm_head.weight", "model.embed_tokens.weight" if c["tiedHead"] else "lm_head.weight")
