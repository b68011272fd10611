; deviation: crash
; title: a vector whose elements are no whole bytes ends llc by a signal
; releases: llc 14 and later
; symptom: signal
; shape: .*<(N|odd) x (i1|bits)>.*
; first-seen: 2026-11-28
; link: https://github.com/llvm/llvm-project/issues/59179
; work-around: Use a vector of i8, or an integer.
; found: `ptxsmith emit run --subject llc@19`.
; note: It writes a byte for each element past the end of its buffer, which it does not always survive.
define void @function() { ret void }
@g0 = addrspace(1) global { i8, ptr, <2 x i1> } { i8 206, ptr @function, <2 x i1> <i1 false, i1 true> }
