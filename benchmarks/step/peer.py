"""The Stable Diffusion 1.x network in plain PyTorch: the peer that Ballast's step is timed against.

Weights are converted to fp32 once and stay resident, attention is torch's fused operator, and
everything runs in inference mode. Written as one would write it for clarity and speed in PyTorch:
no copies that are not needed, channels in the default layout.

Speaks to compare.py over stdin and stdout: for each line `step` it runs the network once on a
fixed batch and answers with the seconds it took; `peak` answers with its peak resident memory.
"""

import argparse
import json
import math
import resource
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
PREFIX = "model.diffusion_model."


def read_safetensors(path):
    """All tensors below PREFIX as fp32, read one at a time: mapped pages of the file would count as
    the peer's memory, and so would a second copy."""
    weights = {}
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        for name, entry in header.items():
            if not name.startswith(PREFIX):
                continue
            begin, end = entry["data_offsets"]
            raw = torch.empty(end - begin, dtype=torch.uint8)
            file.seek(8 + length + begin)
            file.readinto(raw.numpy())
            typed = raw.view(TYPES[entry["dtype"]])
            weights[name[len(PREFIX) :]] = typed.to(torch.float32).reshape(entry["shape"])
    return weights


def timestep_embedding(timesteps, width):
    half = width // 2
    frequencies = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
    angles = timesteps[:, None].float() * frequencies[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, inside, outside, embedding):
        super().__init__()
        self.in_layers = nn.Sequential(
            nn.GroupNorm(32, inside), nn.SiLU(), nn.Conv2d(inside, outside, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(embedding, outside))
        self.out_layers = nn.Sequential(
            nn.GroupNorm(32, outside), nn.SiLU(), nn.Identity(),
            nn.Conv2d(outside, outside, 3, padding=1))
        self.skip_connection = (
            nn.Identity() if inside == outside else nn.Conv2d(inside, outside, 1))

    def forward(self, x, embedding):
        h = self.in_layers(x) + self.emb_layers(embedding)[:, :, None, None]
        return self.skip_connection(x) + self.out_layers(h)


class Attention(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(context, width, bias=False)
        self.to_v = nn.Linear(context, width, bias=False)
        self.to_out = nn.Sequential(nn.Linear(width, width))

    def forward(self, x, context):
        def split(t):
            return t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)

        out = F.scaled_dot_product_attention(
            split(self.to_q(x)), split(self.to_k(context)), split(self.to_v(context)))
        return self.to_out(out.transpose(1, 2).reshape(x.shape))


class GatedGelu(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.proj = nn.Linear(width, 2 * inner)

    def forward(self, x):
        value, gate = self.proj(x).chunk(2, dim=-1)
        return value * F.gelu(gate)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            GatedGelu(width, 4 * width), nn.Identity(), nn.Linear(4 * width, width))

    def forward(self, x):
        return self.net(x)


class TransformerBlock(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn1 = Attention(width, width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.attn2 = Attention(width, context, heads)
        self.norm3 = nn.LayerNorm(width)
        self.ff = FeedForward(width)

    def forward(self, x, context):
        normed = self.norm1(x)
        x = x + self.attn1(normed, normed)
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.norm = nn.GroupNorm(32, width, eps=1e-6)
        self.proj_in = nn.Conv2d(width, width, 1)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(width, context, heads)])
        self.proj_out = nn.Conv2d(width, width, 1)

    def forward(self, x, context):
        batch, width, height, columns = x.shape
        h = self.proj_in(self.norm(x)).flatten(2).transpose(1, 2)
        for block in self.transformer_blocks:
            h = block(h, context)
        h = h.transpose(1, 2).reshape(batch, width, height, columns)
        return x + self.proj_out(h)


class Downsample(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.op = nn.Conv2d(width, width, 3, stride=2, padding=1)

    def forward(self, x):
        return self.op(x)


class Upsample(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2, mode="nearest"))


class Stage(nn.ModuleList):
    def forward(self, x, embedding, context):
        for layer in self:
            if isinstance(layer, ResBlock):
                x = layer(x, embedding)
            elif isinstance(layer, SpatialTransformer):
                x = layer(x, context)
            else:
                x = layer(x)
        return x


class UNet(nn.Module):
    """The network of Stable Diffusion 1.x at its published sizes."""

    def __init__(self, base=320, multipliers=(1, 2, 4, 4), blocks=2, context=768, heads=8):
        super().__init__()
        embedding = 4 * base
        self.base = base
        self.time_embed = nn.Sequential(
            nn.Linear(base, embedding), nn.SiLU(), nn.Linear(embedding, embedding))
        self.input_blocks = nn.ModuleList([Stage([nn.Conv2d(4, base, 3, padding=1)])])
        widths = [base]
        width = base
        last = len(multipliers) - 1
        for level, multiplier in enumerate(multipliers):
            for _ in range(blocks):
                layers = [ResBlock(width, base * multiplier, embedding)]
                width = base * multiplier
                if level != last:
                    layers.append(SpatialTransformer(width, context, heads))
                self.input_blocks.append(Stage(layers))
                widths.append(width)
            if level != last:
                self.input_blocks.append(Stage([Downsample(width)]))
                widths.append(width)
        self.middle_block = Stage([
            ResBlock(width, width, embedding), SpatialTransformer(width, context, heads),
            ResBlock(width, width, embedding)])
        self.output_blocks = nn.ModuleList()
        for level, multiplier in reversed(list(enumerate(multipliers))):
            for index in range(blocks + 1):
                layers = [ResBlock(width + widths.pop(), base * multiplier, embedding)]
                width = base * multiplier
                if level != last:
                    layers.append(SpatialTransformer(width, context, heads))
                if level != 0 and index == blocks:
                    layers.append(Upsample(width))
                self.output_blocks.append(Stage(layers))
        self.out = nn.Sequential(
            nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, 4, 3, padding=1))

    def forward(self, x, timesteps, context):
        embedding = self.time_embed(timestep_embedding(timesteps, self.base))
        skips = []
        for stage in self.input_blocks:
            x = stage(x, embedding, context)
            skips.append(x)
        x = self.middle_block(x, embedding, context)
        for stage in self.output_blocks:
            x = stage(torch.cat([x, skips.pop()], dim=1), embedding, context)
        return self.out(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="checkpoint in the SD 1.5 layout")
    parser.add_argument("--size", type=int, default=512, help="picture side in pixels")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    with torch.device("meta"):
        network = UNet()
    network.load_state_dict(read_safetensors(arguments.file), assign=True)
    network.eval().requires_grad_(False)

    side = arguments.size // 8
    # the same closed-form inputs as the C++ side, so that the outputs can be compared
    count = 2 * 4 * side * side
    x = torch.sin(torch.arange(count, dtype=torch.float32) * 0.37).reshape(2, 4, side, side)
    context = torch.cos(torch.arange(2 * 77 * 768, dtype=torch.float32) * 0.11).reshape(2, 77, 768)
    timesteps = torch.full((2,), 500.0)

    print("ready", flush=True)
    for line in sys.stdin:
        command = line.strip()
        if command == "step":
            with torch.inference_mode():
                begin = time.perf_counter()
                out = network(x, timesteps, context)
                print(time.perf_counter() - begin, flush=True)
        elif command == "sum":
            print(f"{out.double().sum().item():.9g} {out.double().abs().max().item():.9g}",
                  flush=True)
        elif command == "peak":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
        else:
            break


if __name__ == "__main__":
    main()
