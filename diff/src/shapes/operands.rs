//! Shapes of operands that are no addresses.

use ptxsmith_oracle::special_register;
use ptxsmith_syntax::{FunctionKind, Text, read_number};

use super::words::{Name, Shaped, integer, is_integer, is_name, lists, operands, sinks};

/// The name of a function or kernel as an operand of a `cvt`.
pub fn converted_function(module: &Shaped<'_>) -> bool {
    module.any(|words| words.instructions(&["cvt"]).any(|own| own.iter().any(|word| words.is_function(word))))
}

/// The name of a function or kernel as what an `st` or a `multimem.st` of a bit-size type stores, a `mov` of four elements moves, or a
/// `tensormap.replace` puts in.
pub fn stored_function(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let has = |own: &[Text], suffixes: &[&str]| own.iter().any(|word| suffixes.contains(&&**word));
        words.instructions(&["st", "multimem", "mov", "tensormap"]).any(|own| {
            let wide = match &*own[0] {
                "st" | "multimem" => has(own, &[".b8", ".b16", ".b32", ".b64", ".b128"]),
                "tensormap" => has(own, &[".replace"]),
                _ => has(own, &[".v4"]),
            };
            wide && own.last().is_some_and(|word| words.is_function(word))
        })
    })
}

/// A floating-point register plus a constant.
pub fn float_register_sum(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_float = |name: &Name| matches!(name, Name::Register(ty, _) if ty.starts_with(".f"));
        words.has(|[name, plus]| plus == "+" && words.is(name, is_float))
    })
}

/// A `.param` variable of a body plus a constant, or an element of it, outside of brackets.
pub fn parameter_sum(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_param = |name: &Name| matches!(name, Name::Variable(space, true) if space == ".param");
        words.has(|[before, name, behind]| {
            !before.starts_with('.')
                && before != "["
                && ["+", "-", "["].contains(&behind)
                && words.is(name, is_param)
        })
    })
}

/// A `.local` or `.param` variable in a list of an instruction, or any variable in one of an instruction that changes memory as a whole.
pub fn address_in_list(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_own = |name: &Name| matches!(name, Name::Variable(space, true) if [".local", ".param"].contains(&&**space));
        let mut instructions =
            words.statements().filter(|own| own.first().is_some_and(|w| !w.starts_with('.')));
        instructions.any(|own| {
            let changes = ["atom", "multimem", "red"].contains(&&*own[0]);
            let is_own = |name: &Name| is_own(name) || changes && matches!(name, Name::Variable(..));
            let mut depth = 0_usize;
            own.iter().any(|word| {
                match &**word {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    _ => return depth > 0 && words.is(word, is_own),
                }
                false
            })
        })
    })
}

/// A list of integer constant expressions for an instruction of `.f64`.
pub fn integer_list_for_f64(module: &Shaped<'_>) -> bool {
    let is_part = |word: &str| word == "WARP_SZ" || read_number(word).is_some() || !is_name(word);
    // What compares floating-point numbers is an integer too.
    let is_whole = |word: &Text| {
        is_integer(word) || ["WARP_SZ", "==", "!=", "<", "<=", ">", ">=", "!"].contains(&&**word)
    };
    let has_number = |list: &[Text]| list.iter().any(is_whole);
    module
        .words()
        .statements()
        .filter(|own| own.iter().any(|word| word == ".f64"))
        .any(|own| lists(own).any(|list| has_number(list) && list.iter().all(|word| is_part(word))))
}

/// A list, for an instruction of `.f32` or `.f64`, of a signed integer constant and an integer that is none: unsigned, a register, an address.
pub fn mixed_integer_list(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_signed =
            |word: &str| word == "WARP_SZ" || integer(word).is_some() && !word.ends_with(['U', 'u']);
        let is_other = |word: &str| {
            let of_floats = |name: &Name| matches!(name, Name::Register(ty, _) if ty.starts_with(".f"));
            integer(word).is_some() && !is_signed(word)
                || word.starts_with('%')
                || words.is(word, |name| {
                    matches!(name, Name::Register(..) | Name::Variable(..)) && !of_floats(name)
                })
        };
        let of_floats = |own: &&[Text]| own.iter().any(|word| [".f32", ".f64"].contains(&&**word));
        words.statements().filter(of_floats).any(|own| {
            lists(own)
                .any(|list| list.iter().any(|word| is_signed(word)) && list.iter().any(|word| is_other(word)))
        })
    })
}

/// A call with arguments through a prototype that has a vector.
pub fn vector_prototype(module: &Shaped<'_>) -> bool {
    let words = module.words();
    let is_vector = |word: &Text| [".v2", ".v4"].contains(&&**word);
    let prototypes = words
        .statements()
        .filter(|own| own.get(2).is_some_and(|word| word == ".callprototype") && own.iter().any(is_vector));
    let mut calls = words.instructions(&["call"]);
    let labels: Vec<&Text> = prototypes.filter_map(|own| own.first()).collect();
    calls.any(|own| {
        own.last().is_some_and(|last| labels.contains(&last)) && own.iter().any(|word| word == "(")
    })
}

/// A list of several or a vector as what an `suld` of one value gives.
pub fn surface_load_list(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["suld"]).any(|own| {
            let to = operands(own);
            // Of one value a list of one is taken.
            let of_several = to.get(2).is_some_and(|word| word != "}");
            !own.iter().any(|word| [".v2", ".v4"].contains(&&**word))
                && to.first().is_some_and(|to| to == "{" && of_several || words.is(to, Name::is_vector))
        })
    })
}

/// A number where a call gives its result.
pub fn constant_result(module: &Shaped<'_>) -> bool {
    let words = module.words();
    words.instructions(&["call"]).any(|own| {
        let mut words = own.iter().skip_while(|word| *word == "call" || word.starts_with('.'));
        words.next().is_some_and(|word| word == "(")
            && words.next().is_some_and(|word| integer(word).is_some())
    })
}

/// An element that a vector register lacks.
pub fn missing_element(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let place = |suffix: &str| match suffix {
            ".x" | ".r" => Some(0),
            ".y" | ".g" => Some(1),
            ".z" | ".b" => Some(2),
            ".w" | ".a" => Some(3),
            _ => None,
        };
        words.has(|[name, suffix]| {
            let lacks = |at: usize| {
                words.is(name, |name| matches!(name, Name::Register(_, lanes) if *lanes > 1 && at >= *lanes))
            };
            place(suffix).is_some_and(lacks)
        })
    })
}

/// A part of a scalar, such as `r.b0` or `r.h1`, in a list.
pub fn part_in_list(module: &Shaped<'_>) -> bool {
    const PARTS: [&str; 6] = [".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];
    module.any(|words| {
        let is_register = |word: &str| words.is(word, |name| matches!(name, Name::Register(..)));
        words.statements().any(|own| {
            lists(own)
                .any(|list| list.windows(2).any(|run| is_register(&run[0]) && PARTS.contains(&&*run[1])))
        })
    })
}

/// The name of a function as an operand of an instruction on two predicates.
pub fn function_as_predicate(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["and", "or", "xor"]).any(|own| {
            own.get(1).is_some_and(|word| word == ".pred") && own.iter().any(|word| words.is_function(word))
        })
    })
}

/// A predicate plus a constant.
pub fn predicate_sum(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_predicate =
            |name: &str| words.is(name, |name| matches!(name, Name::Register(ty, _) if ty == ".pred"));
        words.has(|[name, plus]| plus == "+" && is_predicate(name))
    })
}

/// `_` as the result of an instruction with one of these opcodes.
fn sink_result(module: &Shaped<'_>, opcodes: &[&str]) -> bool {
    module.words().instructions(opcodes).any(sinks)
}

/// `_` as the result of an instruction on matrices or tensor memory, of a reduction of many memories, of a question about a cluster, or
/// of a conversion.
pub fn sink_matrix(module: &Shaped<'_>) -> bool {
    const OPCODES: [&str; 8] =
        ["ldmatrix", "movmatrix", "mma", "wmma", "wgmma", "tcgen05", "clusterlaunchcontrol", "cvt"];
    sink_result(module, &OPCODES)
        || module
            .words()
            .instructions(&["multimem"])
            .any(|own| sinks(own) && own.iter().any(|word| word == ".ld_reduce"))
}

/// `_` as the result of a load, a move or a texture access.
pub fn sink_load(module: &Shaped<'_>) -> bool {
    sink_result(module, &["ld", "ldu", "mov", "tex"])
}

/// `_` as the result of a load of 32 bytes.
pub fn sink_wide_load(module: &Shaped<'_>) -> bool {
    module.words().instructions(&["ld"]).any(|own| {
        let has = |suffixes: &[&str]| own.iter().any(|word| suffixes.contains(&&**word));
        let is_wide = has(&[".v8"]) || has(&[".v4"]) && has(&[".b64", ".u64", ".s64", ".f64"]);
        is_wide && sinks(own)
    })
}

/// A vector register where an `atom` of vectors, an instruction on matrices, an access to tensor memory or a copy of a tensor has a
/// list, or a texture access has its offsets or its sampler.
pub fn vector_for_list(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["atom", "tcgen05", "mma", "wmma", "wgmma", "cp", "tex", "tld4"]).any(|own| {
            let has = |suffixes: &[&str]| own.iter().any(|word| suffixes.contains(&&**word));
            let takes_list = match &*own[0] {
                "atom" => has(&[".v2", ".v4", ".v8"]),
                "tcgen05" => has(&[".ld", ".st"]),
                "cp" => has(&[".tensor"]),
                _ => true,
            };
            let whole = |at: usize| {
                own.get(at + 1).is_none_or(|next| !next.starts_with('.'))
                    && words.is(&own[at], Name::is_vector)
            };
            // The result of a texture access is a vector, and its coordinates may be one; its sampler is none.
            let first = match (&*own[0], own.iter().position(|word| word == "]")) {
                ("tex" | "tld4", Some(end)) => end,
                ("tex" | "tld4", None) => own.len(),
                _ => 1,
            };
            let sampler = |at: usize| own[at - 1] == "," && own.get(at + 1).is_some_and(|next| next == ",");
            takes_list && ((first..own.len()).any(whole) || (2..first).any(|at| whole(at) && sampler(at)))
        })
    })
}

/// One value for the two or four that an `sust` or `st.async` of a vector stores.
pub fn scalar_for_surface_vector(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["sust", "st"]).any(|own| {
            let has = |words: &[&str]| own.iter().any(|word| words.contains(&&**word));
            let behind = own.iter().position(|word| word == "]").and_then(|end| own.get(end + 1..end + 3));
            let scalar = |value: &str| is_name(value) && !words.is(value, Name::is_vector) && value != "_";
            (own[0] == "sust" || has(&[".async"]))
                && has(&[".v2", ".v4"])
                && matches!(behind, Some([comma, value]) if comma == "," && scalar(value))
        })
    })
}

/// A predicate in an operand of a copy or prefetch of a tensor.
pub fn predicate_in_tensor_copy(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_predicate = |name: &Name| matches!(name, Name::Register(ty, _) if ty == ".pred");
        words.instructions(&["cp"]).any(|own| {
            own.iter().any(|word| word == ".tensor")
                && operands(own).iter().any(|word| words.is(word, is_predicate))
        })
    })
}

/// A constant, a sum or a function as a value of an `atom` of 128 bits.
pub fn constant_in_wide_atom(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["atom"]).any(|own| {
            let behind = own.iter().position(|word| word == "]").map(|end| &own[end + 1..]);
            let odd = |word: &Text| {
                word == "+" || word == "WARP_SZ" || read_number(word).is_some() || words.is_function(word)
            };
            own.iter().any(|word| word == ".b128") && behind.is_some_and(|values| values.iter().any(odd))
        })
    })
}

/// A number, a label or a name that nothing declares as the address of a `tcgen05.shift` or `tcgen05.cp`.
pub fn absolute_tensor_shift(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let odd = |pair: &[Text]| pair[0] == "[" && pair[1] != "_" && !words.declares(&pair[1]);
        words
            .instructions(&["tcgen05"])
            .any(|own| own.iter().any(|word| [".shift", ".cp"].contains(&&**word)) && own.windows(2).any(odd))
    })
}

/// A copy of a tensor with a name in place of the brackets of its second operand, or a texture, sampler, surface or negated predicate
/// in place of the brackets of any.
pub fn tensor_copy_without_brackets(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["cp"]).any(|own| {
            let behind = own.iter().position(|word| word == "]").and_then(|end| own.get(end + 1..end + 3));
            let bare = |word: &Text| word == "!" || words.is(word, |name| *name == Name::Opaque);
            let operands = operands(own);
            let begins = |at: usize| at == 0 || operands[at - 1] == ",";
            let has = |suffix: &str| own.iter().any(|word| word == suffix);
            // Behind the address of a prefetch stands its cache policy.
            let lacks =
                |pair: &[Text]| pair[0] == "," && pair[1] != "[" && pair[1] != "{" && !has(".prefetch");
            has(".tensor")
                && (behind.is_some_and(lacks)
                    || (0..operands.len()).any(|at| begins(at) && bare(&operands[at])))
        })
    })
}

/// One scalar as the coordinates of a texture or surface that has several.
pub fn scalar_coordinate(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        words.instructions(&["tex", "sured"]).any(|own| {
            // A register with a comma behind it is a sampler.
            let scalar = |run: &[Text]| {
                run[0] == "[" && run[2] == "," && run[4] == "]" && !words.is(&run[3], Name::is_vector)
            };
            !own.iter().any(|word| word == ".1d") && own.windows(5).any(scalar)
        })
    })
}

/// A list of an integer register, a special one too, or a variable, and an integer constant in a texture access.
pub fn mixed_texture_list(module: &Shaped<'_>) -> bool {
    module.any(|words| {
        let is_own =
            |name: &str| words.is(name, |name| matches!(name, Name::Register(..) | Name::Variable(..)));
        let is_register = |name: &str| is_own(name) || special_register(name);
        words.instructions(&["tex", "tld4"]).any(|own| {
            own.windows(4).any(|run| {
                run[0] == "{" && is_register(&run[1]) && run[2] == "," && integer(&run[3]).is_some()
            })
        })
    })
}

/// The name of a function as a floating-point operand, in a module of two kernels or more.
pub fn float_function(module: &Shaped<'_>) -> bool {
    let words = module.words();
    let kernels = module.functions().filter(|function| function.kind == FunctionKind::Entry).count();
    let is_float = |word: &Text| [".f32", ".f64"].contains(&&**word);
    kernels > 1
        && words.statements().any(|own| {
            own.first().is_some_and(|word| !word.starts_with('.') && word != "mov")
                && own.iter().any(is_float)
                && own.last().is_some_and(|word| words.is_function(word))
        })
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    fn kernel(code: &str) -> Shaped<'static> {
        let registers =
            ".reg .b64 d; .reg .b32 r<4>; .reg .v2 .b32 v; .reg .v2 .f32 w; .reg .f32 f; .reg .pred p;";
        module(&format!(".global .texref t; .entry k() {{ {registers} {code} ret; }}"))
    }

    #[test]
    fn a_special_register_is_a_coordinate_as_others_are() {
        assert!(mixed_texture_list(&kernel("tld4.r.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {%laneid, 1}];")));
        assert!(!mixed_texture_list(&kernel("tld4.r.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {%laneid, r1}];")));
    }

    #[test]
    fn a_result_is_dropped_behind_an_opcode_of_words_with_colons_too() {
        assert!(sink_matrix(&kernel("mma.sp::ordered_metadata.sync.aligned.m16n8k16 _, {r0, r1}, r2;")));
        assert!(!sink_matrix(&kernel(
            "mma.sp::ordered_metadata.sync.aligned.m16n8k16 {r0, r1}, {r2, _}, r3;"
        )));
        assert!(
            sink_wide_load(&kernel("ld.global.v4.b64 _, [d];"))
                && !sink_wide_load(&kernel("ld.global.v4.b32 _, [d];"))
        );
        assert!(!sink_wide_load(&kernel("ld.global.v8.b32 {_, r0, r1, r2, _, _, _, _}, [d];")));
    }

    #[test]
    fn a_vector_stands_for_a_list_where_it_is_whole_and_a_list_belongs() {
        assert!(vector_for_list(&kernel("atom.global.v2.f32.add w, [d], {f, f};")));
        assert!(vector_for_list(&kernel("tcgen05.st.sync.aligned.32x32b.x2.b32 [r0], v;")));
        assert!(vector_for_list(&kernel("tex.1d.v4.f32.f32 w, [t, {f}], v;")));
        assert!(vector_for_list(&kernel("tld4.r.2d.v4.f32.f32 w, [t, v, v];")));
        for code in [
            "atom.global.v2.f32.add {f, f}, [d], {w.x, w.y};",
            "tcgen05.wait::ld.sync.aligned;",
            "tcgen05.cp.cta_group::1.128x256b [r0], v;",
            "ld.global.v2.b32 v, [d];",
            "atom.global.add.f32 f, [d], w;",
            "tex.2d.v4.f32.f32 w, [t, v];",
        ] {
            assert!(!vector_for_list(&kernel(code)), "{code}");
        }
    }

    #[test]
    fn the_address_behind_the_comma_of_a_tensor_copy_has_brackets() {
        let copy = "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [d, {r0}],";
        assert!(tensor_copy_without_brackets(&kernel(&format!("{copy} t;"))));
        assert!(!tensor_copy_without_brackets(&kernel(&format!("{copy} [r1];"))));
        let load = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes";
        assert!(tensor_copy_without_brackets(&kernel(&format!("{load} t, [d, {{r0}}], [r1];"))));
        assert!(!tensor_copy_without_brackets(&kernel(&format!("{load} [r2], [d, {{r0}}], [r1], d;"))));
        let prefetch = "cp.async.bulk.prefetch.tensor.1d.L2.global.L2::cache_hint [d, {r0}], d;";
        assert!(!tensor_copy_without_brackets(&kernel(prefetch)));
        assert!(predicate_in_tensor_copy(&kernel(&format!("{load} [r2], [p, {{r0}}], [r1];"))));
        assert!(!predicate_in_tensor_copy(&kernel(&format!("@p {load} [r2], [d, {{r0}}], [r1];"))));
    }

    #[test]
    fn a_surface_takes_as_many_values_and_coordinates_as_its_words_say() {
        assert!(scalar_for_surface_vector(&kernel("sust.b.1d.v4.b32.trap [t, {r0}], r1;")));
        for code in ["sust.b.1d.b32.trap [t, {r0}], r1;", "sust.b.1d.v2.b32.trap [t, {r0}], v;"] {
            assert!(!scalar_for_surface_vector(&kernel(code)), "{code}");
        }
        assert!(scalar_coordinate(&kernel("sured.b.add.2d.u32.trap [t, r0], r1;")));
        for code in [
            "tex.2d.v4.f32.s32 w, [t, v];",
            "tex.1d.v4.f32.s32 w, [t, r0];",
            "tex.2d.v4.f32.f32 w, [d, d, {f, f}];",
        ] {
            assert!(!scalar_coordinate(&kernel(code)), "{code}");
        }
    }

    #[test]
    fn a_surface_load_of_a_vector_takes_a_list() {
        assert!(surface_load_list(&kernel("suld.b.2d.b32.trap {r0, r1}, [t, {r2, r3}];")));
        assert!(!surface_load_list(&kernel("suld.b.2d.v2.b32.trap {r0, r1}, [t, {r2, r3}];")));
    }

    #[test]
    fn a_list_of_what_memory_is_changed_by_has_no_variable() {
        let of = |code: &str| {
            address_in_list(&module(&format!(".global .u32 g; .entry k() {{ .reg .b64 d; {code} ret; }}")))
        };
        assert!(of("red.global.v2.f32.add [d], {g, g};") && !of("st.global.v2.b64 [d], {g, g};"));
    }

    #[test]
    fn an_atom_of_128_bits_takes_registers() {
        let atom = |values: &str| kernel(&format!(".reg .b128 q; atom.global.cas.b128 q, [d], {values};"));
        assert!(constant_in_wide_atom(&atom("q, 1")) && constant_in_wide_atom(&atom("d + 4, q")));
        assert!(constant_in_wide_atom(&atom("q, WARP_SZ")) && !constant_in_wide_atom(&atom("q, q")));
        assert!(!constant_in_wide_atom(&kernel(".reg .b128 q; atom.global.cas.b128 q, [d + 16], q, q;")));
        assert!(!constant_in_wide_atom(&kernel("atom.global.cas.b64 d, [d], d, 1;")));
    }

    #[test]
    fn an_integer_of_any_size_makes_a_list_of_integers() {
        let list = |values: &str| {
            module(&format!(".entry k() {{ .reg .v2 .f64 w; mov.v2.f64 w, {{{values}}}; ret; }}"))
        };
        assert!(integer_list_for_f64(&list("18446744073709551616, 18446744073709551616")));
        assert!(!integer_list_for_f64(&list("1.0, 2.0")));
    }

    #[test]
    fn an_integer_beside_a_register_of_bits_is_a_mixed_list_of_doubles_too() {
        let list = |values: &str| {
            module(&format!(
                ".entry k() {{ .reg .b64 b; .reg .f64 d; .reg .v2 .f64 w; mov.v2.f64 w, {{{values}}}; ret; }}"
            ))
        };
        assert!(mixed_integer_list(&list("b, 0")));
        assert!(!mixed_integer_list(&list("d, 0")) && !mixed_integer_list(&list("b, 0.0")));
    }

    #[test]
    fn a_name_is_what_its_own_function_declares() {
        let two = |code: &str| {
            module(&format!(
                ".func f() {{ .reg .pred %r1; .reg .f32 %r2; .reg .u32 a<3>; ret; }} \
                 .func g() {{ .reg .u32 %r<3>; .reg .f32 a1; {code} ret; }}"
            ))
        };
        assert!(!predicate_sum(&two("add.u32 %r1, %r1 + 4, 1;")));
        assert!(!float_register_sum(&two("add.u32 %r1, %r2 + 4, 1;")));
        assert!(float_register_sum(&two("add.f32 a1, a1 + 4, a1;")));
        assert!(predicate_sum(&module(".func g() { .reg .pred p<3>; mov.pred p1, p2 + 1; ret; }")));
    }

    #[test]
    fn a_list_of_one_is_a_value_of_a_surface() {
        let load = |to: &str| {
            module(&format!(
                ".global .surfref s; .entry k() {{ .reg .b32 r, i; suld.b.1d.b32.trap {to}, [s, {{i}}]; }}"
            ))
        };
        assert!(surface_load_list(&load("{r, r}")));
        assert!(!surface_load_list(&load("{r}")) && !surface_load_list(&load("r")));
    }

    #[test]
    fn parts_count_in_lists_and_functions_as_predicates() {
        let kernel = |code: &str| {
            module(&format!(
                ".func f() {{ ret; }} .entry k() {{ .reg .f32 r<4>; .reg .v2 .u32 v; .reg .pred q; {code} ret; }}"
            ))
        };
        assert!(part_in_list(&kernel("mov.v2.f32 {r0, r1}, {r2, r3.b0};")));
        assert!(
            !part_in_list(&kernel("mov.f32 r0, r3.b0;"))
                && !part_in_list(&kernel("mov.v2.u32 {r0, r1}, {v.x, v.b};"))
        );
        assert!(
            function_as_predicate(&kernel("and.pred q, f, q;"))
                && function_as_predicate(&kernel("xor.pred q, q, k;"))
        );
        assert!(
            !function_as_predicate(&kernel("mov.pred q, f;"))
                && !function_as_predicate(&kernel("and.pred q, q, q;"))
        );
    }

    #[test]
    fn only_a_function_that_is_converted_counts() {
        let kernel =
            |code: &str| module(&format!(".func f() {{ ret; }} .entry k() {{ .reg .u64 d; {code} ret; }}"));
        assert!(
            converted_function(&kernel("cvt.u64.u32 d, f;"))
                && converted_function(&kernel("cvt.u64.u32 d, k;"))
        );
        assert!(
            !converted_function(&kernel("mov.u64 d, f;"))
                && !converted_function(&kernel("cvt.u64.u32 d, d;"))
        );
    }

    #[test]
    fn an_element_is_missing_from_its_number_on() {
        assert!(missing_element(&kernel("mov.b32 r0, v.z;")) && missing_element(&kernel("mov.b32 r0, v.a;")));
        assert!(
            !missing_element(&kernel("mov.b32 r0, v.y;")) && !missing_element(&kernel("mov.b32 r0, r1.z;"))
        );
    }

    #[test]
    fn what_other_copies_take_is_no_deviation_of_a_tensor_copy() {
        assert!(!vector_for_list(&kernel("tex.1d.v4.f32.s32 w, t;")));
        assert!(!predicate_in_tensor_copy(&kernel("cp.async.ca.shared.global [d], [d], 4, p;")));
        assert!(!tensor_copy_without_brackets(&kernel(
            "cp.async.bulk.global.shared::cta.bulk_group [d], t;"
        )));
        let copy = "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [d, {r0}],";
        assert!(tensor_copy_without_brackets(&kernel(&format!("{copy} d;"))));
        let load = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes";
        assert!(tensor_copy_without_brackets(&kernel(&format!("{load} [r2], [d, {{r0}}], t;"))));
    }

    #[test]
    fn a_tensor_shift_has_a_register_or_nothing_in_brackets() {
        let shift = |address: &str| {
            absolute_tensor_shift(&kernel(&format!("@p tcgen05.shift.cta_group::1.down {address};")))
        };
        assert!(shift("[5]") && shift("[unknown]"));
        assert!(!shift("[r0]") && !shift("[_]"));
        assert!(!absolute_tensor_shift(&kernel("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [5];")));
    }

    #[test]
    fn a_floating_point_operand_that_is_a_function_counts_beside_another_kernel() {
        let of = |kernels: &str, code: &str| {
            let heads = ".func f() { ret; } .func (.reg .f32 r) g () { ret; }";
            float_function(&module(&format!(
                "{heads} {kernels} .entry k(.param .f32 q) {{ .reg .f32 x; .reg .b64 d; {code} ret; }}"
            )))
        };
        let another = ".entry j() { ret; }";
        assert!(of(another, "add.f32 x, x, f;") && of(another, "add.f32 x, x, g;"));
        assert!(!of("", "add.f32 x, x, f;"));
        for code in ["add.u64 d, d, f;", "mov.f32 x, f;", "add.f32 x, x, x;", "add.f32 x, x, q;"] {
            assert!(!of(another, code), "{code}");
        }
    }

    #[test]
    fn a_list_ends_at_its_brace() {
        let of = |code: &str| {
            let own = ".local .u32 x[2]; .reg .u32 r;";
            address_in_list(&module(&format!(".entry k() {{ {own} {code} ret; }}")))
        };
        assert!(of("st.local.v2.u32 [x], {x, r};") && !of("ld.local.v2.u32 {r, r}, [x];"));
        let doubles = "mov.v2.f64 w, {WARP_SZ, WARP_SZ};";
        assert!(integer_list_for_f64(&module(&format!(".entry k() {{ .reg .v2 .f64 w; {doubles} ret; }}"))));
    }
}
