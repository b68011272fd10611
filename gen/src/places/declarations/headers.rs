//! Features under different versions, targets and address sizes.

use crate::places::{PlaceFamily, lines, words};

const FEATURES: &str = "
.global .u32 x;
.global .u32 x = 1;
.global .u32 x[] = {1};
.global .u32 x<2>;
.global .u64 x; .global .u64 y = x;
.global .u64 x; .global .u64 y = generic(x);
.global .u32 x; .global .u8 y = 0xff(x);
.global .u8 y = 0xff(1);
.func f() { ret; } .global .u64 y = f;
.func f() { ret; } .global .u64 y = generic(f);
.entry k() { ret; } .global .u64 y = k;
.weak .global .u32 x;
.common .global .u32 x;
.global .attribute(.managed) .u32 x;
.global .b128 x;
.global .f16 x;
.global .f16x2 x;
.global .bf16 x;
.global .f64 x = 1.0;
.global .texref x;
.global .surfref x;
.tex .u32 x;
.const .u32 x = 1;
.shared .u32 x;
.extern .shared .u32 x[];
.entry k() { ret; }
.entry k(.param .u32 p) { .reg .u32 r; ld.param.u32 r, [p]; ret; }
.entry k(.param .u64 .ptr .global .align 8 p) { ret; }
.entry k() { .reg .u32 r; mov.u32 r, %laneid; ret; }
.entry k() { .local .u32 x; st.local.u32 [x], 1; ret; }
.entry k() { .reg .u64 r; ld.global.u64 r, [r]; ret; }
.entry k() { .reg .u32 r; ld.u32 r, [r]; ret; }
.func f() { ret; } .entry k() { call f; ret; }
.func f() { ret; } .entry k() { .reg .u64 r; mov.u64 r, f; ret; }
.global .u32 a[2]; .entry k() { .reg .u64 r; mov.u64 r, a[1]; ret; }
.entry k() { .reg .v4 .f32 v; mov.f32 v.x, 1.0; ret; }
.entry k() { bar.sync 0; ret; }
.func f() .noreturn { ret; }
.alias x, y; .func y() { ret; }
.pragma \"nounroll\";
.file 1 \"a\"
.section .debug_str { .b8 1 }
@@DWARF .b8 1
";

/// Features that depend on the target and the address size.
const FEW_FEATURES: &str = "
.global .u32 x = 1;
.global .u64 x; .global .u64 y = generic(x);
.global .u32 x; .global .u32 y = x;
.global .f64 x = 1.0;
.global .attribute(.managed) .u32 x;
.entry k() { .reg .u32 r; ld.u32 r, [r]; ret; }
.global .u32 a[2]; .entry k() { .reg .u64 r; mov.u64 r, a[1]; ret; }
.func f() { ret; } .entry k() { .reg .u64 r; mov.u64 r, f; ret; }
";

const VERSIONS: &str = "0.9 1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 2.4 3.0 3.1 3.2 3.9 4.0 4.1 4.2 4.3 4.9 5.0 5.1 6.0 6.1 6.2 6.3 6.4 6.5 6.9 \
    7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 7.9 8.0 8.3 8.5 9.0 9.9 10.0 65536.0 4294967296.0 7.4294967296 -1.0 7 7. .7 7.7.7 7.70 7.07 07.7 0x7.7 1e1 nosuch";

const TARGETS: &str = "
sm_80
sm_10
sm_20
sm_30
sm_50
sm_52
sm_75
sm_90
sm_90a
sm_100
sm_120
compute_80
sm_81
sm_0
sm_4294967296
sm_80,sm_90
sm_80,texmode_independent
sm_80,texmode_unified
sm_80,texmode_unified,texmode_independent
texmode_independent
sm_80,debug
sm_80,map_f64_to_f32
sm_10,map_f64_to_f32
sm_80,nosuch
80
none :=
";

const SIZES: &str = "
none :=
.address_size 64
.address_size 32
.address_size 16
.address_size 0
.address_size 64 .address_size 64
.address_size 64 .address_size 32
.address_size 4294967360
.address_size
";

pub(super) fn families() -> Vec<PlaceFamily> {
    vec![
        PlaceFamily::new("versions", vec![words(VERSIONS), lines(FEATURES)], |c| {
            format!(".version {}\n.target sm_80\n.address_size 64\n{}\n", c[0], c[1])
        }),
        PlaceFamily::new(
            "headers",
            vec![words("3.1 7.7"), lines(TARGETS), lines(SIZES), lines(FEW_FEATURES)],
            |c| {
                let target = if c[1].is_empty() { String::new() } else { format!(".target {}\n", c[1]) };
                format!(".version {}\n{target}{}\n{}\n", c[0], c[2], c[3])
            },
        ),
    ]
}
