"""Trains the autoencoder: train_vae.py OUT.pt MINUTES [--decoder FROM.pt]

First crops (cheap steps), then whole pictures, since GroupNorm sees whole pictures in use. With
--decoder the encoder stays as it is and only the decoder goes on learning, so that latents encoded
before stay valid.
"""

import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F

import shapes
from networks import LATENT_SCALE, Autoencoder

NOISE = 0.08  # noise on the latents (their size is about 1), in place of a KL term
# Share of the time, crop, batch.
PHASES = ((0.18, 32, 12), (0.30, 64, 8), (0.52, 128, 4))


def batch(rng, crop, count):
    out = []
    for _ in range(count):
        # Small and paired shapes more often than in use: they are what an autoencoder loses first.
        scene = shapes.random_scene(
            rng, pair=rng.random() < 0.4, sizes=("small", "small", "medium", "large")
        )
        picture = shapes.draw(scene, rng)
        if crop < shapes.SIDE:
            corners = rng.integers(0, (shapes.SIDE - crop) // 8 + 1, (4, 2)) * 8
            pieces = [picture[y : y + crop, x : x + crop] for y, x in corners]
            picture = max(
                pieces, key=lambda p: p[::2, ::2].std((0, 1)).sum()
            )  # flat crops teach little
        out.append(picture)
    return torch.from_numpy(np.stack(out)).permute(0, 3, 1, 2).float() / 127.5 - 1


def picture_loss(out, target):
    error = out - target
    slope = (out.diff(dim=2) - target.diff(dim=2)).abs().mean() + (
        out.diff(dim=3) - target.diff(dim=3)
    ).abs().mean()
    return error.abs().mean() + 2 * error.square().mean() + 0.5 * slope


def fold(vae):
    """Give each latent channel mean 0 and size 1/0.18215, by rescaling both 1x1 convolutions."""
    rng = np.random.default_rng(5)
    with torch.no_grad():
        z = torch.cat([vae.moments(batch(rng, shapes.SIDE, 8))[0] for _ in range(48)])
        mean, gain = z.mean((0, 2, 3)), 1 / (LATENT_SCALE * z.std((0, 2, 3)))
        q, p = vae.quant_conv, vae.post_quant_conv
        q.weight[:4] *= gain[:, None, None, None]
        q.bias[:4] = (q.bias[:4] - mean) * gain
        p.bias += p.weight[:, :, 0, 0] @ mean
        p.weight /= gain[None, :, None, None]
    print("folded: mean", mean.tolist(), "gain", gain.tolist(), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--decoder")
    parser.add_argument("--rate", type=float, default=1e-3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # tiny values slow the processor down several times
    torch.manual_seed(1)
    rng = np.random.default_rng(int(time.time()) if args.decoder else 1)
    vae = Autoencoder()
    if args.decoder:
        vae.load_state_dict(torch.load(args.decoder))
    else:
        vae.near_identity()
    vae = vae.to(memory_format=torch.channels_last)
    learn = [
        p
        for n, p in vae.named_parameters()
        if not args.decoder or n.startswith(("decoder", "post_quant_conv"))
    ]
    optimizer = torch.optim.AdamW(learn, lr=args.rate, betas=(0.9, 0.98), weight_decay=1e-4)
    start, step, saved, record = time.time(), 0, 0.0, []
    while (done := (time.time() - start) / (60 * args.minutes)) < 1:
        edge = 0
        for share, crop, count in PHASES if not args.decoder else ((1, 128, 4),):
            edge += share
            if done < edge:
                break
        # Short warm-up, full rate for half of the time, then down to nothing.
        rate = (
            args.rate
            * min(1, (step + 1) / 50)
            * min(1, 1.02 - done if done > 0.98 else 2 * (1 - done) + 0.02)
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        picture = batch(rng, crop, count).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            if args.decoder:
                with torch.no_grad():
                    mean = vae.moments(picture)[0].float()
                z = mean + torch.randn_like(mean) * NOISE / LATENT_SCALE
                extra = 0
            else:
                mean, log_variance = vae.moments(picture)
                mean, log_variance = mean.float(), log_variance.float()
                z = mean + torch.randn_like(mean) * NOISE
                # The first three channels start out as the mean colour of the cell: a smooth space,
                # easy to denoise.
                extra = (
                    0.1
                    * (mean[:, :3] - F.avg_pool2d(picture, 8)).square().mean()
                    * max(0.1, 1 - done)
                    + 0.001 * mean.square().mean()
                    + 0.001 * (log_variance - 2 * np.log(NOISE)).square().mean()
                )
            out = vae.decode(z)
        out = out.float()
        loss = picture_loss(out, picture) + extra
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learn, 1.0)
        optimizer.step()
        step += 1
        record.append(F.mse_loss(out, picture).item() / 4)
        if step % 50 == 0:
            print(
                f"{time.time() - start:6.0f} s  step {step}  crop {crop}  rate {rate:.1e}  "
                f"loss {loss.item():.4f}  "
                f"psnr {-10 * np.log10(np.mean(record[-50:])):.2f}",
                flush=True,
            )
        if time.time() - saved > 60:
            torch.save(vae.state_dict(), args.out + ".part")
            saved = time.time()
    vae = vae.eval()
    if not args.decoder:
        fold(vae)
    torch.save(vae.state_dict(), args.out)
    print("done", step, "steps", flush=True)


if __name__ == "__main__":
    main()
