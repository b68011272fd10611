; deviation: wrong-value wrong-address
; title: an integer of odd width in an array or a structure is printed without the bytes up to its alignment
; releases: llc 14 and later
; symptom: another value
; shape: .*integer( of odd width)?\].*
; shape: .*integer( of odd width)?[ ;].*
; first-seen: 2026-11-27
; work-around: Use widths of 8, 16, 32, 64 or 128.
; found: `ptxsmith emit run --subject llc@19`.
; note: i51 has seven bytes and is aligned to eight, so the second element begins at 8.
@g0 = addrspace(1) global [2 x i51] [i51 5, i51 6]
