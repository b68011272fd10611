; deviation: wrong-value
; title: a constant address beside bytes is printed under mask(), which takes no integers before PTX 7.2
; releases: llc 15 and later
; symptom: mask() before the version
; shape: .*null \*[+-]N.*
; first-seen: 2026-11-28
; work-around: Write the address as an integer.
; found: `ptxsmith emit run --subject llc@19`.
; note: PTX 7.1 has mask() for addresses alone (5.4.4, Initializers); ptxas refuses the integer.
@g0 = addrspace(1) global <{ i8, ptr }> <{ i8 5, ptr inttoptr (i64 4 to ptr) }>
