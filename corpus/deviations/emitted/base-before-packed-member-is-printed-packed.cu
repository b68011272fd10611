// deviation: wrong-value wrong-address wrong-layout
// title: a base with a constructor that ends in a bit field is printed packed where the derived class has a packed member
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*struct : (.*, )?([a-z]+ )*constructed ([a-z]+ )*struct (: .*)?\{ (.*; )?[^{};]* : N \} \{ (.*; )?packed .*
// first-seen: 2026-11-29
// work-around: Make the base a member.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: The kernel reads m2 at 4, the initializer has it at 1.
// reads: k0+0 06000000
struct C3 { char m1; int m2; char m4 : 1; constexpr C3() : m1{5}, m2{6}, m4{1} {} };
struct C0 : C3 { __attribute__((packed)) int m5; };
extern "C" {
__device__ C0 g0 = {{}, 7};
__global__ void k0(unsigned char *o) { *(int *)(o + 0) = g0.m2; }
}
