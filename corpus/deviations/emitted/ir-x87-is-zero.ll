; deviation: wrong-value
; title: a number of x86_fp80 is printed as zero
; releases: llc 22 and later
; symptom: another value
; shape: (.* )?x86_fp80( align)?
; first-seen: 2026-11-28
; work-around: Write the bits as an integer.
; found: `ptxsmith emit run --subject llc@22`.
; note: Releases before 22 end by a signal, and all of them where it is a member.
@g0 = addrspace(1) global x86_fp80 0xK3FFF8000000000000000
