"""Sampling as the engine does it: noise, schedules and samplers with the usual conventions."""

import torch

from networks import LATENT_SCALE

BETAS = torch.linspace(0.00085**0.5, 0.012**0.5, 1000, dtype=torch.float64) ** 2
ALPHAS = torch.cumprod(1 - BETAS, 0)
SIGMAS = ((1 - ALPHAS) / ALPHAS).sqrt().float()


def schedule(name, steps):
    if name == "normal":
        t = torch.linspace(999, 0, steps)
        low, high = t.floor().long(), t.ceil().long()
        w = t - low
        sigmas = ((1 - w) * SIGMAS.log()[low] + w * SIGMAS.log()[high]).exp()
    elif name == "karras":
        a, b = SIGMAS[-1] ** (1 / 7), SIGMAS[0] ** (1 / 7)
        sigmas = (a + torch.linspace(0, 1, steps) * (b - a)) ** 7
    else:
        raise ValueError(name)
    return torch.cat([sigmas, sigmas.new_zeros(1)])


@torch.no_grad()
def sample(
    unet, positive, negative, seeds, sampler="euler", scheduler="normal", steps=12, cfg=3.0, side=16
):
    """Latents (unscaled, as the VAE takes them), one per seed and row of `positive`.

    negative: a single context.
    """
    noise = torch.cat(
        [torch.randn(1, 4, side, side, generator=torch.Generator().manual_seed(s)) for s in seeds]
    )
    sigmas = schedule(scheduler, steps)
    x = noise * (1 + sigmas[0] ** 2).sqrt()
    context = torch.cat([negative.expand(len(seeds), -1, -1), positive])
    old = None
    for i in range(steps):
        sigma, following = sigmas[i], sigmas[i + 1]
        t = (SIGMAS.log() - sigma.log()).abs().argmin().expand(2 * len(seeds))
        eps = unet((x / (sigma**2 + 1).sqrt()).repeat(2, 1, 1, 1), t, context)
        without, with_text = (x - sigma * e for e in eps.chunk(2))
        denoised = without + cfg * (with_text - without)
        if sampler == "euler":
            x = x + (x - denoised) / sigma * (following - sigma)
        elif sampler == "dpmpp_2m":
            h = sigma.log() - following.log()
            if old is None or following == 0:
                d = denoised
            else:
                r = (sigmas[i - 1].log() - sigma.log()) / h
                d = (1 + 1 / (2 * r)) * denoised - 1 / (2 * r) * old
            x = d if following == 0 else following / sigma * x - torch.expm1(-h) * d
            old = denoised
        else:
            raise ValueError(sampler)
    return x / LATENT_SCALE
