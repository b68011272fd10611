// Texture and surface objects, special registers, and other instructions through inline assembly.
#include "prelude.h"
struct Quad { float x, y, z, w; };
__device__ Quad background = {0.25f, 0.5f, 0.75f, 1.0f};
extern "C" __global__ void sample(Quad *out, u64 texture, float x, float y) {
  Quad q;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=f"(q.x), "=f"(q.y), "=f"(q.z), "=f"(q.w) : "l"(texture), "f"(x), "f"(y));
  out[0] = q; out[1] = background;
}
extern "C" __global__ void put(u64 surface, int x, u32 value) { asm volatile("sust.b.1d.b32.trap [%0, {%1}], %2;" ::"l"(surface), "r"(x), "r"(value)); }
extern "C" __global__ void registers(u32 *out) {
  u32 lane, clock, mask; asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane)); asm volatile("mov.u32 %0, %%clock;" : "=r"(clock)); asm volatile("activemask.b32 %0;" : "=r"(mask));
  out[0] = lane; out[1] = clock; out[2] = mask;
}
extern "C" __global__ void scoped(int *p) { int r; asm volatile("{ .reg .pred q; setp.eq.s32 q, %1, 0; selp.s32 %0, 1, 2, q; }" : "=r"(r) : "r"(p[1])); p[0] = r; }
extern "C" __global__ void loads(u32 *out, const u32 *in) {
  u32 a, b, c, d; asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4+16];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in)); asm volatile("st.global.v2.u32 [%0+8], {%1, %2};" ::"l"(out), "r"(a ^ b), "r"(c ^ d) : "memory");
}
