"""SkyRL's own Tinker server on its JAX backend, from the Python environment that runs this: `python serve-skyrl.py MODEL FOLDER PORT`.

The server is SkyRL's, unchanged, except for the command that starts its engine: it insists on `uv run`, which looks for a
project and a network. MODEL is a Hugging Face folder; FOLDER keeps the database and the checkpoints.
"""

import sys
from pathlib import Path

import uvicorn
from skyrl.tinker import api
from skyrl.tinker.config import EngineConfig, config_to_argv


def main(model: str, folder: Path, port: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    api._build_uv_run_cmd_engine = lambda _, config: [
        sys.executable,
        "-m",
        "skyrl.tinker.engine",
        *config_to_argv(config),
    ]
    api.app.state.engine_config = EngineConfig(
        base_model=model,
        backend="jax",
        backend_config={"max_lora_adapters": 64, "max_lora_rank": 8},
        checkpoints_base=str(folder / "checkpoints"),
        database_url=f"sqlite:///{folder / 'tinker.db'}",
    )
    uvicorn.run(api.app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
