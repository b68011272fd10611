; deviation: wrong-value wrong-address
; title: a vector whose bytes are no power of two is printed without the bytes that align what follows
; releases: llc 14 and later
; symptom: another value
; shape: .*<odd x .*
; shape: .*<N x (wide integer|integer of odd width|wide integer of odd width)>.*
; first-seen: 2026-11-27
; link: https://github.com/llvm/llvm-project/pull/201246
; work-around: Use vectors of two, four or eight elements.
; found: `ptxsmith emit run --subject llc@19`.
; note: <3 x i8> has three bytes and is aligned to four.
@g0 = addrspace(1) global { <3 x i8>, i8 } { <3 x i8> <i8 5, i8 6, i8 7>, i8 5 }
