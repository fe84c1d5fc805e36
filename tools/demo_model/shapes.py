"""The world the demo model knows: flat pictures of coloured shapes, and the words for them.

A *scene* is a plain dict: {"background": colour, "objects": [(size, colour, shape)], "place": place or relation}.
With one object `place` is one of PLACES, with two it is one of RELATIONS.
"""
import zlib

import numpy as np

SIDE = 128
# Names and values stay close to the usual web colours, so that any eye (or other program) agrees on the name.
COLOURS = {
    "red": (222, 32, 32), "green": (28, 152, 44), "blue": (32, 64, 220), "yellow": (248, 228, 44),
    "orange": (248, 144, 24), "purple": (130, 36, 154), "pink": (254, 166, 200), "black": (14, 14, 14),
    "white": (246, 246, 246), "grey": (128, 128, 128),
}
SHAPES = ("circle", "square", "triangle", "star", "ring", "cross", "heart", "diamond")
# Half of the larger extent in pixels. Neighbouring classes differ by a third, jitter is 4 %.
RADII = {"small": 18.0, "medium": 24.0, "large": 32.0}
GRID = (34.0, 64.0, 94.0)
PLACES = {
    "top left": (0, 0), "top": (1, 0), "top right": (2, 0),
    "left": (0, 1), "centre": (1, 1), "right": (2, 1),
    "bottom left": (0, 2), "bottom": (1, 2), "bottom right": (2, 2),
}
# Where the first and the second object stand.
RELATIONS = {"beside": ((0, 1), (2, 1)), "above": ((1, 0), (1, 2)), "below": ((1, 2), (1, 0))}


# ---------------------------------------------------------------- drawing

def inside(shape, u, v):
    """True where the point (u right, v down), in units of the radius, belongs to the shape. The larger extent of every shape is 2."""
    if shape == "circle":
        return u * u + v * v < 1
    if shape == "square":
        return np.maximum(abs(u), abs(v)) < 1
    if shape == "ring":
        d = u * u + v * v
        return (d < 1) & (d > 0.55 ** 2)
    if shape == "cross":
        return (np.maximum(abs(u), abs(v)) < 1) & (np.minimum(abs(u), abs(v)) < 0.36)
    if shape == "diamond":
        return abs(u) / 0.8 + abs(v) < 1
    if shape == "triangle":
        # Halfway between centring the outline box and centring the mass.
        return (v < 0.73) & (abs(u) < (v + 1) / 1.73)
    if shape == "heart":
        x, y = 1.139 * u, -1.139 * v + 0.118
        return (x * x + y * y - 1) ** 3 < x * x * y ** 3
    if shape == "star":
        # Fold the plane into half a point of the star, then compare with the edge from tip to notch.
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
        # Kept inside the picture: a cut shape would be a different shape, and the border must show the background.
        cx, cy = (float(np.clip(GRID[g] + rng.uniform(-2, 2), radius, SIDE - radius)) for g in (gx, gy))
        mask = coverage(shape, cx, cy, radius)[:, :, None]
        picture = picture * (1 - mask) + tint(colour) * mask
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8)


# ---------------------------------------------------------------- scenes

def held_out(scene):
    """One combination in sixteen is never drawn in training; the choice depends on the combination alone."""
    key = scene["background"] + "|" + "|".join(" ".join(o) for o in scene["objects"]) + "|" + scene["place"]
    return zlib.crc32(key.encode()) % 16 == 0


def random_scene(rng, held=False, pair=None, sizes=None):
    """A scene of the training set, or with held=True one of the others. pair: one or two objects (None: 25 % two)."""
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
        scene = {"background": background, "objects": objects, "place": pick(tuple(RELATIONS if two else PLACES))}
        if held_out(scene) == held:
            return scene


# ---------------------------------------------------------------- words

SIZE_WORDS = {"small": ("small", "small", "small", "little", "tiny"), "large": ("large", "large", "big", "big", "huge"),
              "medium": ("medium", "medium sized", "medium - sized")}
COLOUR_WORDS = {name: (name,) for name in COLOURS}
COLOUR_WORDS["grey"] = ("grey", "gray")
COLOUR_WORDS["purple"] = ("purple", "purple", "purple", "violet")
SHAPE_WORDS = {name: (name,) for name in SHAPES}
SHAPE_WORDS["circle"] = ("circle",) * 6 + ("disc", "disk", "ball")
SHAPE_WORDS["square"] = ("square",) * 6 + ("box",)
SHAPE_WORDS["cross"] = ("cross",) * 5 + ("plus", "plus sign")
SHAPE_WORDS["triangle"] = ("triangle",)
SIDES = {"left": ("left",), "right": ("right",), "top": ("top", "top", "upper"), "bottom": ("bottom", "bottom", "lower"),
         "centre": ("center", "centre", "middle")}
SIDE_FRAMES = ("{}", "{}", "{}", "at the {}", "on the {}", "in the {}", "to the {}", "{} side", "on the {} side", "at the {} side", "{} edge",
               "at the {} edge", "at {}", "near the {}", "near the {} edge", "at the {} of the picture", "on the {} of the image", "placed {}",
               "positioned on the {}", "located at the {}", "the {}", "towards the {}", "on the {} hand side", "{} of the image", "at the very {}",
               "in the {} half", "in the {} part of the picture")
TOP_FRAMES = ("{}", "at the {}", "in the {}", "{} center", "at the {} center", "{} centre", "{} middle", "in the {} middle", "at the {} of the picture",
              "near the {}", "at the {} of the image")
VERTICAL_WORDS = {"left": ("middle left", "center left", "left middle", "centre left"), "right": ("middle right", "center right", "right middle", "centre right")}
CENTRE_FRAMES = ("{}", "{}", "in the {}", "in the {}", "at the {}", "in the {} of the picture", "at the {} of the image", "placed in the {}",
                 "located in the {}", "in the very {}", "{} of the image", "{} of the picture", "the {}")
CENTRE_WORDS = ("centered", "centred", "in the middle of the picture", "in the center of the image")
CORNER_FRAMES = ("{}", "{}", "{}", "in the {}", "at the {}", "in the {} corner", "in the {} corner", "at the {} corner", "{} corner", "on the {}",
                 "to the {}", "near the {} corner", "in the {} of the picture", "placed in the {}", "positioned at the {}", "located in the {} corner",
                 "the {} corner", "in the {} hand corner", "in the {} part of the picture", "in the {} corner of the image", "at {}")
BACKGROUND_FRAMES = ("on a {} background",) * 5 + ("on {}",) * 3 + ("{} background",) * 4 + (
    "on {} background", "on the {} background", "with a {} background", "with {} background", "against a {} background", "against {}",
    "on a plain {} background", "on a flat {} background", "on a solid {} background", "plain {} background", "in front of a {} background", "over {}",
    "background {}", "background : {}", "the background is {}", "on a {} canvas", "on {} paper", "over a {} background", "a {} background",
    "before a {} background", "a {} backdrop", "on a {} backdrop", "with {} behind it", "on a {} field")
BACKGROUND_LEADS = ("{} background with", "a {} background with", "on a {} background :", "a {} background and", "on {} :", "{} background showing",
                    "a {} picture with", "a {} image with")
PREFIXES = ("a photo of", "photo of", "a picture of", "picture of", "a drawing of", "an image of", "image of", "an illustration of", "a painting of",
            "draw", "there is", "this is", "show", "an icon of", "paint", "make", "i see", "a simple picture of", "a flat drawing of", "please draw")
SUFFIXES = ("flat", "simple", "flat colors", "minimal", "plain", "flat design", "icon", "clean", "simple drawing", "vector art", "logo", "nothing else")
ARTICLES = ("a", "a", "a", "a", "a", "a", "", "", "", "one", "the", "a single")
BESIDE = (("", "and", ""), ("", "and", ""), ("", "and", ""), ("", "next to", ""), ("", "beside", ""), ("", "left of", ""), ("", "to the left of", ""),
          ("", "on the left and", "on the right"), ("", "left ,", "right"), ("", "at the left ,", "at the right"), ("", "with", ""))
ABOVE = (("", "above", ""), ("", "over", ""), ("", "on top of", ""), ("", "at the top and", "at the bottom"), ("", "top ,", "bottom"),
         ("", "on the top and", "on the bottom"))
BELOW = (("", "below", ""), ("", "under", ""), ("", "beneath", ""), ("", "at the bottom and", "at the top"), ("", "bottom ,", "top"))


def _all_texts():
    """Every phrase that a caption can contain: the source of the token table."""
    for table in (SIZE_WORDS, COLOUR_WORDS, SHAPE_WORDS, SIDES, VERTICAL_WORDS):
        for words in table.values():
            yield from words
    for table in (SIDE_FRAMES, TOP_FRAMES, CENTRE_FRAMES, CENTRE_WORDS, CORNER_FRAMES, BACKGROUND_FRAMES, BACKGROUND_LEADS, PREFIXES, SUFFIXES, ARTICLES):
        yield from (text.replace("{}", " ") for text in table)
    for table in (BESIDE, ABOVE, BELOW):
        for parts in table:
            yield from parts
    yield "an , . : ; - colored coloured is"


def caption(scene, rng, say_place=True, say_background=True, plain=False):
    """One of many ways to describe the scene. What is not said (place of a single object, background) is left to the seed.
    plain: short, usual phrasing only."""
    pick = lambda options: options[int(rng.integers(len(options)))]

    def thing(size, colour, shape):
        words = [pick(COLOUR_WORDS[colour])]
        if rng.random() < 0.04 and not plain:
            words[0] += pick((" colored", " coloured"))
        if size != "medium" or rng.random() < 0.35:
            # The size usually stands first.
            words.insert(0 if plain or rng.random() < 0.92 else 1, SIZE_WORDS[size][0] if plain else pick(SIZE_WORDS[size]))
        words.append(shape if plain else pick(SHAPE_WORDS[shape]))
        article = pick(("a", "a", "")) if plain else pick(ARTICLES)
        if article == "a" and words[0][0] in "aeiou":
            article = "an"
        return (article + " " + " ".join(words)).strip()

    def where(place):
        if plain:
            word = "center" if place == "centre" else place
            if rng.random() < 0.4:
                return word
            return (f"in the {word} corner" if rng.random() < 0.5 else f"in the {word}") if " " in place else pick(("at the {}", "on the {}" if
                    place in ("left", "right") else "in the {}")).format(word)
        if place == "centre":
            return pick(CENTRE_WORDS) if rng.random() < 0.15 else pick(CENTRE_FRAMES).format(pick(SIDES["centre"]))
        if " " in place:
            vertical, side = place.split()
            text = pick(SIDES[vertical]) + pick((" ", " ", " ", " ", " - ")) + side
            if rng.random() < 0.06:
                text = side + " " + pick(SIDES[vertical])
            return pick(CORNER_FRAMES).format(text)
        if place in VERTICAL_WORDS and rng.random() < 0.08:
            return pick(VERTICAL_WORDS[place])
        frames = TOP_FRAMES if place in ("top", "bottom") and rng.random() < 0.4 else SIDE_FRAMES
        return pick(frames).format(place if rng.random() < 0.85 else pick(SIDES[place]))

    objects = [thing(*o) for o in scene["objects"]]
    ground = pick(COLOUR_WORDS[scene["background"]])
    if len(objects) == 1:
        body = objects[0]
        place = where(scene["place"]) if say_place else ""
    else:
        table = {"beside": BESIDE, "above": ABOVE, "below": BELOW}[scene["place"]]
        first, joint, last = table[0] if plain else pick(table)
        body = " ".join(t for t in (first, objects[0], joint, objects[1], last) if t)
        place = ""
    backdrop = pick(BACKGROUND_FRAMES[:12] if plain else BACKGROUND_FRAMES).format(ground) if say_background else ""

    comma = lambda: pick((" , ", " , ", " "))
    roll = rng.random()
    if backdrop and not plain and roll < 0.12:
        text = pick(BACKGROUND_LEADS).format(ground) + " " + body + (comma() + place if place else "")
    elif backdrop and roll < 0.22:
        text = backdrop + pick((" , ", " , ", " . ")) + body + (comma() + place if place else "")
    elif place and roll < 0.32 and not plain:
        text = place + pick((" , ", " : ", " ")) + body + (comma() + backdrop if backdrop else "")
    else:
        parts = [place, backdrop] if rng.random() < 0.5 else [backdrop, place]
        text = body
        for part in parts:
            if part:
                text += (" is " if part == place and text == body and not plain and rng.random() < 0.05 else comma()) + part
    if not plain:
        if rng.random() < 0.2:
            text = pick(PREFIXES) + " " + text
        if rng.random() < 0.1:
            text += " , " + pick(SUFFIXES)
        if rng.random() < 0.1:
            text += " ."
    return " ".join(text.split()).replace(" ,", ",").replace(" .", ".").replace(" :", ":").replace(" - ", "-")


def all_words():
    """All words of all captions, sorted."""
    return sorted({word for text in _all_texts() for word in text.split()})


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    for _ in range(30):
        print(caption(random_scene(generator), generator))
    print(len(all_words()), "words")
