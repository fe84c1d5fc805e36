"""Draws the training pictures and stores their latents, since the encoder no longer changes.

encode_latents.py VAE.pt OUT.pt COUNT [late]

late: other pictures, with more small shapes, which are the hardest.
"""

import sys

import numpy as np
import torch

import shapes
from networks import LATENT_SCALE, Autoencoder


def main():
    source, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    vae = Autoencoder().eval().to(memory_format=torch.channels_last)
    vae.load_state_dict(torch.load(source))
    late = sys.argv[4:] == ["late"]
    rng = np.random.default_rng(6 if late else 3)
    sizes = ("small", "small", "medium", "large") if late else None
    scenes, latents = [], []
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        while len(scenes) < count:
            some = [shapes.random_scene(rng, sizes=sizes) for _ in range(16)]
            pictures = (
                torch.from_numpy(np.stack([shapes.draw(s, rng) for s in some]))
                .permute(0, 3, 1, 2)
                .float()
                / 127.5
                - 1
            )
            latents.append(
                vae.moments(pictures.contiguous(memory_format=torch.channels_last))[0].float()
                * LATENT_SCALE
            )
            scenes += some
            if len(scenes) % 1024 == 0:
                print(len(scenes), flush=True)
    latents = torch.cat(latents)
    print("size per channel", latents.std((0, 2, 3)).tolist())
    torch.save({"latents": latents, "scenes": scenes}, out)


if __name__ == "__main__":
    main()
