; deviation: wrong-value
; title: a global of type i1 that is true is printed as -1
; releases: llc 14 and later
; symptom: another value
; shape: (.* )?i1( align)?
; first-seen: 2026-11-27
; work-around: Declare the global as i8.
; found: `ptxsmith emit run --subject llc@19`.
; note: The byte is 0xff; LLVM reads i1 from memory as 1, and llc for x86-64 stores 1. In arrays and structures it is 1.
@g0 = addrspace(1) global i1 true
