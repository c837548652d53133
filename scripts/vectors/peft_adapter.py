"""Has peft load adapters as src/model/openai/peft-folder.ts writes them, and records what it computes with them.

Needs Python 3.12 with `pip install torch peft transformers` (2.15, 0.21 and 5.23 when the vectors were recorded). Run from
the repository's root; the tests write the folders, and fail as long as the vectors are of other files:

    RATCHET_PEFT_FOLDER=/tmp/peft npx vitest run src/model/openai/peft-folder.test.ts
    python scripts/vectors/peft_adapter.py /tmp/peft
"""

import base64
import hashlib
import json
import pathlib
import sys

import peft
import torch
import transformers

from llama import weights

MODEL = pathlib.Path(__file__).parents[2] / "src/model"
TARGET = MODEL / "openai/vectors/peft.json"
CONFIG = json.loads((MODEL / "embedded/vectors/llama.json").read_text())["vectors"]["config"]
TOKENS = [1, 5, 9, 13, 17, 21, 25]
FILES = {"config": "adapter_config.json", "weights": "adapter_model.safetensors"}


def base_model(c):
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=c["vocabSize"], hidden_size=c["hiddenSize"], intermediate_size=c["intermediateSize"],
            num_hidden_layers=c["layers"], num_attention_heads=c["heads"], num_key_value_heads=c["kvHeads"],
            head_dim=c["headDim"], rms_norm_eps=c["rmsNormEps"], max_position_embeddings=c["maxPositions"],
            rope_parameters={"rope_type": "default", "rope_theta": float(c["ropeTheta"])},
            tie_word_embeddings=c["tiedHead"],
        )
    )  # fmt: skip
    missing, unexpected = model.load_state_dict({k: v.detach() for k, v in weights(c).items()}, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    return model.float().eval()


def recorded(folder, c):
    base = base_model(c)
    tokens = torch.tensor([TOKENS])
    with torch.no_grad():
        plain = base(tokens).logits
        adapted = peft.PeftModel.from_pretrained(base, folder).eval()
        loaded = {k: v for k, v in adapted.named_parameters() if "lora_" in k}
        assert loaded and all(v.abs().sum() > 0 for v in loaded.values()), "a pair was not loaded"
        logits = adapted(tokens).logits
    assert (logits - plain).abs().max() > 0.1, "the adapter changes nothing"
    return {
        "sha256": {name: hashlib.sha256((folder / file).read_bytes()).hexdigest() for name, file in FILES.items()},
        "logits": base64.b64encode(logits[0].contiguous().float().numpy().tobytes()).decode(),
    }


root = pathlib.Path(sys.argv[1])
cases = {
    "projections": recorded(root / "projections", CONFIG),
    "head": recorded(root / "head", {**CONFIG, "tiedHead": False}),
}
versions = {module.__name__: module.__version__ for module in (torch, peft, transformers)}
TARGET.write_text(json.dumps({**versions, "tokens": TOKENS, "cases": cases}, indent=1) + "\n")
