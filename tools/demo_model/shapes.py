"""The world that the demo model knows: flat pictures of coloured shapes.

A *scene* is a plain dict: {"background": colour, "objects": [(size, colour, shape)], "place": ...}.
With one object `place` is one of PLACES, with two it is one of RELATIONS.
"""

import zlib

import numpy as np

SIDE = 128
# Close to the usual web colours of these names, so that any eye (or other program) agrees.
COLOURS = {
    "red": (222, 32, 32),
    "green": (28, 152, 44),
    "blue": (32, 64, 220),
    "yellow": (248, 228, 44),
    "orange": (248, 144, 24),
    "purple": (130, 36, 154),
    "pink": (254, 166, 200),
    "black": (14, 14, 14),
    "white": (246, 246, 246),
    "grey": (128, 128, 128),
}
SHAPES = ("circle", "square", "triangle", "star", "ring", "cross", "heart", "diamond")
# Half of the larger extent in pixels. Neighbouring classes differ by a third, jitter is 4 %.
RADII = {"small": 18.0, "medium": 24.0, "large": 32.0}
GRID = (34.0, 64.0, 94.0)
PLACES = {
    "top left": (0, 0),
    "top": (1, 0),
    "top right": (2, 0),
    "left": (0, 1),
    "centre": (1, 1),
    "right": (2, 1),
    "bottom left": (0, 2),
    "bottom": (1, 2),
    "bottom right": (2, 2),
}
# Where the first and the second object stand.
RELATIONS = {"beside": ((0, 1), (2, 1)), "above": ((1, 0), (1, 2)), "below": ((1, 2), (1, 0))}


# ---------------------------------------------------------------- drawing


def inside(shape, u, v):
    """True where the point (u right, v down) belongs to the shape of radius 1.

    The larger extent of every shape is 2.
    """
    if shape == "circle":
        return u * u + v * v < 1
    if shape == "square":
        return np.maximum(abs(u), abs(v)) < 1
    if shape == "ring":
        d = u * u + v * v
        return (d < 1) & (d > 0.55**2)
    if shape == "cross":
        return (np.maximum(abs(u), abs(v)) < 1) & (np.minimum(abs(u), abs(v)) < 0.36)
    if shape == "diamond":
        return abs(u) / 0.8 + abs(v) < 1
    if shape == "triangle":
        # Halfway between centring the outline box and centring the mass.
        return (v < 0.73) & (abs(u) < (v + 1) / 1.73)
    if shape == "heart":
        x, y = 1.139 * u, -1.139 * v + 0.118
        return (x * x + y * y - 1) ** 3 < x * x * y**3
    if shape == "star":
        # Fold the plane into half a point of the star; compare with the edge from tip to notch.
        tip, notch, half = 1.05, 0.45, np.pi / 5
        angle = abs((np.arctan2(u, -v) + half) % (2 * half) - half)
        distance = np.sqrt(u * u + v * v)
        x, y = distance * np.cos(angle), distance * np.sin(angle)
        nx, ny = notch * np.cos(half), notch * np.sin(half)
        return ny * (x - tip) - (nx - tip) * y < 0
    raise ValueError(shape)


def coverage(shape, cx, cy, radius, samples=3):
    """Share of each pixel that the shape covers, [SIDE, SIDE]."""
    out = np.zeros((SIDE, SIDE), np.float32)
    reach = radius * 1.1 + 1
    x0, x1 = max(0, int(cx - reach)), min(SIDE, int(cx + reach) + 2)
    y0, y1 = max(0, int(cy - reach)), min(SIDE, int(cy + reach) + 2)
    step = (np.arange(samples) + 0.5) / samples
    xs = (np.arange(x0, x1)[:, None] + step).reshape(1, -1)
    ys = (np.arange(y0, y1)[:, None] + step).reshape(-1, 1)
    hit = inside(shape, (xs - cx) / radius, (ys - cy) / radius).astype(np.float32)
    out[y0:y1, x0:x1] = hit.reshape(y1 - y0, samples, x1 - x0, samples).mean((1, 3))
    return out


def spots(scene):
    """The grid cells of the objects."""
    return [PLACES[scene["place"]]] if len(scene["objects"]) == 1 else RELATIONS[scene["place"]]


def draw(scene, rng):
    """Picture of the scene as uint8 [SIDE, SIDE, 3], slightly jittered."""

    def tint(name):
        return np.array(COLOURS[name], np.float32) + rng.uniform(-4, 4, 3)

    picture = np.tile(tint(scene["background"]), (SIDE, SIDE, 1))
    for (size, colour, shape), (gx, gy) in zip(scene["objects"], spots(scene)):
        radius = RADII[size] * rng.uniform(0.96, 1.04)
        # Kept inside the picture: a cut shape would be a different shape.
        cx, cy = (
            float(np.clip(GRID[g] + rng.uniform(-2, 2), radius, SIDE - radius)) for g in (gx, gy)
        )
        mask = coverage(shape, cx, cy, radius)[:, :, None]
        picture = picture * (1 - mask) + tint(colour) * mask
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8)


# ---------------------------------------------------------------- scenes


def held_out(scene):
    """One combination in sixteen is never drawn in training."""
    key = (
        scene["background"]
        + "|"
        + "|".join(" ".join(o) for o in scene["objects"])
        + "|"
        + scene["place"]
    )
    return zlib.crc32(key.encode()) % 16 == 0


def random_scene(rng, held=False, pair=None, sizes=None):
    """A scene of the training set, or with held=True one of the others.

    pair: two objects or one (None: 25 % two); sizes: allowed sizes of a single object.
    """
    pick = lambda options: options[int(rng.integers(len(options)))]
    while True:
        two = rng.random() < 0.25 if pair is None else pair
        background, *colours = rng.choice(list(COLOURS), 3, replace=False).tolist()
        # Two large shapes would touch.
        allowed = ("small", "medium") if two else tuple(RADII)
        objects = []
        for i in range(2 if two else 1):
            size = pick(allowed) if sizes is None or two else pick(sizes)
            # Both objects may share a colour, but neither may vanish in the background.
            colour = colours[0] if two and i == 1 and rng.random() < 0.1 else colours[i]
            objects.append((size, colour, pick(SHAPES)))
        scene = {
            "background": background,
            "objects": objects,
            "place": pick(tuple(RELATIONS if two else PLACES)),
        }
        if held_out(scene) == held:
            return scene
