// deviation: crash
// title: a member with [[no_unique_address]] whose class has nothing but a base that ends in a bit field ends the compiler
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// releases: nvrtc 12.9 and later
// symptom: out of memory
// shape: .*overlapping (aligned |constructed |defaulted |designated )*struct : (aligned |constructed |defaulted |designated )*struct \{ [^{}]* : N( \+ N)? \} \{  \}.*
// first-seen: 2026-11-29
// work-around: Leave out the attribute.
// found: Variants of a finding of `ptxsmith emit run --subject nvcc@13.5`.
// note: "LLVM ERROR: out of memory".
struct C5 { char m6; long m7 : 51; };
struct C4 : C5 { };
struct C0 { int m1; [[no_unique_address]] C4 m3; };
extern "C" {
__device__ C0 g0 = {1, {{5, 7}}};
}
