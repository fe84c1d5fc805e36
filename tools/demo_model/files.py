"""Safetensors and PNG with numpy alone, so that the tool needs nothing but torch."""

import json
import struct
import zlib

import numpy as np

TYPES = {"F16": np.float16, "F32": np.float32, "I32": np.int32, "I64": np.int64}


def write_safetensors(path, tensors, metadata):
    """tensors: name -> numpy array."""
    header, offset, blobs = {"__metadata__": metadata}, 0, []
    # Widest type first keeps every tensor aligned.
    for name in sorted(tensors, key=lambda n: (-tensors[n].itemsize, n)):
        data = np.ascontiguousarray(tensors[name])
        kind = next(k for k, v in TYPES.items() if v == data.dtype)
        header[name] = {
            "dtype": kind,
            "shape": list(data.shape),
            "data_offsets": [offset, offset + data.nbytes],
        }
        offset += data.nbytes
        blobs.append(data.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_safetensors(path):
    """-> (name -> numpy array, metadata)"""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    metadata = header.pop("__metadata__", {})
    return {
        n: np.frombuffer(body[slice(*h["data_offsets"])], TYPES[h["dtype"]]).reshape(h["shape"])
        for n, h in header.items()
    }, metadata


def write_png(path, picture):
    """picture: uint8 [height, width, 3]"""
    height, width, _ = picture.shape
    chunk = (
        lambda kind, data: struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
    )
    rows = b"".join(b"\0" + picture[y].tobytes() for y in range(height))
    with open(path, "wb") as file:
        file.write(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b"")
        )


def read_png(path):
    """8-bit RGB or RGBA without interlacing -> uint8 [height, width, 3]"""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(
                ">IIBBBBB", data[at + 8 : at + 21]
            )
            assert depth == 8 and colour in (2, 6) and not interlace, "unsupported PNG"
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    n = 3 if colour == 2 else 4
    raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * n)
    out = np.zeros(
        (height + 1, width + 1, n), np.int32
    )  # a row above and a column to the left of zeros
    for y in range(height):
        kind, line = raw[y, 0], raw[y, 1:].reshape(width, n).astype(np.int32)
        if kind in (0, 2):
            out[y + 1, 1:] = (line + (out[y, 1:] if kind == 2 else 0)) & 255
            continue
        for x in range(width):
            a, b, c = out[y + 1, x], out[y, x + 1], out[y, x]
            if kind == 1:
                guess = a
            elif kind == 3:
                guess = (a + b) // 2
            else:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                guess = np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, b, c))
            out[y + 1, x + 1] = (line[x] + guess) & 255
    return out[1:, 1:, :3].astype(np.uint8)
