"""Kernels in Warp, compiled to PTX without a device: warp_kernels.py OUT."""

import contextlib
import os
import pathlib
import sys
import tempfile

import warp as wp

OUT = pathlib.Path(sys.argv[1]).absolute()
MADE = pathlib.Path(tempfile.mkdtemp())
wp.config.kernel_cache_dir = str(MADE / "cache")
with contextlib.redirect_stdout(open(os.devnull, "w", encoding="utf-8")):
    wp.init()


@wp.struct
class Particle:
    position: wp.vec3
    velocity: wp.vec3
    mass: float
    kind: int


@wp.func
def force(a: wp.vec3, b: wp.vec3):
    d = a - b
    return d / (wp.length_sq(d) + 1.0e-3)


@wp.kernel(module="saxpy")
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel(module="particles")
def step(particles: wp.array(dtype=Particle), dt: float):
    i = wp.tid()
    p = particles[i]
    total = wp.vec3(0.0, -9.81, 0.0)
    for j in range(particles.shape[0]):
        total = total + force(p.position, particles[j].position)
    p.velocity = p.velocity + total * dt / p.mass
    p.position = p.position + p.velocity * dt
    particles[i] = p


@wp.kernel(module="matrices")
def rotate(q: wp.array(dtype=wp.quat), v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat33)):
    i = wp.tid()
    r = wp.quat_to_matrix(q[i])
    v[i] = r * v[i]
    m[i] = wp.inverse(r) * m[i]


@wp.kernel(module="counting", enable_backward=False)
def count(x: wp.array(dtype=int), bins: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(bins, x[i] % bins.shape[0], 1)
    if x[i] < 0:
        wp.printf("negative: %d\n", x[i])


@wp.kernel(module="noise", enable_backward=False)
def noise(seed: int, out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    out[i] = wp.randf(state) + wp.noise(state, wp.vec3(float(i), 0.5, 0.25))


@wp.kernel(module="grid")
def stencil(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float)):
    i, j = wp.tid()
    b[i + 1, j + 1] = (a[i, j + 1] + a[i + 2, j + 1] + a[i + 1, j] + a[i + 1, j + 2]) * 0.25


def main():
    for arch in 75, 80, 90:
        for kernel in saxpy, step, rotate, count, noise, stencil:
            name = f"{kernel.module.name}.sm_{arch}"
            try:
                wp.compile_aot_module(kernel.module, arch=arch, module_dir=str(MADE / "made"), use_ptx=True)
                for made in (MADE / "made").rglob("*.ptx"):
                    (OUT / f"{name}.ptx").write_bytes(made.read_bytes().rstrip(b"\0"))  # Warp writes the driver's terminator too
                    made.unlink()
            except Exception as error:  # what this release does not compile
                print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


main()
