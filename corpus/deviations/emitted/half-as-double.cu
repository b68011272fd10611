// deviation: wrong-value
// title: a global of type _Float16 or __bf16 is printed as a double in .b16
// releases: clang 19 and later
// symptom: refuses
// shape: ([a-z_]+ )*(_Float16|__bf16)( .*)?
// first-seen: 2026-11-28
// link: https://github.com/llvm/llvm-project/pull/222240
// work-around: Use an array of one element.
// found: `ptxsmith emit run --subject clang@19`.
// note: .b16 takes integers, and ptxas makes the double 0. See ir-half-as-double.
// reads: k0+0 003e
extern "C" {
__device__ _Float16 g0 = (_Float16)1.5f;
__global__ void k0(unsigned char *o) { *(_Float16*)(o + 0) = g0; }
}
