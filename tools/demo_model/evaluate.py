"""Scores pictures by their pixels alone.

  evaluate.py --truth               freshly drawn pictures: tests the classifier itself
  evaluate.py --autoencoder VAE.pt  the same, encoded and decoded: the best that sampling can reach
  evaluate.py --checkpoint FILE     the Python networks
  evaluate.py --program PATH        the engine's program (with --workflow and --models)

Scenes are held out: training never drew these combinations.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import torch

import files
import captions
import shapes
from shapes import COLOURS, GRID, PLACES, RADII, SHAPES, SIDE

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = list(COLOURS)
PALETTE = np.array([COLOURS[n] for n in NAMES], np.float32)


# ---------------------------------------------------------------- classifier


def colour_name(value):
    return NAMES[int(((PALETTE - value) ** 2).sum(1).argmin())]


def largest_piece(mask):
    """The largest connected part of the mask."""
    rest, best = mask.copy(), np.zeros_like(mask)
    while rest.sum() > best.sum():
        piece = np.zeros_like(mask)
        piece[tuple(np.argwhere(rest)[0])] = True
        while True:
            grown = piece.copy()
            grown[1:] |= piece[:-1]
            grown[:-1] |= piece[1:]
            grown[:, 1:] |= grown[:, :-1]
            grown[:, :-1] |= grown[:, 1:]
            grown &= rest
            if (grown == piece).all():
                break
            piece = grown
        rest &= ~piece
        if piece.sum() > best.sum():
            best = piece
    return best


def fit_shape(mask):
    """Name and radius of the template that overlaps best with the mask."""
    ys, xs = np.nonzero(mask)
    top, bottom, left, right = ys.min(), ys.max() + 1, xs.min(), xs.max() + 1
    extent = max(bottom - top, right - left) / 2
    cx, cy = (left + right) / 2, (top + bottom) / 2
    pad = 4
    y0, y1, x0, x1 = max(0, top - pad), bottom + pad, max(0, left - pad), right + pad
    window = mask[y0:y1, x0:x1]
    v, u = np.mgrid[y0 : y0 + window.shape[0], x0 : x0 + window.shape[1]] + 0.5
    best = (-1, None, extent)
    # Middle of the outline box in units of the radius, where it is not the shape's own origin.
    middle = {"triangle": -0.135, "star": (0.85 - 1.05) / 2}
    for shape in SHAPES:
        for scale in (0.9, 0.94, 0.98, 1.02, 1.06):
            radius = extent * scale
            oy = cy - middle.get(shape, 0.0) * radius
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    hit = shapes.inside(shape, (u - cx - dx) / radius, (v - oy - dy) / radius)
                    overlap = (hit & window).sum() / (hit | window).sum()
                    best = max(best, (overlap, shape, radius))
    return best


def find_object(distance, picture):
    """The object in an area: (size, colour, shape, centre, overlap with its template) or None.

    distance: of each pixel from the background colour.
    """
    full = np.percentile(distance, 99)
    if full < 25:
        return None
    mask = largest_piece(distance > full / 2)
    if mask.sum() < 60:
        return None
    clear = mask & (distance > 0.8 * full)  # without the blurred rim
    colour = colour_name(np.median(picture[clear if clear.any() else mask], 0))
    overlap, shape, radius = fit_shape(mask)
    size = min(RADII, key=lambda s: abs(np.log(RADII[s] / radius)))
    ys, xs = np.nonzero(mask)
    return size, colour, shape, (xs.mean() + 0.5, ys.mean() + 0.5), overlap


def analyse(picture, relation=None):
    """-> (background, objects in the order of the relation). No relation: one object."""
    picture = picture.astype(np.float32)
    edge = np.ones((SIDE, SIDE), bool)
    edge[3:-3, 3:-3] = False
    ground = np.median(picture[edge], 0)
    distance = np.sqrt(((picture - ground) ** 2).sum(2))
    if relation is None:
        return colour_name(ground), [find_object(distance, picture)]
    found = []
    for gx, gy in shapes.RELATIONS[relation]:
        area = np.zeros_like(distance)
        half = SIDE // 2
        where = (
            (slice(None), slice(0, half) if gx == 0 else slice(half, None))
            if gx != 1
            else (slice(0, half) if gy == 0 else slice(half, None), slice(None))
        )
        # Percentiles over one half only, as if it were a picture of its own.
        part = find_object(distance[where], picture[where])
        if part is not None:
            x, y = part[3]
            part = (
                *part[:3],
                (x + (half if gx == 2 else 0), y + (half if gy == 2 and gx == 1 else 0)),
                part[4],
            )
        found.append(part)
    return colour_name(ground), found


def judge(picture, scene):
    """Attribute -> right or wrong."""
    two = len(scene["objects"]) == 2
    ground, found = analyse(picture, scene["place"] if two else None)
    right = {
        "background": ground == scene["background"],
        "colour": True,
        "place": True,
        "size": True,
        "shape": True,
    }
    for (size, colour, shape), (gx, gy), seen in zip(scene["objects"], shapes.spots(scene), found):
        cell = (
            None
            if seen is None
            else tuple(int(np.abs(np.array(GRID) - c).argmin()) for c in seen[3])
        )
        for name, ok in (
            ("colour", seen and seen[1] == colour),
            ("place", cell == (gx, gy)),
            ("size", seen and seen[0] == size),
            ("shape", seen and seen[2] == shape),
        ):
            right[name] = right[name] and bool(ok)
    right["all"] = all(right.values())
    return right, ground, found


# ---------------------------------------------------------------- sources of pictures


def from_truth(scenes, rng, vae_path=None):
    pictures = np.stack([shapes.draw(s, rng) for s in scenes])
    if vae_path is None:
        return pictures
    from networks import Autoencoder

    vae = Autoencoder().eval()
    vae.load_state_dict(torch.load(vae_path))
    with torch.no_grad():
        return np.concatenate(
            [
                to_pixels(
                    vae.decode(
                        vae.moments(torch.from_numpy(p).permute(0, 3, 1, 2).float() / 127.5 - 1)[0]
                    )
                )
                for p in np.array_split(pictures, max(1, len(pictures) // 8))
            ]
        )


def to_pixels(out):
    return ((out.clamp(-1, 1) + 1) * 127.5 + 0.5).permute(0, 2, 3, 1).to(torch.uint8).numpy()


def from_networks(args, prompts, seeds):
    import export
    from sampling import sample

    vae, unet, text, table = export.load(args.checkpoint)
    out = []
    with torch.no_grad():
        negative = text(torch.tensor([table.rows("")]))
        for i in range(0, len(prompts), 16):
            positive = text(torch.tensor([table.rows(p) for p in prompts[i : i + 16]]))
            z = sample(
                unet,
                positive,
                negative,
                seeds[i : i + 16],
                args.sampler,
                args.scheduler,
                args.steps,
                args.cfg,
            )
            out.append(to_pixels(vae.decode(z)))
    return np.concatenate(out)


def from_program(args, prompts, seeds):
    """One call of the program per prompt; the picture is the PNG file in its output folder."""
    out = []
    for prompt, seed in zip(prompts, seeds):
        with tempfile.TemporaryDirectory() as folder:
            settings = {
                "6.text": prompt,
                "3.seed": seed,
                "3.sampler_name": args.sampler,
                "3.scheduler": args.scheduler,
                "3.steps": args.steps,
                "3.cfg": args.cfg,
            }
            command = [
                args.program,
                "run",
                args.workflow,
                "--models",
                args.models,
                "--output",
                folder,
                "--json",
            ]
            for name, value in settings.items():
                command += ["--set", f"{name}={value}"]
            done = subprocess.run(command, capture_output=True, text=True)
            pictures = sorted(pathlib.Path(folder).rglob("*.png"))
            if done.returncode or not pictures:
                raise SystemExit(
                    f"{' '.join(command)}\nended with {done.returncode}, {len(pictures)} pictures\n"
                    f"{done.stdout}{done.stderr}"
                )
            out.append(files.read_png(pictures[-1]))
    return np.stack(out)


# ---------------------------------------------------------------- report


def contact_sheet(path, pictures, marks, columns=8):
    """All pictures, those with a mistake framed in red."""
    cell, rows = SIDE + 8, -(-len(pictures) // columns)
    sheet = np.full((rows * cell, columns * cell, 3), 200, np.uint8)
    for i, (picture, right) in enumerate(zip(pictures, marks)):
        y, x = i // columns * cell, i % columns * cell
        sheet[y + 1 : y + cell - 1, x + 1 : x + cell - 1] = (
            (90, 170, 90) if right else (230, 40, 40)
        )
        sheet[y + 4 : y + 4 + SIDE, x + 4 : x + 4 + SIDE] = picture
    files.write_png(path, sheet)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--truth", action="store_true")
    source.add_argument("--autoencoder")
    source.add_argument("--checkpoint")
    source.add_argument("--program")
    parser.add_argument("--workflow", default=str(ROOT / "data/demo/workflow.json"))
    parser.add_argument("--models", default=str(ROOT / "data/demo/models"))
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument(
        "--pairs", type=int, help="how many of them show two objects (default: a fifth)"
    )
    parser.add_argument("--sampler", default="euler")
    parser.add_argument("--scheduler", default="normal")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--cfg", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument(
        "--varied", action="store_true", help="captions as in training instead of short, usual ones"
    )
    parser.add_argument("--sheet", help="PNG file for a contact sheet")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--mistakes", action="store_true", help="list what went wrong")
    args = parser.parse_args()
    torch.set_num_threads(1)

    rng = np.random.default_rng(args.seed)
    pairs = args.count // 5 if args.pairs is None else args.pairs
    scenes = [
        shapes.random_scene(rng, held=True, pair=i >= args.count - pairs) for i in range(args.count)
    ]
    prompts = [captions.caption(s, rng, plain=not args.varied) for s in scenes]
    seeds = [args.seed + i for i in range(args.count)]
    if args.program:
        pictures = from_program(args, prompts, seeds)
    elif args.checkpoint:
        pictures = from_networks(args, prompts, seeds)
    else:
        pictures = from_truth(scenes, rng, args.autoencoder)
    results = [judge(p, s) for p, s in zip(pictures, scenes)]

    attributes = ("background", "colour", "place", "size", "shape", "all")
    groups = {"one object": [i for i in range(args.count) if len(scenes[i]["objects"]) == 1]}
    groups |= {
        f"  {size}": [i for i in groups["one object"] if scenes[i]["objects"][0][0] == size]
        for size in RADII
    }
    groups["two objects"] = [i for i in range(args.count) if len(scenes[i]["objects"]) == 2]
    numbers = {
        name.strip(): {
            "count": len(g),
            **{
                a: round(100 * float(np.mean([results[i][0][a] for i in g])), 1) for a in attributes
            },
        }
        for name, g in groups.items()
        if g
    }
    if args.sheet:
        contact_sheet(args.sheet, pictures, [r[0]["all"] for r in results])
    if args.json:
        print(json.dumps(numbers))
        return
    print(f"{'':14}{'count':>7}" + "".join(f"{a:>12}" for a in attributes))
    for name in groups:
        if name.strip() in numbers:
            n = numbers[name.strip()]
            print(f"{name:14}{n['count']:7}" + "".join(f"{n[a]:12.1f}" for a in attributes))
    if args.mistakes:
        for i, (right, ground, found) in enumerate(results):
            if not right["all"]:
                wrong = [a for a in attributes[:-1] if not right[a]]
                seen = [" ".join(f[:3]) if f else "nothing" for f in found]
                print(f"{i:4} {prompts[i]!r}: {', '.join(wrong)} (seen: {seen} on {ground})")


if __name__ == "__main__":
    main()
