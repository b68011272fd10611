; deviation: wrong-value
; title: a global of type half or bfloat is printed as a double in .b16
; releases: llc 14 and later
; symptom: refuses
; shape: .*\b(half|bfloat)( align)?
; first-seen: 2026-11-27
; link: https://github.com/llvm/llvm-project/pull/222240
; work-around: Use an array of one element.
; found: `ptxsmith emit run --subject llc@19`.
; note: The value is 0d3FF0000000000000; .b16 takes integers, and ptxas makes it 0.
@g0 = addrspace(1) global half 0xH3C00
