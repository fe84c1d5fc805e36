"""A head start for the text encoder: train_text.py OUT.pt MINUTES

It learns to name everything a caption says, read linearly from the mean over all 77 positions.
Cross-attention starts out nearly uniform over the positions, so this mean is exactly what the UNet
sees first. The read-outs stay a side loss of the diffusion training.
"""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import captions
import shapes
from clip_bpe import TokenTable
from networks import CLIP, TextEncoder

COLOURS, SHAPES, SIZES = list(shapes.COLOURS), list(shapes.SHAPES), list(shapes.RADII)
PLACES = [*shapes.PLACES, *shapes.RELATIONS]
# One more class than names: "not said" or "no second object".
CLASSES = (len(COLOURS) + 1, len(PLACES) + 1) + (
    len(SIZES) + 1,
    len(COLOURS) + 1,
    len(SHAPES) + 1,
) * 2


def describe(scene, rng):
    """A caption and what it says, as one class number per read-out."""
    say_place, say_background = rng.random() < 0.92, rng.random() < 0.94
    two = len(scene["objects"]) == 2
    labels = [
        COLOURS.index(scene["background"]) if say_background else len(COLOURS),
        PLACES.index(scene["place"]) if say_place or two else len(PLACES),
    ]
    for i in range(2):
        if i < len(scene["objects"]):
            size, colour, shape = scene["objects"][i]
            labels += [SIZES.index(size), COLOURS.index(colour), SHAPES.index(shape)]
        else:
            labels += [len(SIZES), len(COLOURS), len(SHAPES)]
    return captions.caption(scene, rng, say_place, say_background, plain=rng.random() < 0.3), labels


class ReadOut(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(CLIP["hidden_size"], sum(CLASSES))

    def forward(self, context, labels):
        """Mean loss over the read-outs, and the share of right answers."""
        scores = self.linear(context.mean(1)).split(CLASSES, 1)
        right = (
            torch.stack([s.argmax(1) == labels[:, i] for i, s in enumerate(scores)]).float().mean()
        )
        return (
            sum(F.cross_entropy(s, labels[:, i]) for i, s in enumerate(scores)) / len(scores),
            right,
        )


def main():
    out, minutes = sys.argv[1], float(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(2)
    rng, table = np.random.default_rng(2), TokenTable()
    text, readout = TextEncoder(len(table.ids)), ReadOut()
    parameters = [*text.parameters(), *readout.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=2e-3, betas=(0.9, 0.98), weight_decay=1e-3)
    start, step = time.time(), 0
    while (done := (time.time() - start) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 50) * (1 - 0.8 * done)
        said = [describe(shapes.random_scene(rng), rng) for _ in range(48)]
        rows = torch.tensor([table.rows(c, rng, 0.08) for c, _ in said])
        loss, right = readout(text(rows), torch.tensor([l for _, l in said]))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        step += 1
        if step % 100 == 0:
            print(
                f"{time.time() - start:5.0f} s  step {step}  loss {loss.item():.4f}  "
                f"right {right.item():.3f}",
                flush=True,
            )
    torch.save(
        {"text": text.state_dict(), "readout": readout.state_dict(), "ids": table.ids.tolist()}, out
    )


if __name__ == "__main__":
    main()
