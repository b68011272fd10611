// deviation: wrong-layout wrong-value
// title: a packed bit field that is wider than its type begins at the next bit, not at the next byte
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 11.8 and later
// shape: .*packed [^{};]* : N \+ N.*
// shape: .*packed (aligned |constructed |defaulted |designated |virtual )*struct (: .*)?\{ (.*; )?[^{};]* : N \+ N.*
// first-seen: 2026-11-29
// work-around: Make the field as wide as its type, and add an unnamed one for the rest.
// found: `ptxsmith emit run --subject nvrtc@13.5`.
// note: It is aligned as the largest type that fits into its width (C++ ABI, 2.4), and `packed` leaves a byte of that: m2 is at 4 for g++ and clang++, and at bit 30 here.
extern "C" {
struct C0 { int m1 : 30; __attribute__((packed)) short m2 : 27; };
__device__ C0 g0 = {5, 1};
}
