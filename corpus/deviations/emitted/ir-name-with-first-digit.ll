; deviation: wrong-value
; title: an internal variable whose name begins with a digit keeps it
; releases: llc 14 and later
; symptom: is no identifier
; shape: .*named (digits|firstdigit) .*
; first-seen: 2026-11-28
; work-around: Begin names with a letter.
; found: `ptxsmith emit run --subject llc@19`.
; note: Identifiers of PTX begin with a letter or one of _, $ and % (4.4, Identifiers). Other characters that PTX does not allow in names are replaced.
@"9_x" = internal addrspace(1) global i64 6872000000000
@g0 = addrspace(1) global ptr addrspace(1) @"9_x"
