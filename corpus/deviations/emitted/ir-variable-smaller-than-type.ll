; deviation: wrong-layout
; title: the variable of an integer or a vector of odd width has no bytes up to its alignment
; releases: llc 14 and later
; symptom: smaller than its type
; shape: .*integer( of odd width)?.*
; shape: .*<(odd|N) x .*
; shape: .*x86_fp80.*
; first-seen: 2026-11-27
; work-around: Use widths of 8, 16, 32, 64, 128 or 256.
; found: `ptxsmith emit run --subject llc@19`.
; note: i120 has 15 bytes and is aligned to 16, so its object has 16.
@g0 = addrspace(1) global i120 5
