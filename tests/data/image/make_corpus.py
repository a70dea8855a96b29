#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/corpus/image_fuzz: one tiny picture a format that image decodes. Needs pillow."""
from pathlib import Path

from PIL import Image

OUT = Path(__file__).resolve().parents[2] / "corpus" / "image_fuzz"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    picture = Image.new("RGB", (5, 3))
    picture.putdata([(x * 50, y * 80, (x + y) * 30) for y in range(3) for x in range(5)])
    for suffix in ("bmp", "ppm", "png", "tiff", "jpg", "webp", "jp2"):
        picture.save(OUT / f"rgb.{suffix}")
    for suffix in ("bmp", "pgm", "png", "tiff"):
        picture.convert("L").save(OUT / f"gray.{suffix}")
    picture.quantize(4).save(OUT / "palette.png")


if __name__ == "__main__":
    main()
