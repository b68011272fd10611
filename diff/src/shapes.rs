//! Shapes of modules that known deviations are about where no rule of the specification is, or where it says only that they are
//! refused: what stands in their tokens, so that a statement that is not understood has its shape too.

use std::collections::BTreeMap;

use ptxsmith_oracle::{declares_no_name, special_register};
use ptxsmith_syntax::{
    Declaration, Declarator, FunctionKind, Item, Linkage, Module, NodeKind, Number, ScalarType, Specifier,
    StateSpace, Statement, Text, print, read_number, tokens,
};

/// A module as statements of words, with what the names in it are.
struct Words {
    statements: Vec<Vec<Text>>,
    /// Of each statement, whether it stands in a body.
    in_body: Vec<bool>,
    names: BTreeMap<Text, Vec<Name>>,
}

/// What a name is declared as.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Function,
    /// With its type and the elements of a vector, or one.
    Register(Text, usize),
    /// With its state space; in a body or not.
    Variable(Text, bool),
    /// A texture, sampler or surface.
    Opaque,
}

const SPACES: [&str; 8] = [".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"];
const OPAQUE: [&str; 3] = [".texref", ".samplerref", ".surfref"];
/// With these words begins what declares a function.
const HEADS: [&str; 2] = [".entry", ".func"];

impl Words {
    fn of(module: &Module) -> Words {
        let text = print(module);
        let mut words = Words { statements: Vec::new(), in_body: Vec::new(), names: BTreeMap::new() };
        let (mut statement, mut lists, mut depth): (Vec<Text>, usize, usize) = (Vec::new(), 0, 0);
        let mut is_head = false;
        for token in tokens(&text).unwrap_or_default() {
            let word = token.text;
            match &*word {
                // Braces in a statement are a list, but behind the head of a function.
                "{" if lists > 0 || !statement.is_empty() && !is_head => lists += 1,
                "}" if lists > 0 => lists -= 1,
                "{" | "}" | ";" => {
                    words.add(std::mem::take(&mut statement), depth > 0);
                    depth = match &*word {
                        "{" => depth + 1,
                        "}" => depth.saturating_sub(1),
                        _ => depth,
                    };
                    (lists, is_head) = (0, false);
                    continue;
                }
                _ => {}
            }
            is_head |= HEADS.contains(&&*word);
            statement.push(word);
        }
        words.add(statement, depth > 0);
        words
    }

    fn add(&mut self, statement: Vec<Text>, in_body: bool) {
        // What is passed is declared in parentheses, one by one.
        let heads = statement.iter().any(|word| HEADS.contains(&&**word));
        for part in statement.split(|word| heads && ["(", ")", ","].contains(&&**word)) {
            self.declare(part, in_body || heads, heads);
        }
        if !statement.is_empty() {
            self.statements.push(statement);
            self.in_body.push(in_body);
        }
    }

    fn declare(&mut self, words: &[Text], in_body: bool, heads: bool) {
        let is_name = |word: &Text| word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c));
        let mut dotted = words.iter().take_while(|word| !is_name(word));
        let space = words.iter().find(|word| SPACES.contains(&&***word));
        let is_opaque = words.iter().any(|word| OPAQUE.contains(&&**word));
        let own = match (space, heads && dotted.any(|word| HEADS.contains(&&**word))) {
            (_, true) => Name::Function,
            (Some(_), _) if is_opaque => Name::Opaque,
            (Some(space), _) if *space == ".reg" => {
                let lanes = words.iter().find_map(|word| word.strip_prefix(".v")?.parse().ok());
                let ty = words.iter().find(|word| ScalarType::from_keyword(word).is_some());
                Name::Register(ty.cloned().unwrap_or_default(), lanes.unwrap_or(1))
            }
            (Some(space), _) => Name::Variable(space.clone(), in_body),
            (None, false) if heads && words.iter().any(is_name) => Name::Function,
            _ => return,
        };
        let names = match words.iter().position(|word| word.starts_with('.')) {
            Some(0) => words,
            _ if heads => words,
            _ => return,
        };
        // A value or a dimension may name others, but not at the depth of the declared names.
        let (mut depth, mut before) = (0_usize, None);
        for word in names {
            match &**word {
                "[" | "{" | "(" | "<" => depth += 1,
                "]" | "}" | ")" | ">" => depth = depth.saturating_sub(1),
                _ if depth == 0 && is_name(word) && before != Some("=") => {
                    self.names.entry(word.clone()).or_default().push(own.clone());
                }
                _ => {}
            }
            before = Some(&**word);
        }
    }

    fn is(&self, name: &str, is: impl Fn(&Name) -> bool) -> bool {
        self.names.get(name).is_some_and(|declared| declared.iter().any(is))
    }

    fn is_function(&self, name: &str) -> bool {
        self.is(name, |declared| *declared == Name::Function)
    }

    /// The instructions of these opcodes, without labels and predicates.
    fn instructions<'w>(&'w self, opcodes: &[&str]) -> impl Iterator<Item = &'w [Text]> {
        self.statements.iter().filter_map(move |words| {
            let at = words.iter().position(|word| opcodes.contains(&&**word))?;
            let guard = words[..at].iter().all(|word| word != "[" && word != ",");
            guard.then_some(&words[at..])
        })
    }

    /// Whether two or more words stand side by side for which this holds.
    fn has<const N: usize>(&self, is: impl Fn([&str; N]) -> bool) -> bool {
        let holds = |run: &[Text]| is(std::array::from_fn(|at| &*run[at]));
        self.statements.iter().any(|words| words.windows(N).any(holds))
    }
}

fn integer(word: &str) -> Option<u64> {
    match read_number(word)? {
        Number::Integer { value, .. } => value,
        _ => None,
    }
}

/// An array whose first dimension is left out or zero, with a single value in place of a list.
pub fn scalar_for_array(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        let opens = |at: usize| match words.get(at..at + 3).unwrap_or_default() {
            [open, close, _] if open == "[" && close == "]" => Some(at + 2),
            [open, zero, close] if open == "[" && integer(zero) == Some(0) && close == "]" => Some(at + 3),
            _ => None,
        };
        (1..words.len()).any(|at| {
            let Some(mut next) = opens(at).filter(|_| words[at - 1] != "]") else { return false };
            while words.get(next).is_some_and(|word| word == "[") {
                next += words[next..].iter().position(|word| word == "]").map_or(words.len(), |end| end + 1);
            }
            let is = |at: usize, word: &str| words.get(at).is_some_and(|own| own == word);
            is(next, "=") && !is(next + 1, "{")
        })
    })
}

/// A special register in brackets, alone or with an offset: a name with `%` that nothing declares.
pub fn special_register_address(module: &Module) -> bool {
    let words = Words::of(module);
    // Under its name ptxas finds the special register, whatever is declared.
    let is_special = |name: &str| !words.names.contains_key(name) || special_register(name);
    words.has(|[open, name]| open == "[" && name.starts_with('%') && is_special(name))
}

/// The name of a function or kernel as the last operand of a `cvt`.
pub fn converted_function(module: &Module) -> bool {
    let words = Words::of(module);
    words.instructions(&["cvt"]).any(|words_of| words_of.last().is_some_and(|word| words.is_function(word)))
}

/// The name of a function or kernel as what an `st` of a bit-size type stores, or a `mov` of four elements moves.
pub fn stored_function(module: &Module) -> bool {
    let words = Words::of(module);
    let has = |own: &[Text], suffixes: &[&str]| own.iter().any(|word| suffixes.contains(&&**word));
    words.instructions(&["st", "mov"]).any(|own| {
        let wide = match &*own[0] {
            "st" => has(own, &[".b8", ".b16", ".b32", ".b64"]),
            _ => has(own, &[".v4"]),
        };
        wide && own.last().is_some_and(|word| words.is_function(word))
    })
}

/// A texture, sampler or surface as the address of an instruction that changes memory or fetches it.
pub fn opaque_address(module: &Module) -> bool {
    let words = Words::of(module);
    let mut memory = words.instructions(&["atom", "red", "prefetch", "prefetchu"]);
    let is_opaque = |pair: &[Text]| pair[0] == "[" && words.is(&pair[1], |name| *name == Name::Opaque);
    memory.any(|own| own.windows(2).any(is_opaque))
}

/// A `.local` variable as the address of an `atom` without a state space.
pub fn local_atomic(module: &Module) -> bool {
    let words = Words::of(module);
    let is_local = |name: &Name| matches!(name, Name::Variable(space, _) if space == ".local");
    words.instructions(&["atom"]).any(|own| {
        !own.iter().any(|word| SPACES.contains(&&**word))
            && own.windows(2).any(|pair| pair[0] == "[" && words.is(&pair[1], is_local))
    })
}

/// A floating-point register plus a constant.
pub fn float_register_sum(module: &Module) -> bool {
    let words = Words::of(module);
    let is_float = |name: &Name| matches!(name, Name::Register(ty, _) if ty.starts_with(".f"));
    words.has(|[name, plus]| plus == "+" && words.is(name, is_float))
}

/// A `.param` variable of a body plus a constant, or an element of it, outside of brackets.
pub fn parameter_sum(module: &Module) -> bool {
    let words = Words::of(module);
    let is_param = |name: &Name| matches!(name, Name::Variable(space, true) if space == ".param");
    words.has(|[before, name, behind]| {
        !before.starts_with('.')
            && before != "["
            && ["+", "-", "["].contains(&behind)
            && words.is(name, is_param)
    })
}

/// A `.param` variable that a body declares as the address of an `ld`.
pub fn own_parameter_load(module: &Module) -> bool {
    let words = Words::of(module);
    let declares = |own: &[Text], name: &Text| own[0] == ".param" && own.contains(name);
    let is_own = |name: &Text| words.statements.iter().any(|own| declares(own, name));
    words.instructions(&["ld"]).any(|own| own.windows(2).any(|pair| pair[0] == "[" && is_own(&pair[1])))
}

/// A `.local` or `.param` variable in a list of an instruction.
pub fn address_in_list(module: &Module) -> bool {
    let words = Words::of(module);
    let is_own =
        |name: &Name| matches!(name, Name::Variable(space, true) if [".local", ".param"].contains(&&**space));
    let mut instructions =
        words.statements.iter().filter(|own| own.first().is_some_and(|w| !w.starts_with('.')));
    instructions.any(|own| {
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
}

/// A list of integer constants for an instruction of `.f64`.
pub fn integer_list_for_f64(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|own| {
        let list = own.iter().skip_while(|word| *word != "{").skip(1).take_while(|word| *word != "}");
        own.iter().any(|word| word == ".f64")
            && list.filter(|word| *word != ",").all(|word| integer(word).is_some())
            && own.windows(2).any(|pair| pair[0] == "{" && integer(&pair[1]).is_some())
    })
}

/// A list or a vector as what an `suld` of one value gives.
pub fn surface_load_list(module: &Module) -> bool {
    let words = Words::of(module);
    words.instructions(&["suld"]).any(|own| {
        let to =
            own.iter().position(|word| !word.starts_with('.') && word != "suld").map_or("", |at| &*own[at]);
        !own.iter().any(|word| [".v2", ".v4"].contains(&&**word))
            && (to == "{" || words.is(to, |name| matches!(name, Name::Register(_, lanes) if *lanes > 1)))
    })
}

/// `_` in place of the address of a `red`.
pub fn sink_address(module: &Module) -> bool {
    let words = Words::of(module);
    words.instructions(&["red"]).any(|own| {
        own.iter().find(|word| !word.starts_with('.') && *word != "red") == Some(&Text::const_new("_"))
    })
}

/// A variable and a function of one name.
pub fn variable_and_function(module: &Module) -> bool {
    let names = Words::of(module).names;
    names.values().any(|declared| {
        declared.contains(&Name::Function)
            && declared.iter().any(|name| matches!(name, Name::Variable(_, false) | Name::Opaque))
    })
}

/// `.maxntid` or `.reqntid` with a number whose low 32 bits are all ones.
pub fn ntid_overflow(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        let at = words.iter().position(|word| [".maxntid", ".reqntid"].contains(&&**word));
        let numbers = at.into_iter().flat_map(|at| &words[at + 1..]);
        let mut numbers = numbers.take_while(|word| *word == "," || integer(word).is_some());
        numbers.any(|word| integer(word).is_some_and(|number| number as u32 == u32::MAX))
    })
}

/// A variable that is aligned at a power of two of 2^28 or more.
pub fn huge_alignment(module: &Module) -> bool {
    let is_huge = |number: &str| integer(number).is_some_and(|n| n >= 1 << 28 && n.is_power_of_two());
    Words::of(module).has(|[word, number]| word == ".align" && is_huge(number))
}

/// A prototype, or a list of functions to call, under the name of a register, a variable or a parameter.
pub fn prototype_name(module: &Module) -> bool {
    let words = Words::of(module);
    words.has(|[name, colon, word]| {
        colon == ":"
            && [".callprototype", ".calltargets"].contains(&word)
            && words.is(name, |name| *name != Name::Function)
    })
}

/// A function that is declared in the body of another, under the name of a register or variable.
pub fn nested_function(module: &Module) -> bool {
    let words = Words::of(module);
    let has_numbered = |name: &str| {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        prefix.len() < name.len() && words.has(|[before, open]| before == prefix && open == "<")
    };
    words.statements.iter().zip(&words.in_body).any(|(own, &in_body)| {
        let heads = own.iter().position(|word| HEADS.contains(&&**word)).filter(|_| in_body);
        let name = heads.and_then(|at| own.get(at + 1));
        name.is_some_and(|name| has_numbered(name) || words.is(name, |name| *name != Name::Function))
    })
}

/// An absolute address in an instruction that names `.unified` behind it.
pub fn unified_absolute(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|own| {
        own.windows(2).any(|pair| pair[0] == "[" && integer(&pair[1]).is_some())
            && own.windows(2).any(|pair| pair[0] == "]" && pair[1] == ".unified")
    })
}

/// An instruction with an address that may be made of a number or of a register.
const MEMORY: [&str; 6] = ["ld", "ldu", "st", "atom", "red", "prefetch"];

/// An absolute address elsewhere than in `.local`: a constant expression in brackets.
pub fn absolute_address(module: &Module) -> bool {
    let words = Words::of(module);
    let begins = |word: &str| integer(word).is_some() || ["WARP_SZ", "(", "-", "+", "~", "!"].contains(&word);
    words.instructions(&MEMORY).any(|own| {
        !own.iter().any(|word| word == ".local")
            && own.windows(2).any(|pair| pair[0] == "[" && begins(&pair[1]))
    })
}

/// A register of 32 bits as an address of 64.
pub fn narrow_address(module: &Module) -> bool {
    let words = Words::of(module);
    let is_narrow =
        |name: &Name| matches!(name, Name::Register(ty, _) if [".b32", ".u32", ".s32"].contains(&&**ty));
    words.instructions(&MEMORY).any(|own| {
        !own.iter().any(|word| [".local", ".shared", ".const"].contains(&&**word))
            && own.windows(2).any(|pair| pair[0] == "[" && words.is(&pair[1], is_narrow))
    })
}

/// A declaration with hundreds of dimensions.
pub fn many_dimensions(module: &Module) -> bool {
    let inner = module.functions().flat_map(|function| function.statements());
    let inner = inner.filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    });
    let passed = module.functions().flat_map(|f| f.results.iter().chain(&f.parameters)).flatten();
    let mut all = module.declarations().chain(inner).chain(passed).flat_map(|own| &own.declarators);
    all.any(|declarator| declarator.dimensions.len() >= 500)
}

/// A declaration without a name.
pub fn nameless(module: &Module) -> bool {
    module.items.iter().any(|item| matches!(item, Item::Unread(unread) if declares_no_name(unread)))
}

/// `.align` given twice in one declaration.
pub fn alignment_twice(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|own| {
        own.split(|word| ["(", ",", ")"].contains(&&**word))
            .any(|part| part.iter().filter(|word| *word == ".align").count() > 1)
    })
}

/// A function or kernel that others may see under the name of a special register.
pub fn special_register_name(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        words.iter().any(|word| [".visible", ".weak", ".extern"].contains(&&**word))
            && words.windows(2).any(|pair| HEADS.contains(&&*pair[0]) && special_register(&pair[1]))
    })
}

/// A number where a call gives its result.
pub fn constant_result(module: &Module) -> bool {
    let words = Words::of(module);
    words.instructions(&["call"]).any(|own| {
        let mut words = own.iter().skip_while(|word| *word == "call" || word.starts_with('.'));
        words.next().is_some_and(|word| word == "(")
            && words.next().is_some_and(|word| integer(word).is_some())
    })
}

/// An element that a vector register lacks.
pub fn missing_element(module: &Module) -> bool {
    let words = Words::of(module);
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
}

/// A variable of 2^31 bytes or more, or one whose rows have 2^31 bits or more.
pub fn size_of_32_bits(module: &Module) -> bool {
    let is_wide = |(declarator, size): (&Declarator, u128)| {
        let rows = declarator.dimensions.first().and_then(Option::as_ref).and_then(|rows| rows.as_integer());
        let row =
            rows.filter(|_| declarator.dimensions.len() > 1).map_or(0, |rows| size / u128::from(rows.max(1)));
        size >> 31 != 0 || row >> 28 != 0
    };
    module.declarations().flat_map(sizes).any(is_wide)
}

/// A `.const` variable, or one with an initial value, of 2^30 bytes or more.
pub fn huge_constant(module: &Module) -> bool {
    module.declarations().any(|declaration| {
        let is_const = declaration.space() == Some(StateSpace::Const);
        sizes(declaration)
            .any(|(declarator, size)| (is_const || declarator.initializer.is_some()) && size >> 30 != 0)
    })
}

/// The variables of a declaration and their sizes in bytes, as far as dimensions are numbers.
fn sizes(declaration: &Declaration) -> impl Iterator<Item = (&Declarator, u128)> {
    let lanes = declaration.specifiers.iter().find_map(|word| match word {
        Specifier::Vector(length) => Some(u128::from(length.count())),
        _ => None,
    });
    let scalar = declaration.scalar_type().and_then(ScalarType::size).unwrap_or(0);
    let size = u128::from(scalar) * lanes.unwrap_or(1);
    declaration.declarators.iter().map(move |declarator| {
        let counts = declarator.dimensions.iter().flatten().map(|count| count.as_integer().unwrap_or(1));
        (declarator, counts.fold(size, |size, count| size.saturating_mul(count.into())))
    })
}

/// So many numbered names that no memory holds them.
pub fn too_many_names(module: &Module) -> bool {
    Words::of(module).has(|[open, count, close]| {
        open == "<"
            && close == ">"
            && read_number(count).is_some()
            && integer(count).is_none_or(|count| count >= 1 << 24)
    })
}

/// The statements that declare one of the names of an earlier PREFIX<N> again, zeros in front of its number or not, with that
/// name and number.
fn repeats_numbered(words: &Words) -> impl Iterator<Item = (&[Text], &str, &str)> {
    words.statements.iter().enumerate().flat_map(move |(at, own)| {
        let declares =
            own.iter().any(|word| SPACES.contains(&&**word)) && !own.iter().any(|word| word == "<");
        let names = own.iter().take_while(|word| *word != "=").filter(|word| words.names.contains_key(*word));
        let names = names.filter(move |_| declares);
        names.filter_map(move |name| {
            let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let number: u64 = name[prefix.len()..].parse().ok()?;
            let repeats = words.statements[..at].iter().any(|before| {
                before.windows(3).any(|run| {
                    run[0] == prefix && run[1] == "<" && integer(&run[2]).is_some_and(|count| number < count)
                })
            });
            repeats.then_some((&own[..], prefix, &name[prefix.len()..]))
        })
    })
}

/// A name of PREFIX<N> declared again with zeros in front of its number, which is another name.
pub fn padded_number_declared(module: &Module) -> bool {
    repeats_numbered(&Words::of(module)).any(|(_, _, number)| number.len() > 1 && number.starts_with('0'))
}

/// A variable in memory under a name that PREFIX<N> declared before, or that name with zeros in front of its number.
pub fn numbered_declared_again(module: &Module) -> bool {
    repeats_numbered(&Words::of(module)).any(|(own, _, _)| !own.iter().any(|word| word == ".reg"))
}

/// An alignment behind the type of a parameter.
pub fn alignment_last(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        words.split(|word| ["(", ",", ")"].contains(&&**word)).any(|own| {
            let align = own.iter().position(|word| word == ".align");
            let ty = own.iter().position(|word| ScalarType::from_keyword(word).is_some());
            own.first().is_some_and(|word| word == ".param")
                && matches!((align, ty), (Some(align), Some(ty)) if ty < align)
        })
    })
}

/// A list for an array of a type that takes no initial value, in which no value stands.
pub fn empty_list_of_halves(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        let value = words.iter().skip_while(|word| *word != "=");
        words.iter().any(|word| [".f16", ".f16x2"].contains(&&**word))
            && words.windows(2).any(|run| run[0] == "]" && run[1] == "=")
            && value.skip(1).all(|word| ["{", "}", ",", ";"].contains(&&**word))
    })
}

/// An array whose first dimension is zero in 64 bits, with an initial value.
pub fn zero_dimension_with_value(module: &Module) -> bool {
    module.declarations().flat_map(|declaration| &declaration.declarators).any(|declarator| {
        let first = declarator.dimensions.first().and_then(Option::as_ref);
        declarator.initializer.is_some()
            && first.is_some_and(|first| first.as_integer().is_none_or(|n| n == 0))
    })
}

/// The name of an `.extern` function in the initial value of a variable that a body declares.
pub fn extern_function_in_body(module: &Module) -> bool {
    let is_extern = |name: &str| {
        module.functions().any(|function| {
            function.name.text == name && function.before.contains(&Specifier::Linkage(Linkage::Extern))
        })
    };
    let functions = module.functions().flat_map(|function| function.statements());
    let inner = functions.filter_map(|statement| match statement {
        Statement::Variables(declaration) => Some(declaration),
        _ => None,
    });
    let values =
        inner.flat_map(|declaration| &declaration.declarators).filter_map(|own| own.initializer.as_ref());
    let mut names = values.flat_map(|value| value.values()).flat_map(|value| value.nodes());
    names.any(|node| matches!(&node.kind, NodeKind::Name(name) if is_extern(name)))
}

/// A list in a list for a texture, sampler or surface.
pub fn opaque_list(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        words.iter().any(|word| OPAQUE.contains(&&**word))
            && words.windows(3).any(|run| run[0] == "=" && run[1] == "{" && run[2] == "{")
    })
}

/// A list for a variable of packed halves.
pub fn packed_list(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        words.iter().any(|word| word == ".f16x2")
            && words.windows(2).any(|run| run[0] == "=" && run[1] == "{")
    })
}

/// A name in a list for a variable of packed halves.
pub fn name_in_packed_list(module: &Module) -> bool {
    let words = Words::of(module);
    packed_list(module)
        && words.statements.iter().any(|own| {
            let list = own.iter().skip_while(|word| *word != "=").skip(1);
            own.iter().any(|word| word == ".f16x2")
                && list.into_iter().any(|word| words.names.contains_key(word))
        })
}

/// An alignment before the state space.
pub fn alignment_first(module: &Module) -> bool {
    Words::of(module).statements.iter().any(|words| {
        let align = words.iter().position(|word| word == ".align");
        let space = words.iter().position(|word| SPACES.contains(&&**word));
        matches!((align, space), (Some(align), Some(space)) if align < space)
    })
}

/// A variable as the index of another.
pub fn variable_index(module: &Module) -> bool {
    let words = Words::of(module);
    let is_variable = |name: &str| words.is(name, |name| matches!(name, Name::Variable(..)));
    words.has(|[name, open, index, close]| {
        open == "[" && close == "]" && is_variable(name) && is_variable(index)
    })
}

/// A name plus an expression with an operator that binds less than a sum, in an initial value.
pub fn offset_expression(module: &Module) -> bool {
    const LESS: [&str; 14] = ["<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?"];
    let words = Words::of(module);
    words.statements.iter().any(|own| {
        let sum = own.windows(2).position(|pair| pair[1] == "+" && words.names.contains_key(&pair[0]));
        let value = own.iter().position(|word| word == "=");
        matches!((value, sum), (Some(value), Some(sum)) if value < sum)
            && own.iter().skip(sum.unwrap_or_default()).any(|word| LESS.contains(&&**word))
    })
}

/// A `.local` variable that is aligned at 2^24 or more.
pub fn local_alignment(module: &Module) -> bool {
    Words::of(module).has(|[space, word, number]| {
        space == ".local" && word == ".align" && integer(number).is_some_and(|align| align >= 1 << 24)
    })
}

/// A predicate plus a constant.
pub fn predicate_sum(module: &Module) -> bool {
    let words = Words::of(module);
    let is_predicate =
        |name: &str| words.is(name, |name| matches!(name, Name::Register(ty, _) if ty == ".pred"));
    words.has(|[name, plus]| plus == "+" && is_predicate(name))
}

/// A vector register as the index of an array.
pub fn vector_index(module: &Module) -> bool {
    let words = Words::of(module);
    let is_vector = |name: &Name| matches!(name, Name::Register(_, lanes) if *lanes > 1);
    let is_variable = |name: &str| words.is(name, |name| matches!(name, Name::Variable(..)));
    words.has(|[name, open, index]| open == "[" && is_variable(name) && words.is(index, is_vector))
}

/// `_` as the result of an instruction with one of these opcodes.
fn sink_result(module: &Module, opcodes: &[&str]) -> bool {
    Words::of(module).instructions(opcodes).any(|own| {
        let mut operands = own.iter().skip(1).filter(|word| !word.starts_with('.'));
        operands.next().is_some_and(|word| word == "_")
    })
}

/// `_` as the result of an instruction on matrices.
pub fn sink_matrix(module: &Module) -> bool {
    sink_result(module, &["ldmatrix", "mma", "wmma"])
}

/// `_` as the result of a load, a move or a texture access.
pub fn sink_load(module: &Module) -> bool {
    sink_result(module, &["ld", "ldu", "mov", "tex"])
}

/// A texture of an array of lines with one scalar as its coordinates.
pub fn scalar_coordinate(module: &Module) -> bool {
    Words::of(module).instructions(&["tex"]).any(|own| {
        let scalar = |run: &[Text]| run[0] == "[" && run[2] == "," && run[3] != "{";
        own.iter().any(|word| word == ".a1d") && own.windows(4).any(scalar)
    })
}

/// A list of an integer register and an integer constant in a texture access.
pub fn mixed_texture_list(module: &Module) -> bool {
    let words = Words::of(module);
    let is_register = |name: &str| words.is(name, |name| matches!(name, Name::Register(..)));
    words.instructions(&["tex", "tld4"]).any(|own| {
        own.windows(4)
            .any(|run| run[0] == "{" && is_register(&run[1]) && run[2] == "," && integer(&run[3]).is_some())
    })
}

/// The name of a function as a floating-point operand, in a module of two kernels or more.
pub fn float_function(module: &Module) -> bool {
    let words = Words::of(module);
    let kernels = module.functions().filter(|function| function.kind == FunctionKind::Entry).count();
    let is_float = |word: &Text| [".f32", ".f64"].contains(&&**word);
    kernels > 1
        && words.statements.iter().any(|own| {
            own.first().is_some_and(|word| !word.starts_with('.') && word != "mov")
                && own.iter().any(is_float)
                && own.last().is_some_and(|word| words.is_function(word))
        })
}

#[cfg(test)]
mod tests {
    use ptxsmith_syntax::parse;

    use super::*;

    fn module(text: &str) -> Module {
        parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap()
    }

    #[test]
    fn a_register_that_is_declared_is_none_of_the_special_ones() {
        let kernel = |code: &str| module(&format!(".entry k() {{ .reg .u64 %a, %b; {code} ret; }}"));
        assert!(special_register_address(&kernel("st.global.u32 [%laneid], 1;")));
        assert!(special_register_address(&kernel("ld.u32 %a, [%clock64 + 4];")));
        assert!(!special_register_address(&kernel("ld.u32 %a, [%b];")));
        assert!(!special_register_address(&kernel("mov.u32 %a, %laneid;")));
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
    fn a_parameter_of_the_kernel_is_none_of_its_body() {
        let load = "ld.param.u32 r, [x]; ret; }";
        assert!(own_parameter_load(&module(&format!(".entry k() {{ .reg .u32 r; .param .u32 x; {load}"))));
        assert!(!own_parameter_load(&module(&format!(
            ".entry k(.param .u32 x) {{ .reg .u32 r; .param .u32 y; {load}"
        ))));
    }

    #[test]
    fn only_an_extern_function_in_a_body_counts() {
        let kernel = |before: &str, code: &str| module(&format!("{before} .entry k() {{ {code} ret; }}"));
        assert!(extern_function_in_body(&kernel(".extern .func f();", ".global .u64 x = f;")));
        assert!(extern_function_in_body(&kernel(".extern .func f();", ".global .u64 x[2] = {0, f};")));
        assert!(!extern_function_in_body(&kernel(".func f() { ret; }", ".global .u64 x = f;")));
        assert!(!extern_function_in_body(&kernel(".extern .func f(); .global .u64 x = f;", "")));
    }

    #[test]
    fn a_list_or_a_dimension_is_no_single_value_for_an_array() {
        assert!(
            [".global .u32 x[] = 1;", ".global .u32 x[0] = 1;"]
                .iter()
                .all(|text| scalar_for_array(&module(text)))
        );
        assert!(!scalar_for_array(&module(".global .u32 x[] = {1}; .global .u32 y[2] = 1;")));
        assert!(scalar_for_array(&module(".entry k() { .local .u32 x[][2] = 1; ret; }")));
    }
}
