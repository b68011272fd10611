// deviation: crash
// title: a bit field that is initialized in a union ends the compiler with an internal error
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// symptom: initialization of bit-field in union
// apart: .*union \{ ([^;{}]* : N.*|.* : N = active.*)
// first-seen: 2026-11-28
// work-around: Put the bit field into a structure in the union.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: The compiler says: initialization of bit-field in union not supported!
// reads: k0+0 05000000
union C0 { int m1 : 4; };
extern "C" {
__device__ C0 g0 = {5};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m1; }
}
