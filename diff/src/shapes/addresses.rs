//! Shapes of addresses in instructions.

use std::collections::BTreeSet;

use ptxsmith_oracle::special_register;
use ptxsmith_syntax::{ScalarType, Text};

use super::words::{Name, OPAQUE, SPACES, Shaped, integer, is_name, sinks};

/// A special register in brackets, alone or with an offset: a name with `%` that nothing declares.
pub fn special_register_address(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        // Under its name ptxas finds the special register, whatever is declared.
        let is_special = |name: &str| !words.declares(name) || special_register(name);
        words.has(|[open, name]| open == "[" && name.starts_with('%') && is_special(name))
    })
}

/// A texture, sampler or surface as the address of an instruction that changes memory or fetches it.
pub fn opaque_address(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let mut memory = words.instructions(&[
            "applypriority",
            "atom",
            "cp",
            "discard",
            "red",
            "prefetch",
            "prefetchu",
            "stmatrix",
        ]);
        let is_opaque = |pair: &[Text]| pair[0] == "[" && words.is(&pair[1], |name| *name == Name::Opaque);
        memory.any(|own| own.windows(2).any(is_opaque))
    })
}

/// A register of 16 bits or less as the address of an instruction that only fetches memory, or one of less than 64 as that from
/// which a `cp.async` to shared memory copies.
pub fn narrow_fetched_address(module: &Shaped<'_>) -> bool {
    const FETCHES: [&str; 3] = ["applypriority", "discard", "prefetch"];
    module.any(|words| {
        let is_below = |name: &str, bytes: u64| {
            words.is(name, |name| {
                let size = |ty: &Text| ScalarType::from_keyword(ty).and_then(ScalarType::size);
                matches!(name, Name::Register(ty, 1) if size(ty).is_some_and(|size| size < bytes))
            })
        };
        let addresses = |own: &[Text]| {
            let opened = own.windows(2).filter(|pair| pair[0] == "[");
            opened.map(|pair| pair[1].clone()).collect::<Vec<_>>()
        };
        let fetches = words.instructions(&FETCHES).any(|own| addresses(own).iter().any(|at| is_below(at, 4)));
        // The first address is in shared memory, where 32 bits are enough.
        let copies = || {
            words.instructions(&["cp"]).any(|own| {
                let bulk = own.iter().any(|word| word == ".bulk");
                !bulk && addresses(own).get(1).is_some_and(|from| is_below(from, 8))
            })
        };
        fetches || copies()
    })
}

/// A `.local` variable as the address of an `atom` without a state space.
pub fn local_atomic(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_local = |name: &Name| matches!(name, Name::Variable(space, _) if space == ".local");
        words.instructions(&["atom"]).any(|own| {
            !own.iter().any(|word| SPACES.contains(&&**word))
                && own.windows(2).any(|pair| pair[0] == "[" && words.is(&pair[1], is_local))
        })
    })
}

/// A `.param` variable that a body declares, and that is none of a call, as the address of an `ld`.
pub fn own_parameter_load(module: &Shaped<'_>) -> bool {
    // Before, kernels declared their parameters so.
    if module.version() < Some((2, 0)) {
        return false;
    }
    module.any(|words| {
        let passed: BTreeSet<&Text> = words.instructions(&["call"]).flatten().collect();
        let declared = words.statements().filter(|own| own[0] == ".param").flatten();
        let declared = declared.filter(|name| !passed.contains(name));
        let own: BTreeSet<&str> = declared.map(|name| name.as_str()).collect();
        let is_numbered = |name: &str| {
            let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
            words.is_prefix(prefix) && own.contains(prefix)
        };
        let is_own = |name: &str| own.contains(name) || is_numbered(name);
        words.instructions(&["ld"]).any(|load| load.windows(2).any(|pair| pair[0] == "[" && is_own(&pair[1])))
    })
}

/// `_` in place of the address of a `red` or a `multimem.red`.
pub fn sink_address(module: &Shaped<'_>) -> bool {
    let words = module.words();
    words.instructions(&["red", "multimem"]).any(|own| {
        let reduces = own[0] == "red" || own.get(1).is_some_and(|word| word == ".red");
        reduces && sinks(own)
    })
}

/// An absolute address, of whatever kind its constants are, or one with a name that nothing declares before, in an instruction that
/// names `.unified` behind it.
pub fn unified_absolute(module: &Shaped<'_>) -> bool {
    let words = module.words();
    words.statements().enumerate().any(|(at, own)| {
        let is_before = |word: &Text| words.statements().take(at).flatten().any(|earlier| earlier == word);
        let is_unknown = |word: &Text| {
            // Numbers are declared nowhere, and a common prefix alone is no name.
            let is_late = || words.is_plain(word) && !is_before(word);
            !word.starts_with('%') && (!words.declares(word) || words.is_prefix(word) || is_late())
        };
        let open = own.iter().position(|word| word == "[");
        let close = own.windows(2).position(|pair| pair[0] == "]" && pair[1] == ".unified");
        open.zip(close)
            .is_some_and(|(open, close)| open + 1 < close && own[open + 1..close].iter().all(is_unknown))
    })
}

/// An instruction with an address that may be made of a number or of a register.
const MEMORY: [&str; 6] = ["ld", "ldu", "st", "atom", "red", "prefetch"];

/// An absolute address elsewhere than in `.local`: a constant expression in brackets.
pub fn absolute_address(module: &Shaped<'_>) -> bool {
    let words = module.words();
    let begins = |word: &str| integer(word).is_some() || ["WARP_SZ", "(", "-", "+", "~", "!"].contains(&word);
    words.instructions(&MEMORY).any(|own| {
        !own.iter().any(|word| word == ".local")
            && own.windows(2).any(|pair| pair[0] == "[" && begins(&pair[1]))
    })
}

/// A register of 32 bits as an address of 64.
pub fn narrow_address(module: &Shaped<'_>) -> bool {
    let wide = module.address_size() == Some(64);
    wide && module.any(|words| {
        let is_narrow =
            |name: &Name| matches!(name, Name::Register(ty, _) if [".b32", ".u32", ".s32"].contains(&&**ty));
        words.instructions(&MEMORY).any(|own| {
            !own.iter().any(|word| [".local", ".shared", ".const"].contains(&&**word))
                && own.windows(2).any(|pair| pair[0] == "[" && words.is(&pair[1], is_narrow))
        })
    })
}

/// A variable as the index of another.
pub fn variable_index(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_variable = |name: &str| words.is(name, |name| matches!(name, Name::Variable(..)));
        words.has(|[name, open, index, close]| {
            open == "[" && close == "]" && is_variable(name) && is_variable(index)
        })
    })
}

/// `.texref` and its like behind a name in an instruction, where a part of a register may stand.
pub fn opaque_type_as_part(module: &Shaped<'_>) -> bool {
    module.words().has(|[before, name, ty]| {
        // Behind a label or a guard the name is an opcode.
        let behind = before.starts_with('.') || [",", "{", "(", "|"].contains(&before);
        behind && is_name(name) && OPAQUE.contains(&ty)
    })
}

/// A vector register as an address or as the index of an array.
pub fn vector_address(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.has(|[open, own, next]| open == "[" && words.is(own, Name::is_vector) && !next.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    #[test]
    fn an_address_that_is_fetched_from_has_a_narrow_register() {
        let of = |code: &str| {
            narrow_fetched_address(&module(&format!(
                ".entry k() {{ .reg .b16 h; .reg .b32 b; .reg .b64 d; {code} ret; }}"
            )))
        };
        assert!(of("prefetch.global.L2 [h];") && of("discard.global.L2 [h], 128;"));
        assert!(!of("prefetch.global.L2 [d];") && !of("ld.global.b16 h, [h];"));
        // As compilers print it: shared memory has addresses of 32 bits.
        assert!(
            !of("cp.async.cg.shared.global [b], [d], 16;") && of("cp.async.cg.shared.global [b], [b], 16;")
        );
    }

    #[test]
    fn only_a_local_variable_is_one_and_only_where_no_state_space_is_named() {
        let of = |code: &str| {
            local_atomic(&module(&format!(
                ".global .u32 g; .entry k() {{ .local .u32 l; .reg .u32 r; {code} ret; }}"
            )))
        };
        assert!(of("atom.add.u32 r, [l], 1;"));
        assert!(!of("atom.add.u32 r, [g], 1;") && !of("atom.global.add.u32 r, [l], 1;"));
        assert!(!of("ld.u32 r, [l];") && !of("mov.u32 r, l;"));
    }

    #[test]
    fn a_name_that_stands_before_and_is_declared_nowhere_is_unknown() {
        let load = ".entry k() { .reg .u32 r; mov.u32 r, no; ld.global.u32 r, [no].unified; ret; }";
        assert!(unified_absolute(&module(load)));
        assert!(!unified_absolute(&module(&format!(".global .u32 no; {load}"))));
    }

    #[test]
    fn constants_and_unknown_names_count_as_absolute() {
        let load = |address: &str| {
            module(&format!(
                ".global .u32 g; .entry k() {{ .reg .u32 r; .reg .u64 p; ld.global.u32 r, [{address}].unified; ret; }}"
            ))
        };
        for address in ["16", "WARP_SZ", "-1", "(1)", "1.0", "nosuch"] {
            assert!(unified_absolute(&load(address)), "{address}");
        }
        assert!(!unified_absolute(&load("g")) && !unified_absolute(&load("p")));
    }

    #[test]
    fn a_register_that_is_declared_is_none_of_the_special_ones() {
        let kernel = |code: &str| module(&format!(".entry k() {{ .reg .u64 %a, %b; {code} ret; }}"));
        assert!(special_register_address(&kernel("st.global.u32 [%laneid], 1;")));
        assert!(special_register_address(&kernel("ld.u32 %a, [%clock64 + 4];")));
        assert!(!special_register_address(&kernel("ld.u32 %a, [%b];")));
        assert!(!special_register_address(&kernel("mov.u32 %a, %laneid;")));
        // One of a common prefix is declared, and one of another function is not.
        assert!(!special_register_address(&kernel(".reg .u64 %d<3>; ld.u32 %a, [%d2];")));
        assert!(special_register_address(&module(
            ".func f() { .reg .u64 %d<3>; ret; } .func g() { .reg .u32 %a; ld.u32 %a, [%d2]; ret; }"
        )));
    }

    #[test]
    fn every_constant_is_an_absolute_address() {
        let load = |address: &str| {
            let code = format!("ld.global.u32 r, [{address}].unified;");
            unified_absolute(&module(&format!(".global .u32 g; .entry k() {{ .reg .u32 r; {code} ret; }}")))
        };
        assert!(["16", "0f3f800000", "-(4 + 4)", "WARP_SZ"].into_iter().all(load));
        assert!(!["g", "g + 4", "(g)"].into_iter().any(load));
    }

    #[test]
    fn a_parameter_of_the_kernel_is_none_of_its_body() {
        let load = "ld.param.u32 r, [x]; ret; }";
        assert!(own_parameter_load(&module(&format!(".entry k() {{ .reg .u32 r; .param .u32 x; {load}"))));
        assert!(!own_parameter_load(&module(&format!(
            ".entry k(.param .u32 x) {{ .reg .u32 r; .param .u32 y; {load}"
        ))));
        let numbered = module(".entry k() { .reg .u32 r; .param .u32 x<2>; ld.param.u32 r, [x1]; ret; }");
        assert!(own_parameter_load(&numbered));
        // In versions before 2.0 these are what is passed to the kernel.
        let early = format!(".version 1.4\n.target sm_10\n.entry k {{ .reg .u32 r; .param .u32 x; {load}");
        assert!(!own_parameter_load(&ptxsmith_syntax::parse(&early).unwrap().into()));
        // What a call gives is loaded from such a variable.
        assert!(!own_parameter_load(&module(&format!(
            ".func (.param .u32 y) f() {{ ret; }} .entry k() {{ .reg .u32 r; .param .u32 x; call (x), f; {load}"
        ))));
    }

    #[test]
    fn a_register_of_32_bits_is_an_address_of_a_module_of_32() {
        let module = |size: &str| {
            let text = ".entry k() { .reg .u32 r; ld.global.u32 r, [r]; ret; }";
            let text = format!(".version 7.8\n.target sm_80\n{size}{text}");
            Shaped::from(ptxsmith_syntax::parse(&text).unwrap())
        };
        assert!(narrow_address(&module(".address_size 64\n")));
        assert!(!narrow_address(&module(".address_size 32\n")) && !narrow_address(&module("")));
    }

    #[test]
    fn a_sink_is_the_address_of_a_reduction_alone() {
        let of = |code: &str| sink_address(&module(&format!(".entry k() {{ .reg .u32 r; {code} ret; }}")));
        assert!(of("red.global.add.u32 _, r;") && of("multimem.red.relaxed.sys.global.add.u32 _, r;"));
        assert!(!of("multimem.st.weak.global.u32 _, r;") && !of("red.global.add.u32 [r], r;"));
    }

    #[test]
    fn brackets_without_an_address_are_no_absolute_address() {
        let code = ".entry k() { .reg .u32 r; ld.global.u32 r, [].unified; ret; }";
        assert!(!unified_absolute(&module(code)));
    }
}
