; deviation: wrong-value wrong-address
; title: elements of a vector that are no whole bytes are printed as whole bytes
; releases: llc 14 and later
; shape: .*<(N|odd) x (i1|bits)>.*
; first-seen: 2026-11-27
; link: https://github.com/llvm/llvm-project/pull/183628
; work-around: Use a vector of i8, or an integer.
; found: `ptxsmith emit run --subject llc@19`.
; note: The first element is in the lowest bit of one byte, so the byte is 0xfd. In arrays and structures the elements take the places of what follows.
@g0 = addrspace(1) global <8 x i1> <i1 true, i1 false, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
