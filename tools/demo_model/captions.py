"""The words for scenes: many ways to say the same thing, since people write prompts in many ways.

In the tables `{}` takes the word in question; an entry that stands several times is said more
often.
"""

import numpy as np

from shapes import COLOURS, SHAPES, random_scene


def phrases(text):
    return [" ".join(p.split()) for p in text.split("|")]


SIZE_WORDS = {
    "small": phrases("small | small | small | little | tiny"),
    "large": phrases("large | large | big | big | huge"),
    "medium": phrases("medium | medium sized | medium - sized"),
}
COLOUR_WORDS = {name: [name] for name in COLOURS} | {
    "grey": phrases("grey | gray"),
    "purple": phrases("purple | purple | purple | violet"),
}
SHAPE_WORDS = {name: [name] for name in SHAPES} | {
    "circle": ["circle"] * 6 + phrases("disc | disk | ball"),
    "square": ["square"] * 6 + ["box"],
    "cross": ["cross"] * 5 + phrases("plus | plus sign"),
}
SIDES = {
    "left": ["left"],
    "right": ["right"],
    "top": phrases("top | top | upper"),
    "bottom": phrases("bottom | bottom | lower"),
    "centre": phrases("center | centre | middle"),
}
SIDE_MIDDLES = {
    side: [f.format(side) for f in phrases("middle {} | center {} | {} middle | centre {}")]
    for side in ("left", "right")
}
SIDE_FRAMES = phrases("""
    {} | {} | {} | at the {} | on the {} | in the {} | to the {} | {} side | on the {} side | at
    the {} side | {} edge | at the {} edge | at {} | near the {} | near the {} edge | at the {}
    of the picture | on the {} of the image | placed {} | positioned on the {} | located at the
    {} | the {} | towards the {} | on the {} hand side | {} of the image | at the very {} | in
    the {} half | in the {} part of the picture
    """)
TOP_FRAMES = phrases("""
    {} | at the {} | in the {} | {} center | at the {} center | {} centre | {} middle | in the
    {} middle | at the {} of the picture | near the {} | at the {} of the image
    """)
CENTRE_FRAMES = phrases("""
    {} | {} | in the {} | in the {} | at the {} | in the {} of the picture | at the {} of the
    image | placed in the {} | located in the {} | in the very {} | {} of the image | {} of the
    picture | the {}
    """)
CENTRE_WORDS = phrases("""
    centered | centred | in the middle of the picture | in the center of the image
    """)
CORNER_FRAMES = phrases("""
    {} | {} | {} | in the {} | at the {} | in the {} corner | in the {} corner | at the {}
    corner | {} corner | on the {} | to the {} | near the {} corner | in the {} of the picture |
    placed in the {} | positioned at the {} | located in the {} corner | the {} corner | in the
    {} hand corner | in the {} part of the picture | in the {} corner of the image | at {}
    """)
BACKGROUND_FRAMES = phrases("""
    on a {} background | on a {} background | on a {} background | on a {} background | on a {}
    background | on {} | on {} | on {} | {} background | {} background | {} background | {}
    background | on {} background | on the {} background | with a {} background | with {}
    background | against a {} background | against {} | on a plain {} background | on a flat {}
    background | on a solid {} background | plain {} background | in front of a {} background |
    over {} | background {} | background : {} | the background is {} | on a {} canvas | on {}
    paper | over a {} background | a {} background | before a {} background | a {} backdrop | on
    a {} backdrop | with {} behind it | on a {} field
    """)
BACKGROUND_LEADS = phrases("""
    {} background with | a {} background with | on a {} background : | a {} background and | on
    {} : | {} background showing | a {} picture with | a {} image with
    """)
PREFIXES = phrases("""
    a photo of | photo of | a picture of | picture of | a drawing of | an image of | image of |
    an illustration of | a painting of | draw | there is | this is | show | an icon of | paint |
    make | i see | a simple picture of | a flat drawing of | please draw
    """)
SUFFIXES = phrases("""
    flat | simple | flat colors | minimal | plain | flat design | icon | clean | simple drawing
    | vector art | logo | nothing else
    """)
ARTICLES = phrases("a | a | a | a | a | a | | | | one | the | a single")
# Joints of two objects; a second part follows the second object.
BESIDE = phrases("""
    and | and | and | next to | beside | left of | to the left of | with | left , / right |
    on the left and / on the right | at the left , / at the right
    """)
ABOVE = phrases("""
    above | over | on top of | top , / bottom | at the top and / at the bottom |
    on the top and / on the bottom
    """)
BELOW = phrases("below | under | beneath | bottom , / top | at the bottom and / at the top")
JOINTS = {"beside": BESIDE, "above": ABOVE, "below": BELOW}
# The usual phrasing, for prompts of the evaluation.
PLAIN_BACKGROUNDS = phrases("on a {} background | on a {} background | on {} | {} background")


def all_words():
    """All words of all captions, sorted: the source of the token table."""
    tables = [SIDE_FRAMES, TOP_FRAMES, CENTRE_FRAMES, CENTRE_WORDS, CORNER_FRAMES]
    tables += [BACKGROUND_FRAMES, BACKGROUND_LEADS, PREFIXES, SUFFIXES, ARTICLES, *JOINTS.values()]
    for words in (SIZE_WORDS, COLOUR_WORDS, SHAPE_WORDS, SIDES, SIDE_MIDDLES):
        tables += words.values()
    tables.append(["an , . : ; - colored coloured is"])
    texts = [text.replace("{}", " ").replace("/", " ") for table in tables for text in table]
    return sorted({word for text in texts for word in text.split()})


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def object_words(size, colour, shape, rng, plain):
    words = [colour if plain else pick(rng, COLOUR_WORDS[colour])]
    if not plain and rng.random() < 0.04:
        words[0] += pick(rng, (" colored", " coloured"))
    if size != "medium" or rng.random() < 0.35:
        usual = plain or rng.random() < 0.92  # the size stands first
        words.insert(0 if usual else 1, size if plain else pick(rng, SIZE_WORDS[size]))
    words.append(shape if plain else pick(rng, SHAPE_WORDS[shape]))
    article = pick(rng, ("a", "a", "") if plain else ARTICLES)
    return (article + " " + " ".join(words)).strip()


def plain_place_words(place, rng):
    word = place.replace("centre", "center")
    if rng.random() < 0.4:
        return word
    if " " in place:
        return pick(rng, ("in the {} corner", "in the {}")).format(word)
    side = place in ("left", "right")
    return pick(rng, ("at the {}", "on the {}" if side else "in the {}")).format(word)


def place_words(place, rng):
    if place == "centre":
        if rng.random() < 0.15:
            return pick(rng, CENTRE_WORDS)
        return pick(rng, CENTRE_FRAMES).format(pick(rng, SIDES["centre"]))
    if " " in place:
        vertical, side = place.split()
        text = pick(rng, SIDES[vertical]) + pick(rng, (" ", " ", " ", " ", " - ")) + side
        if rng.random() < 0.06:
            text = side + " " + pick(rng, SIDES[vertical])
        return pick(rng, CORNER_FRAMES).format(text)
    if place in SIDE_MIDDLES and rng.random() < 0.08:
        return pick(rng, SIDE_MIDDLES[place])
    vertical = place in ("top", "bottom")
    frames = TOP_FRAMES if vertical and rng.random() < 0.4 else SIDE_FRAMES
    return pick(rng, frames).format(place if rng.random() < 0.85 else pick(rng, SIDES[place]))


def tidy(text):
    text = f" {text} "
    for colour in COLOURS:
        if colour[0] in "aeiou":
            text = text.replace(f" a {colour} ", f" an {colour} ")
    text = " ".join(text.split())
    return text.replace(" ,", ",").replace(" .", ".").replace(" :", ":").replace(" - ", "-")


def caption(scene, rng, say_place=True, say_background=True, plain=False):
    """One of many ways to describe the scene.

    What is not said (the background, the place of a single object) is left to the seed.
    plain: short, usual phrasing only.
    """
    objects = [object_words(*o, rng, plain) for o in scene["objects"]]
    place = ""
    if len(objects) == 2:
        joint = pick(rng, JOINTS[scene["place"]][: 1 if plain else None])
        first, _, last = joint.partition(" / ")
        body = " ".join((objects[0], first, objects[1], last)).strip()
    else:
        body = objects[0]
        if say_place:
            place = (plain_place_words if plain else place_words)(scene["place"], rng)
    ground, backdrop = scene["background"], ""
    if say_background and plain:
        backdrop = pick(rng, PLAIN_BACKGROUNDS).format(ground)
    elif say_background:
        ground = pick(rng, COLOUR_WORDS[ground])
        backdrop = pick(rng, BACKGROUND_FRAMES).format(ground)

    def then(part):
        return pick(rng, (" , ", " , ", " ")) + part if part else ""

    order = rng.random()
    if backdrop and not plain and order < 0.12:
        text = pick(rng, BACKGROUND_LEADS).format(ground) + " " + body + then(place)
    elif backdrop and order < 0.22:
        text = backdrop + pick(rng, (" , ", " , ", " . ")) + body + then(place)
    elif place and not plain and order < 0.32:
        text = place + pick(rng, (" , ", " : ", " ")) + body + then(backdrop)
    elif rng.random() < 0.5:
        verb = place and not plain and rng.random() < 0.05
        text = body + (" is " + place if verb else then(place)) + then(backdrop)
    else:
        text = body + then(backdrop) + then(place)
    if not plain:
        if rng.random() < 0.2:
            text = pick(rng, PREFIXES) + " " + text
        if rng.random() < 0.1:
            text += " , " + pick(rng, SUFFIXES)
        if rng.random() < 0.1:
            text += " ."
    return tidy(text)


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    for number in range(30):
        print(caption(random_scene(generator), generator, plain=number % 3 == 0))
    print(len(all_words()), "words")
