"""The model that the vectors of peft are recorded with: transformers' Llama with the weights of llama.py."""

import json
import pathlib

import transformers

from llama import weights

MODEL = pathlib.Path(__file__).parents[2] / "src/model"
CONFIG = json.loads((MODEL / "embedded/vectors/llama.json").read_text())["vectors"]["config"]
TOKENS = [1, 5, 9, 13, 17, 21, 25]


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
