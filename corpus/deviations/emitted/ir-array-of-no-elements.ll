; deviation: wrong-value
; title: an object of no bytes that is not all zero is printed as an array of no elements
; releases: llc 14 and later
; symptom: a dimension that is no positive integer
; first-seen: 2026-11-28
; work-around: Write zeroinitializer.
; found: `ptxsmith emit run --subject llc@22`.
; note: Dimensions of PTX are positive (5.4.2, Arrays); ptxas refuses it. With zeroinitializer llc prints one byte.
@g0 = addrspace(1) global [2 x {}] [{} {}, {} undef]
