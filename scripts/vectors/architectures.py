"""Records tiny models of every architecture that the embedded engine runs, as transformers and peft compute them.

Needs `pip install torch transformers peft` (2.13, 5.24 and the versions in the file when the vectors were recorded). Run from
the repository's root:

    python scripts/vectors/architectures.py

Inputs are not stored: both sides derive them (`numbers`) from a tensor's place among the sorted names. Outputs are float32,
base64: logits at every position, and the gradients of a summed cross-entropy, of all weights and of an adapter.
"""

import base64
import json
import pathlib
import tempfile

import peft
import torch
import transformers

from llama import numbers

TARGET = pathlib.Path(__file__).parents[2] / "src/model/embedded/vectors/architectures.json"
VOCABULARY, WINDOW, RANK, ALPHA = 32, 5, 2, 4
# Longer than the window; they share ten tokens.
SEQUENCES = [
    [1, 5, 9, 13, 17, 21, 25, 29, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15],
    [1, 5, 9, 13, 17, 21, 25, 29, 2, 6, 31, 4, 8, 12, 16, 20],
]
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
SIZES = dict(
    vocab_size=VOCABULARY, hidden_size=12, intermediate_size=16, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, head_dim=4, max_position_embeddings=64, pad_token_id=0,
)  # fmt: skip
LLAMA3 = dict(
    rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=16,
)  # fmt: skip
CASES = {
    "llama": transformers.LlamaConfig(**SIZES, rope_parameters=LLAMA3, attention_bias=True, mlp_bias=True),
    "mistral": transformers.MistralConfig(
        **SIZES, rope_parameters=dict(rope_type="linear", factor=2.0, rope_theta=10000.0), sliding_window=WINDOW
    ),
    "qwen2": transformers.Qwen2Config(
        **SIZES, tie_word_embeddings=True, use_sliding_window=True, sliding_window=WINDOW, max_window_layers=1
    ),
    "qwen3": transformers.Qwen3Config(**SIZES, tie_word_embeddings=True),
    "gemma3": transformers.Gemma3TextConfig(
        **SIZES, sliding_window=WINDOW, query_pre_attn_scalar=7,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
    ),
}  # fmt: skip


def pack(tensor):
    return base64.b64encode(tensor.detach().contiguous().float().numpy().tobytes()).decode()


def fill(parameters, seed, around_one=lambda name: False):
    """Every tensor from its place among the sorted names."""
    with torch.no_grad():
        for index, name in enumerate(sorted(parameters)):
            values = numbers(seed + index, *parameters[name].shape, scale=0.4)
            parameters[name].copy_(values + 1 if around_one(name) else values)


def loss_of(model):
    """Summed over the sequences, each on its own."""
    total = 0
    for sequence in SEQUENCES:
        logits = model(torch.tensor([sequence[:-1]])).logits[0]
        total = total + torch.nn.functional.cross_entropy(logits, torch.tensor(sequence[1:]), reduction="sum")
    return total


def trained(model, parameters):
    loss = loss_of(model)
    loss.backward()
    return dict(loss=loss.item(), gradients={name: pack(parameters[name].grad) for name in sorted(parameters)})


def recorded(config):
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    plus_one = config.model_type == "gemma3_text"
    weights = dict(model.named_parameters())
    fill(weights, 1000, lambda name: name.endswith("norm.weight") and not plus_one)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        saved = json.loads((pathlib.Path(folder) / "config.json").read_text())
    logits = [pack(model(torch.tensor([sequence])).logits[0]) for sequence in SEQUENCES]
    full = trained(model, weights)
    adapted = peft.get_peft_model(
        model, peft.LoraConfig(task_type="CAUSAL_LM", r=RANK, lora_alpha=ALPHA, target_modules=PROJECTIONS)
    )
    # As peft names them in the file that it saves.
    pairs = {n.replace(".default.", "."): p for n, p in adapted.named_parameters() if "lora_" in n}
    assert set(pairs) == set(peft.get_peft_model_state_dict(adapted))
    fill(pairs, 5000)
    adapted_logits = [pack(adapted(torch.tensor([sequence])).logits[0]) for sequence in SEQUENCES]
    return dict(config=saved, logits=logits, full=full, lora=dict(logits=adapted_logits, **trained(adapted, pairs)))


versions = {module.__name__: module.__version__ for module in (torch, transformers, peft)}
vectors = dict(sequences=SEQUENCES, rank=RANK, alpha=ALPHA, cases={n: recorded(c) for n, c in CASES.items()})
TARGET.write_text(json.dumps({**versions, "vectors": vectors}, indent=1) + "\n")
