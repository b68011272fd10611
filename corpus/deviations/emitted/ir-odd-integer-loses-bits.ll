; deviation: wrong-value
; title: of a wide integer the bits behind the last whole byte are not printed
; releases: llc 22 and later
; symptom: another value
; shape: (.* )?wide integer of odd width( align)?
; first-seen: 2026-11-27
; link: https://github.com/llvm/llvm-project/pull/201184
; work-around: Use a width that is a multiple of 8.
; found: `ptxsmith emit run --subject llc@22`.
; note: i73 has ten bytes, the last one is 1.
@g0 = addrspace(1) global i73 4722366482869645213701
