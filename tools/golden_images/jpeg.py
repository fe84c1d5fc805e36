"""Makes the JPEG files of tests/golden/images and, as PNG, what the original's library reads in them.

Needs Pillow and numpy.
"""

import sys

import numpy as np
from PIL import Image, ImageOps


def main(folder):
    def save(name, picture, **options):
        picture.save(f"{folder}/{name}.jpg", **options)
        upright = ImageOps.exif_transpose(Image.open(f"{folder}/{name}.jpg"))
        upright.convert("RGB").save(f"{folder}/{name}.png", optimize=True)

    y, x = np.mgrid[0:18, 0:26]
    waves = 128 + 100 * np.sin(x / 3) * np.cos(y / 4)
    colours = Image.fromarray(np.stack([x * 9, y * 13, waves], -1).clip(0, 255).astype(np.uint8))
    black = Image.fromarray((x * 3 + y).astype(np.uint8))
    save("colour-444", colours, quality=92, subsampling=0)
    save("colour-420-progressive", colours, quality=85, subsampling=2, progressive=True)
    save("grey", colours.convert("L"), quality=90)
    save("cmyk", Image.merge("CMYK", [*colours.split(), black]), quality=95)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x112] = orientation
        save(f"orientation-{orientation}", colours.resize((13, 9)), quality=95, subsampling=0, exif=exif)


main(sys.argv[1])
