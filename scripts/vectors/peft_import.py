"""Records adapters that peft itself saves, and what it computes with them, for src/model/openai/peft-import.test.ts.

Needs what peft_adapter.py needs. Run from the repository's root:

    python scripts/vectors/peft_import.py
"""

import base64
import json
import pathlib
import tempfile

import peft
import torch
import transformers
from peft_model import CONFIG, MODEL, TOKENS, base_model

TARGET = MODEL / "openai/vectors/peft-import.json"


def text(data):
    return base64.b64encode(data).decode()


def recorded(c, dtype=torch.float32, embeddings=False, **options):
    torch.manual_seed(7)
    lora = peft.LoraConfig(task_type="CAUSAL_LM", **options)
    model = peft.get_peft_model(base_model(c), lora).eval()
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            # As stored, so that what is computed here is what the file holds.
            parameter.data = (torch.randn_like(parameter) * 0.3).to(dtype).float()
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        logits = model(torch.tensor([TOKENS])).logits
        with model.disable_adapter():
            assert (logits - model(torch.tensor([TOKENS])).logits).abs().max() > 0.1, "the adapter changes nothing"
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.data = parameter.data.to(dtype)
        model.save_pretrained(folder, save_embedding_layers=embeddings)
        files = pathlib.Path(folder)
        return {
            "config": (files / "adapter_config.json").read_text(),
            "weights": text((files / "adapter_model.safetensors").read_bytes()),
            "logits": text(logits[0].contiguous().float().numpy().tobytes()),
        }


untied = {**CONFIG, "tiedHead": False}
cases = {
    "two projections": recorded(CONFIG, r=3, lora_alpha=5, target_modules=["v_proj", "q_proj"], lora_dropout=0.1),
    "every linear layer": recorded(CONFIG, r=2, lora_alpha=4, target_modules="all-linear"),
    "an expression": recorded(CONFIG, r=2, lora_alpha=3, target_modules=r".*\.(k_proj|down_proj)"),
    "bfloat16": recorded(CONFIG, torch.bfloat16, r=4, lora_alpha=8, target_modules=["o_proj", "gate_proj"]),
    "float16 over the head": recorded(untied, torch.float16, r=2, lora_alpha=2, target_modules=["lm_head", "up_proj"]),
}
refused = {
    "dora": recorded(CONFIG, r=2, lora_alpha=4, target_modules=["q_proj"], use_dora=True),
    "rslora": recorded(CONFIG, r=2, lora_alpha=4, target_modules=["q_proj"], use_rslora=True),
    "rank pattern": recorded(CONFIG, r=2, lora_alpha=4, target_modules=["q_proj", "v_proj"], rank_pattern={"v_proj": 1}),
    "modules to save": recorded(CONFIG, r=2, lora_alpha=4, target_modules=["q_proj"], modules_to_save=["norm"]),
    "embeddings": recorded(untied, embeddings=True, r=2, lora_alpha=4, target_modules=["lm_head"]),
    "one block": recorded(CONFIG, r=2, lora_alpha=4, target_modules=["q_proj"], layers_to_transform=[0]),
}
for case in refused.values():
    del case["logits"]
versions = {module.__name__: module.__version__ for module in (torch, peft, transformers)}
TARGET.write_text(json.dumps({**versions, "tokens": TOKENS, "cases": cases, "refused": refused}, indent=1) + "\n")
