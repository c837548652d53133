"""Records a soft prompt that peft saves, and what it computes with it, for src/model/openai/peft-prompt.test.ts.

Needs what peft_adapter.py needs. Run from the repository's root:

    python scripts/vectors/peft_prompt.py

With a folder as its argument it loads the soft prompt there, as `peftSoftPrompt` wrote it, and prints how far its logits
are from the recorded ones.
"""

import base64
import json
import pathlib
import sys
import tempfile

import peft
import torch
import transformers
from llama import numbers
from peft_model import CONFIG, MODEL, TOKENS, base_model

TARGET = MODEL / "openai/vectors/peft-prompt.json"
VIRTUAL = 5


def text(data):
    return base64.b64encode(data).decode()


def logits(model):
    with torch.no_grad():
        return model(torch.tensor([TOKENS])).logits[0, VIRTUAL:].contiguous().float()


if len(sys.argv) > 1:
    model = peft.PeftModel.from_pretrained(base_model(CONFIG), sys.argv[1]).eval()
    recorded = torch.frombuffer(bytearray(base64.b64decode(json.loads(TARGET.read_text())["logits"])), dtype=torch.float32)
    print("largest difference", (logits(model).flatten() - recorded).abs().max().item())
    sys.exit()

tuning = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=VIRTUAL)
model = peft.get_peft_model(base_model(CONFIG), tuning).eval()
embedding = model.prompt_encoder["default"].embedding
embedding.weight.data = numbers(7000, VIRTUAL, CONFIG["hiddenSize"], scale=0.4)
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    files = pathlib.Path(folder)
    saved = {
        "config": (files / "adapter_config.json").read_text(),
        "weights": text((files / "adapter_model.safetensors").read_bytes()),
        "logits": text(logits(model).numpy().tobytes()),
    }
versions = {module.__name__: module.__version__ for module in (torch, peft, transformers)}
TARGET.write_text(json.dumps({**versions, "tokens": TOKENS, **saved}, indent=1) + "\n")
