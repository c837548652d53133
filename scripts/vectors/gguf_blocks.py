"""Records src/model/embedded/load/gguf/blocks/blocks.vectors.json from the package gguf (PyPI): python3 scripts/vectors/gguf_blocks.py

Each format unpacks seeded random bytes. Blocks whose random scale is no number or infinite are drawn again.
"""

import base64
import importlib.metadata
import json
import pathlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

FILE = pathlib.Path(__file__).parents[2] / "src/model/embedded/load/gguf/blocks/blocks.vectors.json"
FORMATS = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ2_XXS IQ4_NL IQ4_XS BF16".split()
ELEMENTS = 512


def pack(array):
    return base64.b64encode(array.tobytes()).decode()


def record(name, rng):
    kind = GGMLQuantizationType[name]
    per_block, size = GGML_QUANT_SIZES[kind]
    blocks = []
    with np.errstate(all="ignore"):
        while len(blocks) * per_block < ELEMENTS:
            block = rng.integers(0, 256, size, dtype=np.uint8)
            if np.isfinite(quants.dequantize(block, kind)).all():
                blocks.append(block)
    data = np.concatenate(blocks)
    values = quants.dequantize(data, kind)
    assert values.dtype == np.float32 and values.size == ELEMENTS
    return dict(type=kind.value, bytes=pack(data), values=pack(values))


rng = np.random.default_rng(20261126)
recorded = {name: record(name, rng) for name in FORMATS}
FILE.write_text(json.dumps({"gguf": importlib.metadata.version("gguf"), "formats": recorded}, indent=1) + "\n")
