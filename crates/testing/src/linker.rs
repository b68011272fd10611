//! A linker based on the oracle, correct or with one fault.

use ptxsmith_oracle::linking::{Declared, Program, link};
use ptxsmith_oracle::{self as oracle, Rules};
use ptxsmith_subject::{
    Address, Description, Diagnostic, Error, LinkedVariable, Observation, Outcome, Request, Severity,
    Subject, Variable,
};
use ptxsmith_syntax::{Linkage, Module, StateSpace, parse};

ptxsmith_syntax::every! {
    /// A fault of a linker.
    pub enum LinkFault {
        /// The alignments of `.extern` declarations are ignored.
        ExternAlignment = "extern-alignment",
        /// For `.common` declarations, only the alignment of the first one counts.
        CommonAlignment = "common-alignment",
        /// In all modules but the first, addresses of a `.weak` variable of the same module are missing from tables.
        WeakAddress = "weak-address",
        /// A variable with two definitions gets the bytes of one, with a first byte that is computed from the other.
        MixedValue = "mixed-value",
        /// The first two variables of a section overlap.
        SharedPlace = "shared-place",
        /// Tables contain wrong locations of constants, as if another section was inserted in front afterwards.
        PlaceOfConstant = "place-of-constant",
        /// A `.common` variable in the first module is rejected if another module declares it `.weak`.
        CommonFirst = "common-first",
        /// Offsets in addresses are lost.
        Addend = "addend",
        /// A masked byte of an address that the loader fills in comes from the other half of the address.
        MaskedByte = "masked-byte",
        /// Module-local variables with the same name, size and alignment are merged.
        MergedLocals = "merged-locals",
        /// One-byte variables in `.const` get a size of two bytes.
        Size = "size",
        /// Linking three modules crashes.
        ThreeModules = "three-modules",
    }
}

/// A linker, correct or with one fault.
pub struct ToyLinker {
    description: Description,
    fault: Option<LinkFault>,
}

impl ToyLinker {
    /// Creates a linker with the given fault, or a correct one.
    pub fn new(fault: Option<LinkFault>) -> ToyLinker {
        let id = fault.map_or("toy-linker".to_owned(), |fault| format!("toy-linker-{}", fault.name()));
        ToyLinker { description: Description { name: id.clone(), id, ..Description::default() }, fault }
    }

    fn has(&self, fault: LinkFault) -> bool {
        self.fault == Some(fault)
    }

    fn link(&self, modules: &[Module]) -> Observation {
        let Ok(program) = link(modules, &Rules::default()) else { return refused("a module is invalid") };
        if program.lacks_definition() {
            return refused("Undefined reference");
        }
        if program.contradiction().is_some() {
            return refused("Multiple definition");
        }
        let of_first = |declared: &[Declared], linkage| {
            declared.iter().any(|one| one.module == 0 && one.linkage == Some(linkage))
        };
        let is_weak_too =
            |declared: &[Declared]| declared.iter().any(|one| one.linkage == Some(Linkage::Weak));
        let has_common_first = program
            .shared
            .values()
            .any(|declared| of_first(declared, Linkage::Common) && is_weak_too(declared));
        if self.has(LinkFault::CommonFirst) && has_common_first {
            return refused("Multiple definition");
        }
        if self.has(LinkFault::ThreeModules) && modules.len() == 3 {
            return Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
        }
        let mut linked = self.placed(&program);
        self.relocate(&program, &mut linked);
        let variables = linked.into_iter().map(|placed| placed.variable).collect();
        Observation { linked: variables, ..Observation::new(Outcome::Accepted) }
    }

    /// Places the variables. Addresses are not yet filled in.
    fn placed(&self, program: &Program) -> Vec<Placed> {
        let mut linked: Vec<Placed> = Vec::new();
        for (name, declared) in &program.shared {
            let strong = declared.iter().find(|one| one.is_strong());
            let Some(chosen) = strong.or_else(|| declared.iter().find(|one| one.content.is_some())) else {
                continue;
            };
            let Some(content) = &chosen.content else { continue };
            let mut content = content.clone();
            let other =
                declared.iter().filter_map(|one| one.content.as_ref()).find(|other| **other != content);
            if let (true, Some(other)) = (self.has(LinkFault::MixedValue), other)
                && other.bytes.len() == content.bytes.len()
            {
                content.bytes[0] = other.bytes[0].wrapping_add(1);
            }
            let align = self.alignment(declared);
            linked.push(Placed::new(name, false, chosen, &content, align));
        }
        for (name, declared) in &program.local {
            let Some(content) = &declared.content else { continue };
            let mut namesakes =
                program.local.iter().filter(|(other, one)| other == name && one.align == declared.align);
            let namesake =
                namesakes.find_map(|(_, one)| one.content.as_ref().filter(|one| one.size == content.size));
            let content =
                if self.has(LinkFault::MergedLocals) { namesake.unwrap_or(content) } else { content };
            linked.push(Placed::new(name, true, declared, content, declared.align));
        }
        linked.sort_by(|a, b| a.variable.section.cmp(&b.variable.section));
        let mut end = 0;
        let mut section = String::new();
        for place in 0..linked.len() {
            let is_second = place > 0
                && linked[place - 1].variable.section == section
                && linked[place - 1].variable.place == 0;
            let placed = &mut linked[place].variable;
            if placed.section != section {
                (section, end) = (placed.section.clone(), 0);
            }
            if self.has(LinkFault::Size) && placed.variable.size == Some(1) && section == ".nv.constant3" {
                placed.variable.size = Some(2);
            }
            let align = placed.variable.align.unwrap_or(1);
            let shares = self.has(LinkFault::SharedPlace) && is_second && section == ".nv.global";
            placed.place = if shares { 0 } else { u64::next_multiple_of(end, align) };
            end = placed.place + placed.variable.size.unwrap_or(0);
        }
        linked
    }

    fn alignment(&self, declared: &[Declared]) -> u64 {
        let is_common = |one: &&Declared| one.linkage == Some(Linkage::Common);
        let first_common = declared.iter().find(is_common).map(|one| one.module);
        let counts = |one: &&Declared| match one.linkage {
            Some(Linkage::Extern) => !self.has(LinkFault::ExternAlignment),
            Some(Linkage::Common) => {
                !self.has(LinkFault::CommonAlignment) || Some(one.module) == first_common
            }
            _ => true,
        };
        declared.iter().filter(counts).map(|one| one.align).max().unwrap_or(1)
    }

    /// Fills in the addresses: for constants as numbers, for other variables as relocations.
    fn relocate(&self, program: &Program, linked: &mut [Placed]) {
        let places: Vec<(String, u64)> =
            linked.iter().map(|placed| (placed.variable.name.clone(), placed.variable.place)).collect();
        for placed in linked {
            for address in std::mem::take(&mut placed.addresses) {
                let named = program.shared.get(&address.symbol).into_iter().flatten();
                let local =
                    program.local.iter().filter(|(name, _)| *name == address.symbol).map(|(_, one)| one);
                let declared: Vec<&Declared> = named.chain(local).collect();
                let is_weak_here = declared
                    .iter()
                    .any(|one| one.module == placed.module && one.linkage == Some(Linkage::Weak));
                if self.has(LinkFault::WeakAddress) && is_weak_here && placed.module > 0 {
                    continue;
                }
                let addend = if self.has(LinkFault::Addend) { 0 } else { address.addend };
                let is_const = declared.first().is_some_and(|one| one.space == StateSpace::Const);
                if is_const && !address.generic {
                    let place = places
                        .iter()
                        .find(|(name, _)| **name == *address.symbol)
                        .map_or(0, |(_, place)| *place);
                    let place = if self.has(LinkFault::PlaceOfConstant) { place + 16 } else { place };
                    let number =
                        place.wrapping_add_signed(addend) >> (8 * u32::from(address.byte.unwrap_or(0)));
                    let start = address.offset as usize;
                    let width = usize::from(address.width);
                    let bytes = placed.variable.variable.bytes.as_mut().expect("it has bytes");
                    bytes[start..start + width].copy_from_slice(&number.to_le_bytes()[..width]);
                    continue;
                }
                let byte =
                    address.byte.map(|byte| if self.has(LinkFault::MaskedByte) { byte ^ 4 } else { byte });
                placed.variable.variable.addresses.get_or_insert_default().push(Address {
                    offset: address.offset,
                    width: address.width,
                    symbol: address.symbol.to_string(),
                    addend,
                    generic: Some(address.generic),
                    byte,
                });
            }
        }
    }
}

/// A placed variable, with the addresses that are still to be filled in.
struct Placed {
    module: usize,
    variable: LinkedVariable,
    addresses: Vec<oracle::Address>,
}

impl Placed {
    fn new(
        name: &str,
        is_local: bool,
        declared: &Declared,
        content: &oracle::Variable,
        align: u64,
    ) -> Placed {
        let section = if declared.space == StateSpace::Const { ".nv.constant3" } else { ".nv.global" };
        let variable = Variable {
            space: Some(declared.space.name().into()),
            size: Some(content.size),
            align: Some(align),
            bytes: Some(content.bytes.clone()),
            addresses: Some(Vec::new()),
            ..Variable::default()
        };
        Placed {
            module: declared.module,
            variable: LinkedVariable {
                name: name.to_owned(),
                is_local,
                section: section.to_owned(),
                place: 0,
                variable,
            },
            addresses: content.addresses.clone(),
        }
    }
}

fn refused(message: &str) -> Observation {
    let diagnostic = Diagnostic { severity: Severity::Error, line: None, message: message.to_owned() };
    Observation { diagnostics: vec![diagnostic], ..Observation::new(Outcome::Refused) }
}

impl Subject for ToyLinker {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        let texts = std::iter::once(request.ptx).chain(request.with.iter().copied());
        let modules: Result<Vec<Module>, _> = texts.map(parse).collect();
        Ok(modules.map_or_else(|_| refused("it does not parse"), |modules| self.link(&modules)))
    }

    fn links(&self) -> bool {
        true
    }
}
