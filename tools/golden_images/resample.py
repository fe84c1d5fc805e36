"""Makes tests/golden/images/resample.safetensors: sizes changed by the formulas of the original.

Needs torch, numpy and Pillow 12 (13 filters columns first where that saves work, which rounds
otherwise). bislerp is written down here from its definition (see ballast/runtime/image/bislerp.hpp),
vectorised, so that the test compares two ways of computing it.
"""

import json
import struct
import sys

import numpy as np
import torch
from PIL import Image

SIZES = [(7, 5), (24, 30), (16, 12), (9, 31), (1, 1), (40, 3)]


def centre_cut(x, width, height):
    old_w, old_h = x.shape[-1], x.shape[-2]
    old, new = old_w / old_h, width / height
    dx = round((old_w - old_w * (new / old)) / 2) if old > new else 0
    dy = round((old_h - old_h * (old / new)) / 2) if old < new else 0
    return x[..., dy : old_h - dy, dx : old_w - dx]


def between(old, new):
    resize = lambda v: torch.nn.functional.interpolate(v.reshape(1, 1, 1, -1), size=(1, new), mode="bilinear").flatten()
    first = resize(torch.arange(old, dtype=torch.float32))
    second = resize(torch.clamp(torch.arange(old, dtype=torch.float32) + 1, max=old - 1))
    return first.long(), second.long(), first - first.floor()


def slerp(a, b, r):  # [..., C], [..., C], [...]
    r = r.unsqueeze(-1)
    na, nb = a.norm(dim=-1, keepdim=True), b.norm(dim=-1, keepdim=True)
    ua, ub = torch.nan_to_num(a / na), torch.nan_to_num(b / nb)
    dot = (ua * ub).sum(-1, keepdim=True)
    angle = torch.acos(dot)
    on_sphere = (torch.sin((1 - r) * angle) * ua + torch.sin(r * angle) * ub) / torch.sin(angle)
    result = on_sphere * (na * (1 - r) + nb * r)
    result = torch.where(dot > 1 - 1e-5, a, result)
    return torch.where(dot < 1e-5 - 1, a * (1 - r) + b * r, result)


def bislerp(x, width, height):
    for axis, new in ((3, width), (2, height)):
        i, k, r = between(x.shape[axis], new)
        y = x.movedim(axis, 1).movedim(2, -1)  # [N, L, other, C]
        y = slerp(y[:, i], y[:, k], r.reshape(1, -1, 1))
        x = y.movedim(-1, 2).movedim(1, axis)
    return x


def lanczos(x, width, height):
    pictures = []
    for p in x:
        p = Image.fromarray(np.clip(255.0 * p.movedim(0, -1).numpy(), 0, 255).astype(np.uint8))
        p = p.resize((width, height), resample=Image.Resampling.LANCZOS)
        pictures.append(torch.from_numpy(np.array(p).astype(np.float32) / 255.0).movedim(-1, 0))
    return torch.stack(pictures)


def main(path):
    generator = torch.Generator().manual_seed(11)
    latent = torch.randn(2, 4, 12, 16, generator=generator)
    latent[0, :, 2, 3] = 0  # a vector without direction
    latent[0, :, 5, 6] = latent[0, :, 5, 7] * 2  # equal and opposite directions
    latent[1, :, 5, 6] = -latent[1, :, 5, 7]
    picture = torch.rand(2, 3, 12, 16, generator=generator)
    tensors = {"latent": latent, "picture": picture}
    for width, height in SIZES:
        for name, source in (("latent", latent), ("picture", picture)):
            for crop in ("disabled", "center"):
                x = centre_cut(source, width, height) if crop == "center" else source
                if 0 in x.shape:
                    continue
                for method in ("nearest-exact", "bilinear", "area", "bicubic"):
                    tensors[f"{name}.{method}.{crop}.{width}x{height}"] = torch.nn.functional.interpolate(x, size=(height, width), mode=method)
                if name == "latent":
                    tensors[f"{name}.bislerp.{crop}.{width}x{height}"] = bislerp(x, width, height)
                else:
                    tensors[f"{name}.lanczos.{crop}.{width}x{height}"] = lanczos(x, width, height)
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


main(sys.argv[1])
