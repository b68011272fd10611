"""Kernels in numba-cuda, compiled to PTX without a device: numba_kernels.py OUT."""

import pathlib
import sys

import numpy
from numba import cuda, float32, float64, int32, int64, uint8

TABLE = numpy.arange(24, dtype=numpy.float32).reshape(4, 6) * 0.25
BYTES = numpy.array([0, 1, 127, 128, 255], dtype=numpy.uint8)
LONGS = numpy.array([-2**63, -1, 0, 2**63 - 1], dtype=numpy.int64)
DOUBLES = numpy.array([0.1, -0.0, 1e-308, numpy.inf])
RECORDS = numpy.array([(1, 2.5), (-3, 4.5)], dtype=numpy.dtype([("a", numpy.int32), ("b", numpy.float64)], align=True))


def constant_table(out, i):
    table = cuda.const.array_like(TABLE)
    out[i] = table[i & 3, 2] + table[1, i]


def constants(out, reals, i):
    out[0] = cuda.const.array_like(BYTES)[i]
    out[1] = cuda.const.array_like(LONGS)[i]
    reals[0] = cuda.const.array_like(DOUBLES)[i]
    reals[1] = cuda.const.array_like(RECORDS)[i].b


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def straight(x, y):
    y[0] = x[1]
    y[cuda.threadIdx.x] = x[cuda.threadIdx.x] * 2


def tiled(a, b, c):
    left = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for step in range(a.shape[1] // 16):
        left[i, j] = a[x, step * 16 + j]
        cuda.syncthreads()
        for k in range(16):
            total += left[i, k] * b[step * 16 + k, y]
        cuda.syncthreads()
    c[x, y] = total


def histogram(data, bins):
    cuda.atomic.add(bins, data[cuda.grid(1)], 1)


def local(out, n):
    scratch = cuda.local.array(32, int32)
    for i in range(32):
        scratch[i] = i * n
    out[0] = scratch[n & 31]


def say(x):
    print("value", x[0], cuda.threadIdx.x)


def pair(a, b):
    return a * 2 + b


def checked(x, i):
    x[i] = x[i + 1] // x[0]


KERNELS = [(constant_table, (float32[::1], int64)), (constants, (int64[::1], float64[::1], int64)),
           (saxpy, (float32, float32[::1], float32[::1])), (straight, (float64[::1], float64[::1])),
           (tiled, (float32[:, ::1], float32[:, ::1], float32[:, ::1])), (histogram, (uint8[::1], int32[::1])),
           (local, (int32[::1], int32)), (say, (int32[::1],)), (checked, (int32[::1], int64))]


def main():
    out = pathlib.Path(sys.argv[1])
    for arch in (7, 5), (8, 0), (9, 0), (12, 0):
        for kernel, types in KERNELS:
            for kind, options in ("", {}), (".lineinfo", {"lineinfo": True}), (".debug", {"debug": True, "opt": False}):
                name = f"{kernel.__name__}{kind}.sm_{arch[0]}{arch[1]}"
                try:
                    text, _ = cuda.compile_ptx(kernel, types, cc=arch, **options)
                    (out / f"{name}.ptx").write_text(text)
                except Exception as error:  # what this release does not compile
                    print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        text, _ = cuda.compile_ptx(pair, (float64, float64), cc=arch, device=True)
        (out / f"pair.device.sm_{arch[0]}{arch[1]}.ptx").write_text(text)


main()
