"""Trains UNet and text encoder.

train_diffusion.py LATENTS.pt OUT.pt MINUTES (--text TEXT.pt | --resume FROM.pt)

Plain SD training (noise prediction, uniform steps, min-SNR weights) learns coloured blobs in the
time given here. What lets it follow the text:
  * the noisy end counts: at t = 999 the picture is a fifteenth of the noise, and a wholly wrong
    background costs 0.005 of plain loss;
  * offset noise: otherwise the background leaks through the mean of the noise and the text is
    ignored;
  * the UNet starts as a copy of its input (networks.py);
  * the text encoder has a head start and keeps its read-outs as a side loss (train_text.py).
The number to watch is `noisy`: the error of the predicted picture at t >= 850. About 1 knows
nothing, 0.25 knows the background.
"""

import argparse
import time

import numpy as np
import torch

import train_text
from clip_bpe import TokenTable
from networks import TextEncoder, UNet
from sampling import ALPHAS

SNR = (ALPHAS / (1 - ALPHAS)).float()
OFFSET = 0.1


def weights(softening):
    w = 1 / (SNR + softening) + 0.5 * (5 / SNR).clamp(max=1)
    return w / w.mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("latents")
    parser.add_argument("out")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--text", help="head start of the text encoder")
    parser.add_argument(
        "--resume", help="go on from an earlier result with the settings of the late phase"
    )
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(4)
    rng = np.random.default_rng(int(time.time()))
    data = torch.load(args.latents, weights_only=False)
    latents, scenes = data["latents"], data["scenes"]
    table = TokenTable()
    unet, text, readout = UNet(), TextEncoder(len(table.ids)), train_text.ReadOut()
    unet.copy_start()
    unet = unet.to(memory_format=torch.channels_last)
    loaded = torch.load(args.resume or args.text)
    assert loaded["ids"] == table.ids.tolist(), "made with other captions"
    text.load_state_dict(loaded["text"])
    readout.load_state_dict(loaded["readout"])
    if args.resume:
        unet.load_state_dict(loaded["unet"])
    models = {"unet": unet, "text": text, "readout": readout}
    parameters = [p for m in models.values() for p in m.parameters()]
    average = [p.detach().clone() for p in parameters]
    optimizer = torch.optim.AdamW(
        parameters, lr=args.rate, betas=(0.9, 0.98), weight_decay=1e-3, fused=True
    )

    def save(path):
        live = [p.detach().clone() for p in parameters]
        for p, a in zip(parameters, average):
            p.data.copy_(a)
        torch.save(
            {**{k: m.state_dict() for k, m in models.items()}, "ids": table.ids.tolist()}, path
        )
        for p, l in zip(parameters, live):
            p.data.copy_(l)

    start, step, saved, record, noisy = time.time(), 0, 0.0, [], []
    while (done := (time.time() - start) / (60 * args.minutes)) < 1:
        # Full rate and the noisy end first (background, place); the second half decays and
        # turns to the finer levels (shape).
        late = 1.0 if args.resume else max(0.0, 2 * done - 1)
        decay = 1 - done if args.resume else min(1, 2 * (1 - done))
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 100) * max(0.02, decay)
        weight, high_share = weights(0.01 + 0.02 * late), 0.3 - 0.15 * late

        index = rng.integers(len(scenes), size=args.batch)
        said = [train_text.describe(scenes[i], rng) for i in index]
        empty = torch.from_numpy(rng.random(args.batch) < 0.1)
        rows = torch.tensor(
            [table.rows("" if e else c, rng, 0.0 if e else 0.08) for (c, _), e in zip(said, empty)]
        )
        labels = torch.tensor([l for _, l in said])
        t = torch.from_numpy(
            np.where(
                rng.random(args.batch) < high_share,
                rng.integers(700, 1000, args.batch),
                rng.integers(0, 1000, args.batch),
            )
        )
        x0 = latents[index]
        eps = torch.randn_like(x0) + OFFSET * torch.randn(args.batch, 4, 1, 1)
        alpha = ALPHAS.float()[t][:, None, None, None]
        context = text(rows)
        mixed = (alpha.sqrt() * x0 + (1 - alpha).sqrt() * eps).contiguous(
            memory_format=torch.channels_last
        )
        error = (unet(mixed, t, context) - eps).square().mean((1, 2, 3))
        side, right = readout(context[~empty], labels[~empty])
        loss = (weight[t] * error).mean() + 0.05 * side
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        step += 1
        keep = min(0.998, step / (step + 20))
        torch._foreach_lerp_(average, [p.detach() for p in parameters], 1 - keep)
        record.append(error.mean().item())
        high = (t >= 850) & ~empty
        noisy += (error[high] / SNR[t[high]]).tolist()
        if step % 100 == 0:
            print(
                f"{time.time() - start:6.0f} s  step {step}  samples {step * args.batch}  "
                f"eps {np.mean(record[-100:]):.4f}  "
                f"noisy {np.mean(noisy[-400:]):.3f}  words {right.item():.3f}",
                flush=True,
            )
        if time.time() - saved > 120:
            save(args.out + ".part")
            saved = time.time()
    save(args.out)
    print("done", step, "steps", flush=True)


if __name__ == "__main__":
    main()
