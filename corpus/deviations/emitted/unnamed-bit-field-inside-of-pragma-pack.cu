// deviation: wrong-layout
// title: an unnamed bit field inside of #pragma pack counts for the alignment of its class
// releases: cicc 13.0 and later
// releases: nvcc 13.0 and later
// symptom: the size is not that of g++ and clang
// shape: .*pragma pack (aligned |constructed |defaulted |designated |virtual )*struct (: .*)?\{ (.*; )?unnamed [^{};]* : N.*
// first-seen: 2026-11-29
// work-around: Give the field a name.
// found: `ptxsmith emit run --subject nvcc@13.5`.
// note: sizeof is 5 for g++, clang++ and NVRTC, and 8 here. Without the pragma it is 5 here, too.
extern "C" {
_Pragma("pack(push, 4)") struct C0 { int : 25; char m3; };
_Pragma("pack(pop)") __device__ C0 g0 = {5};
}
