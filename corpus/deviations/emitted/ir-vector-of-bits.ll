; deviation: wrong-value
; title: of a vector of i1 only the lowest bit is printed
; releases: llc 14 and later
; symptom: another value
; shape: .*<(N|odd) x i1>.*
; first-seen: 2026-11-27
; work-around: Use a vector of i8, or an integer.
; found: `ptxsmith emit run --subject llc@19`.
; note: The first element is in the lowest bit of one byte, so the byte is 0xfd.
@g0 = addrspace(1) global <8 x i1> <i1 true, i1 false, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true>
