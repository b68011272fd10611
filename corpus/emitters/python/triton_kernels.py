"""Kernels in Triton, compiled to PTX for several architectures without a device: triton_kernels.py OUT."""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def copy_whole(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + at, values / tl.sum(values, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK):
        left = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
        right = tl.load(b + (start + inner)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def histogram(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + at), 1)


@triton.jit
def layer_norm(x, w, b, out, n, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0).to(tl.float32)
    centred = tl.where(at < n, row - tl.sum(row, axis=0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    tl.store(out + tl.program_id(0) * n + at, centred * scale * tl.load(w + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


@triton.jit
def prefix(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def noise(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.rand(seed, at))


@triton.jit
def order(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def say(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_print("value", tl.load(x + at))
    tl.device_assert(at < 1000, "too far")


F, H, I = "*fp32", "*fp16", "*i32"
KERNELS = [(add, [F, F, F, "i32"], 256), (copy_whole, [F, F], 128), (softmax, [F, F, "i32", "i32"], 512),
           (matmul, [H, H, F, "i32", "i32", "i32"], 32), (matmul, ["*bf16", "*bf16", F, "i32", "i32", "i32"], 64),
           (histogram, [I, I], 128), (layer_norm, [H, F, F, H, "i32", "fp32"], 256), (prefix, [F, F], 256),
           (noise, [F, "i32"], 128), (order, [I, I], 128), (say, [F], 64)]


def main():
    out = pathlib.Path(sys.argv[1])
    for arch in 75, 80, 86, 90, 100, 120:
        for number, (kernel, types, block) in enumerate(KERNELS):
            names = kernel.arg_names
            signature = dict(zip(names, types + ["constexpr"]))
            try:
                source = ASTSource(fn=kernel, signature=signature, constexprs={(len(names) - 1,): block})
                made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"debug": kernel is say})
                (out / f"{kernel.__name__}-{number}.sm_{arch}.ptx").write_text(made.asm["ptx"])
            except Exception as error:  # what this Triton does not compile for this architecture
                print(f"{kernel.__name__}-{number}.sm_{arch}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


main()
