; deviation: crash
; title: a floating-point number other than half, float and double ends llc by a signal
; releases: llc 14 and later
; symptom: signal
; shape: .*(bfloat|fp128|x86_fp80).*
; first-seen: 2026-11-27
; link: https://github.com/llvm/llvm-project/pull/214546
; work-around: Write the bits as an integer.
; found: `ptxsmith emit run --subject llc@19`.
; note: LLVM 14 and 16 also fail where a bfloat is the whole global, and releases before 22 where an fp128 is.
@g0 = addrspace(1) global { fp128 } { fp128 0xL00000000000000004000000000000000 }
