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

from peft_model import CONFIG, MODEL, TOKENS, base_model

TARGET = MODEL / "openai/vectors/peft.json"
FILES = {"config": "adapter_config.json", "weights": "adapter_model.safetensors"}


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
