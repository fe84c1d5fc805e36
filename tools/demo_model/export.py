"""Writes the checkpoint, and reads it back for sampling in Python.

export.py VAE.pt DIFFUSION.pt OUT.safetensors
"""

import json
import sys

import numpy as np
import torch

import files
from clip_bpe import LENGTH, TokenTable
from networks import CLIP, NORM_GROUPS, UNET, VAE, Autoencoder, TextEncoder, UNet

UNET_PREFIX, VAE_PREFIX, TEXT_PREFIX = (
    "model.diffusion_model.",
    "first_stage_model.",
    "cond_stage_model.transformer.text_model.",
)


def config():
    """What tensor shapes cannot tell, in the words of the engine.

    transformer_depth_output runs from the last output block to the first.
    """
    levels, blocks = len(UNET["channel_mult"]), UNET["num_res_blocks"]
    depth = [int(i in UNET["transformer_levels"]) for i in range(levels)]
    return {
        "family": "sd15",
        "storage": "fp16",
        "norm_groups": NORM_GROUPS,
        "unet": {
            "model_channels": UNET["model_channels"],
            "channel_mult": list(UNET["channel_mult"]),
            "num_res_blocks": [blocks] * levels,
            "transformer_depth": [d for d in depth for _ in range(blocks)],
            "transformer_depth_output": [d for d in depth for _ in range(blocks + 1)],
            "transformer_depth_middle": 1,
            "context_dim": UNET["context_dim"],
            "num_heads": UNET["num_heads"],
        },
        "clip_l": CLIP,
        "vae": {**VAE, "ch_mult": list(VAE["ch_mult"]), "embed_dim": VAE["z_channels"]},
    }


def save(path, vae, unet, text, ids):
    tensors = {
        prefix + name: value.numpy().astype(np.float16)
        for prefix, state in ((VAE_PREFIX, vae), (UNET_PREFIX, unet), (TEXT_PREFIX, text))
        for name, value in state.items()
    }
    assert all(np.isfinite(t).all() for t in tensors.values())
    tensors[TEXT_PREFIX + "embeddings.token_ids"] = np.array(ids, np.int32)
    tensors[TEXT_PREFIX + "embeddings.position_ids"] = np.arange(LENGTH, dtype=np.int64)[None]
    files.write_safetensors(
        path,
        tensors,
        {
            "ballast.config": json.dumps(config()),
            "modelspec.title": "Ballast demo: coloured shapes",
            "modelspec.description": "Draws coloured shapes, as the prompt says",
            "modelspec.resolution": "128x128",
            "modelspec.license": "CC0-1.0",
        },
    )


def load(path):
    """-> (vae, unet, text, token table), in fp32"""
    tensors, _ = files.read_safetensors(path)
    part = lambda prefix: {
        n[len(prefix) :]: torch.from_numpy(t.astype(np.float32))
        for n, t in tensors.items()
        if n.startswith(prefix) and not n.endswith(("token_ids", "position_ids"))
    }
    table = TokenTable(tensors[TEXT_PREFIX + "embeddings.token_ids"])
    vae, unet, text = Autoencoder().eval(), UNet().eval(), TextEncoder(len(table.ids)).eval()
    for model, prefix in ((vae, VAE_PREFIX), (unet, UNET_PREFIX), (text, TEXT_PREFIX)):
        model.load_state_dict(part(prefix))
    return vae, unet, text, table


if __name__ == "__main__":
    source = torch.load(sys.argv[2])
    save(sys.argv[3], torch.load(sys.argv[1]), source["unet"], source["text"], source["ids"])
