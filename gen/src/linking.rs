//! Programs of several modules, to test linkers. The modules declare shared names with varying linkage, space, type, size,
//! alignment and initializers, and tables of each other's addresses.

use std::fmt::Write as _;

use crate::stream::Draw;

/// The header of every module.
const HEADER: &str = ".version 7.7\n.target sm_80\n.address_size 64\n";

/// The types of variables: size in bytes and name.
const TYPES: [(u64, &str); 8] =
    [(1, ".u8"), (1, ".b8"), (2, ".u16"), (4, ".u32"), (4, ".s32"), (4, ".b32"), (8, ".u64"), (8, ".f64")];

/// One in this many declarations of a shared name differs from the other modules: another number of elements, or a function.
const OTHERWISE: u64 = 12;

/// How a module declares a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SymbolLinkage {
    Absent,
    Extern,
    Own,
    Visible,
    Weak,
    Common,
}

impl SymbolLinkage {
    fn specifier(self) -> &'static str {
        match self {
            SymbolLinkage::Absent | SymbolLinkage::Own => "",
            SymbolLinkage::Extern => ".extern ",
            SymbolLinkage::Visible => ".visible ",
            SymbolLinkage::Weak => ".weak ",
            SymbolLinkage::Common => ".common ",
        }
    }

    /// Draws the linkage of a name in one module. `.common` is for variables in `.global` only (5.4).
    fn draw(draw: &mut Draw, may_be_common: bool) -> SymbolLinkage {
        use SymbolLinkage::{Absent, Common, Extern, Own, Visible, Weak};
        let shares =
            [Absent, Absent, Extern, Extern, Extern, Own, Visible, Visible, Weak, Weak, Weak, Common, Common];
        match *draw.pick(&shares) {
            Common if !may_be_common => Weak,
            linkage => linkage,
        }
    }
}

/// A name that several modules declare.
#[derive(Clone, Debug)]
enum SharedSymbol {
    /// A variable. `ty` is an index into [`TYPES`]; `count` is the number of elements of an array.
    Variable { name: String, space: &'static str, ty: usize, count: Option<u64> },
    /// A function without parameters.
    Function { name: String },
}

impl SharedSymbol {
    fn draw(draw: &mut Draw, number: u64) -> SharedSymbol {
        let name = format!("s{number}");
        if draw.below(8) == 0 {
            return SharedSymbol::Function { name };
        }
        let space = *draw.pick(&[".global", ".global", ".global", ".const", ".const", ".shared"]);
        let count = (draw.below(2) == 0).then(|| 1 + draw.below(6));
        SharedSymbol::Variable { name, space, ty: draw.within(0..TYPES.len()), count }
    }

    fn name(&self) -> &str {
        match self {
            SharedSymbol::Variable { name, .. } | SharedSymbol::Function { name } => name,
        }
    }

    /// Whether an initializer may contain the address (5.4.4). Excludes `.shared` variables, for which this is not guaranteed.
    fn is_addressable(&self) -> bool {
        !matches!(self, SharedSymbol::Variable { space: ".shared", .. })
    }
}

/// A module under construction.
struct ModulesDraft {
    text: String,
    /// The linkage of each symbol in this module.
    linkages: Vec<SymbolLinkage>,
}

/// Generates the two to four modules of the program with this number, as PTX source. An assembler accepts each by itself.
pub fn modules(seed: u64, number: u64) -> Vec<String> {
    let mut draw = Draw::new(seed, number);
    let symbols: Vec<SharedSymbol> =
        (0..2 + draw.below(4)).map(|number| SharedSymbol::draw(&mut draw, number)).collect();
    let count = *draw.pick(&[2, 2, 2, 2, 3, 3, 4]);
    (0..count).map(|module| text(&mut draw, module, &symbols)).collect()
}

fn text(draw: &mut Draw, module: u64, symbols: &[SharedSymbol]) -> String {
    let mut draft = ModulesDraft { text: HEADER.to_owned(), linkages: Vec::new() };
    for symbol in symbols {
        if draw.below(3) == 0 {
            neighbour(draw, module, &mut draft);
        }
        let linkage = match symbol {
            SharedSymbol::Variable { space, .. } => SymbolLinkage::draw(draw, *space == ".global"),
            SharedSymbol::Function { .. } => SymbolLinkage::draw(draw, false),
        };
        draft.linkages.push(linkage);
        declare(draw, symbol, linkage, &mut draft.text);
    }
    for number in 0..draw.below(3) {
        table(draw, module, number, symbols, &mut draft);
    }
    kernel(draw, module, symbols, &mut draft);
    draft.text
}

/// Declares a one-byte variable, which moves the variable after it to an odd offset.
fn neighbour(draw: &mut Draw, module: u64, draft: &mut ModulesDraft) {
    let space = draw.pick(&[".global", ".const"]);
    let linkage = draw.pick(&["", ".visible "]);
    let number = draft.linkages.len();
    let _ = writeln!(draft.text, "{linkage}{space} .u8 n{module}{number} = {};", 1 + draw.below(255));
}

fn declare(draw: &mut Draw, symbol: &SharedSymbol, linkage: SymbolLinkage, text: &mut String) {
    if linkage != SymbolLinkage::Absent {
        *text += &declaration(draw, symbol, linkage);
        text.push('\n');
    }
}

fn declaration(draw: &mut Draw, symbol: &SharedSymbol, linkage: SymbolLinkage) -> String {
    let specifier = linkage.specifier();
    let (name, space, ty, count) = match symbol {
        SharedSymbol::Function { name } if linkage == SymbolLinkage::Extern => {
            return format!(".extern .func {name}();");
        }
        SharedSymbol::Function { name } => return format!("{specifier}.func {name}() {{ ret; }}"),
        // A name that is private to its module may be a function here although it is a variable elsewhere.
        SharedSymbol::Variable { name, .. }
            if linkage == SymbolLinkage::Own && draw.below(OTHERWISE) == 0 =>
        {
            return format!(".func {name}() {{ ret; }}");
        }
        SharedSymbol::Variable { name, space, ty, count } => (name, *space, *ty, *count),
    };
    let (size, ty) = TYPES[ty];
    let count = match count {
        Some(count) if draw.below(OTHERWISE) == 0 => Some(count + 1),
        count => count,
    };
    let align = match draw.below(3) {
        0 => format!(".align {} ", size << draw.below(6).min(u64::from((128 / size).ilog2()))),
        _ => String::new(),
    };
    let is_open = linkage == SymbolLinkage::Extern && count.is_some() && draw.below(2) == 0;
    let elements = match count {
        Some(_) if is_open => "[]".to_owned(),
        Some(count) => format!("[{count}]"),
        None => String::new(),
    };
    // `.extern` and `.shared` variables have no initializer (5.4.4).
    let has_value = linkage != SymbolLinkage::Extern && space != ".shared" && draw.below(4) != 0;
    let value = match count {
        _ if !has_value => String::new(),
        None => format!(" = {}", value(draw)),
        Some(count) => {
            let values: Vec<String> = (0..1 + draw.below(count)).map(|_| value(draw)).collect();
            format!(" = {{{}}}", values.join(", "))
        }
    };
    let float = if ty == ".f64" { value.replace(|c: char| c.is_ascii_digit(), "1.0") } else { value };
    format!("{specifier}{space} {align}{ty} {name}{elements}{float};")
}

/// Draws a one-digit value, which fits every type.
fn value(draw: &mut Draw) -> String {
    draw.below(10).to_string()
}

/// Declares a table of addresses, with numbers between them.
fn table(draw: &mut Draw, module: u64, number: u64, symbols: &[SharedSymbol], draft: &mut ModulesDraft) {
    let addressable: Vec<usize> =
        (0..symbols.len()).filter(|&place| symbols[place].is_addressable()).collect();
    if addressable.is_empty() {
        return;
    }
    let space = *draw.pick(&[".global", ".const"]);
    let by_bytes = draw.below(6) == 0;
    let length = if by_bytes { 8 } else { 1 + draw.below(4) };
    let one = *draw.pick(&addressable);
    let mut elements = Vec::new();
    for element in 0..length {
        if !by_bytes && draw.below(4) == 0 {
            elements.push(value(draw));
            continue;
        }
        let place = if by_bytes { one } else { *draw.pick(&addressable) };
        extern_where_absent(place, symbols, draft);
        let name = symbols[place].name();
        let is_variable = matches!(symbols[place], SharedSymbol::Variable { .. });
        let offset = match draw.below(3) {
            0 if is_variable && !by_bytes => format!("+{}", 1 + draw.below(8)),
            _ => String::new(),
        };
        elements.push(match draw.below(2) {
            _ if by_bytes => format!("0x{}({name})", "ff".to_owned() + &"00".repeat(element as usize)),
            0 if is_variable => format!("generic({name}){offset}"),
            _ => format!("{name}{offset}"),
        });
    }
    let ty = if by_bytes { ".u8" } else { ".u64" };
    let linkage = draw.pick(&["", ".visible ", ".visible ", ".weak "]);
    let elements = elements.join(", ");
    let _ =
        writeln!(draft.text, "{linkage}{space} .align 8 {ty} t{module}{number}[{length}] = {{{elements}}};");
}

/// Declares a name as `.extern` if the module does not declare it.
fn extern_where_absent(place: usize, symbols: &[SharedSymbol], draft: &mut ModulesDraft) {
    if draft.linkages[place] != SymbolLinkage::Absent {
        return;
    }
    draft.linkages[place] = SymbolLinkage::Extern;
    let _ = match &symbols[place] {
        SharedSymbol::Function { name } => writeln!(draft.text, ".extern .func {name}();"),
        SharedSymbol::Variable { name, space, ty, count } => {
            let elements = count.map(|count| format!("[{count}]")).unwrap_or_default();
            writeln!(draft.text, ".extern {space} {} {name}{elements};", TYPES[*ty].1)
        }
    };
}

/// Declares a kernel that loads from a variable of any module. Without a kernel, linkers drop unused variables.
fn kernel(draw: &mut Draw, module: u64, symbols: &[SharedSymbol], draft: &mut ModulesDraft) {
    let place = draw.within(0..symbols.len());
    let load = match &symbols[place] {
        SharedSymbol::Variable { name, space, .. } if draw.below(2) == 0 => {
            extern_where_absent(place, symbols, draft);
            // The name may be a function in this module.
            let is_variable = !draft.text.contains(&format!(".func {name}("));
            is_variable.then(|| format!(" ld{space}.u8 r, [{name}]; st.global.u8 [q], r;"))
        }
        _ => None,
    };
    let load = load.unwrap_or_default();
    let _ = writeln!(
        draft.text,
        ".visible .entry k{module}(.param .u64 p) {{ .reg .u64 q; .reg .u16 r; ld.param.u64 q, [p];{load} ret; }}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_a_seed_is_always_the_same() {
        assert_eq!(modules(7, 3), modules(7, 3));
        assert_ne!(modules(7, 3), modules(8, 3));
    }

    #[test]
    fn every_module_parses_and_every_linkage_meets_every_other() {
        let mut met = std::collections::BTreeSet::new();
        for number in 0..2_000 {
            let program = modules(1, number);
            assert!((2..=4).contains(&program.len()));
            for text in &program {
                let module = ptxsmith_syntax::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
                assert!(module.unread().next().is_none(), "{text}");
            }
            let linkages = |text: &str| {
                let line = text.lines().find(|line| line.contains(" s0") && !line.contains(".entry"));
                line.and_then(|line| line.split_whitespace().next().map(str::to_owned))
            };
            met.insert((linkages(&program[0]), linkages(&program[1])));
        }
        for first in [".extern", ".visible", ".weak", ".common"] {
            for second in [".extern", ".visible", ".weak", ".common"] {
                assert!(met.contains(&(Some(first.into()), Some(second.into()))), "{first} {second}");
            }
        }
    }
}
