//! A linker based on the oracle, correct or with one fault.

use ptxsmith_oracle::linking::{CombinedDeclarations, ModuleDeclaration, link};
use ptxsmith_oracle::{self as oracle, Rules};
use ptxsmith_subject::{
    Address, Description, Diagnostic, Error, LinkedVariable, Observation, Outcome, Request, Severity,
    Subject, Variable,
};
use ptxsmith_syntax::{Linkage, Module, StateSpace, Text, parse};

ptxsmith_syntax::every! {
    /// A fault of a linker.
    pub enum LinkFault {
        /// The alignments of `.extern` declarations are ignored.
        ExternAlignment = "extern-alignment",
        /// For `.common` declarations, only the alignment of the first one counts.
        CommonAlignment = "common-alignment",
        /// In all modules but the first, addresses of a `.weak` variable of the same module are missing from
        /// tables.
        WeakAddress = "weak-address",
        /// A variable with two definitions gets the bytes of the first, with a first byte that is computed
        /// from the second.
        MixedValue = "mixed-value",
        /// All variables in `.global` are placed at the beginning of the section.
        SharedPlace = "shared-place",
        /// Tables contain wrong locations of constants, as if another section was inserted in front
        /// afterwards.
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
        if self.has(LinkFault::CommonFirst)
            && program.shared.values().any(|declared| is_common_first(declared))
        {
            return refused("Multiple definition");
        }
        if self.has(LinkFault::ThreeModules) && modules.len() == 3 {
            return Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
        }
        let mut linked = self.place(&program);
        self.relocate(&program, &mut linked);
        let variables = linked.into_iter().map(|placed| placed.variable).collect();
        Observation { linked: variables, ..Observation::new(Outcome::Accepted) }
    }

    /// Places the variables. Addresses are not yet filled in.
    fn place(&self, program: &CombinedDeclarations) -> Vec<PlacedVariable> {
        let mut linked: Vec<PlacedVariable> = Vec::new();
        for (name, declared) in &program.shared {
            linked.extend(self.shared_variable(name, declared));
        }
        for (name, declared) in &program.local {
            let Some(content) = &declared.content else { continue };
            let merged =
                self.has(LinkFault::MergedLocals).then(|| first_namesake(program, name, declared, content));
            let content = merged.flatten().unwrap_or(content);
            linked.push(PlacedVariable::new(name, true, declared, content, declared.align));
        }
        linked.sort_by(|a, b| a.variable.section.cmp(&b.variable.section));
        for variables in linked.chunk_by_mut(|a, b| a.variable.section == b.variable.section) {
            self.lay_out_section(variables);
        }
        linked
    }

    /// Chooses the definition of a variable that modules share; `None` if there is none.
    fn shared_variable(&self, name: &str, declared: &[ModuleDeclaration]) -> Option<PlacedVariable> {
        let strong = declared.iter().find(|declared| declared.is_strong());
        let chosen = strong.or_else(|| declared.iter().find(|declared| declared.content.is_some()))?;
        let mut content = chosen.content.clone()?;
        if self.has(LinkFault::MixedValue) {
            let mut contents = declared.iter().filter_map(|declared| declared.content.as_ref());
            let other = contents.find(|other| **other != content);
            if let Some(other) = other.filter(|other| other.bytes.len() == content.bytes.len()) {
                content.bytes[0] = other.bytes[0].wrapping_add(1);
            }
        }
        Some(PlacedVariable::new(name, false, chosen, &content, self.alignment(declared)))
    }

    /// Sets the offsets of the variables of a section.
    fn lay_out_section(&self, variables: &mut [PlacedVariable]) {
        let mut end = 0;
        for PlacedVariable { variable: linked, .. } in variables {
            let is_constant = linked.section == ".nv.constant3";
            if self.has(LinkFault::Size) && is_constant && linked.variable.size == Some(1) {
                linked.variable.size = Some(2);
            }
            let overlaps = self.has(LinkFault::SharedPlace) && !is_constant;
            let align = linked.variable.align.unwrap_or(1);
            linked.place = if overlaps { 0 } else { u64::next_multiple_of(end, align) };
            end = linked.place + linked.variable.size.unwrap_or(0);
        }
    }

    fn alignment(&self, declared: &[ModuleDeclaration]) -> u64 {
        let first_common = declared.iter().find(|declared| declared.linkage == Some(Linkage::Common));
        let first_common = first_common.map(|declared| declared.module);
        let counted = declared.iter().filter(|declared| match declared.linkage {
            Some(Linkage::Extern) => !self.has(LinkFault::ExternAlignment),
            Some(Linkage::Common) => {
                !self.has(LinkFault::CommonAlignment) || Some(declared.module) == first_common
            }
            _ => true,
        });
        counted.map(|declared| declared.align).max().unwrap_or(1)
    }

    /// Fills in the addresses: for constants as numbers, for other variables as relocations.
    fn relocate(&self, program: &CombinedDeclarations, linked: &mut [PlacedVariable]) {
        let places: Vec<(String, u64)> =
            linked.iter().map(|placed| (placed.variable.name.clone(), placed.variable.place)).collect();
        for placed in linked {
            for address in std::mem::take(&mut placed.addresses) {
                let declared = declarations_of(program, &address.symbol);
                let is_weak_here = declared.iter().any(|declared| {
                    declared.module == placed.module && declared.linkage == Some(Linkage::Weak)
                });
                if self.has(LinkFault::WeakAddress) && is_weak_here && placed.module > 0 {
                    continue;
                }
                let is_const = declared.first().is_some_and(|declared| declared.space == StateSpace::Const);
                let variable = &mut placed.variable.variable;
                if is_const && !address.generic {
                    let place = places.iter().find(|(name, _)| **name == *address.symbol);
                    self.fill_in_number(variable, &address, place.map_or(0, |(_, place)| *place));
                } else {
                    variable.addresses.get_or_insert_default().push(self.relocation(&address));
                }
            }
        }
    }

    /// Writes the address of a constant at this place into a variable.
    fn fill_in_number(&self, variable: &mut Variable, address: &oracle::Address, place: u64) {
        let place = if self.has(LinkFault::PlaceOfConstant) { place + 16 } else { place };
        let shift = 8 * u32::from(address.byte.unwrap_or(0));
        let number = place.wrapping_add_signed(self.addend(address)) >> shift;
        let start = address.offset as usize;
        let width = usize::from(address.width);
        let bytes = variable.bytes.as_mut().expect("it has bytes");
        bytes[start..start + width].copy_from_slice(&number.to_le_bytes()[..width]);
    }

    fn relocation(&self, address: &oracle::Address) -> Address {
        let byte = address.byte.map(|byte| if self.has(LinkFault::MaskedByte) { byte ^ 4 } else { byte });
        Address {
            offset: address.offset,
            width: address.width,
            symbol: address.symbol.to_string(),
            addend: self.addend(address),
            generic: Some(address.generic),
            byte,
        }
    }

    fn addend(&self, address: &oracle::Address) -> i64 {
        if self.has(LinkFault::Addend) { 0 } else { address.addend }
    }
}

/// Whether the first module declares the variable `.common`, and another module `.weak`.
fn is_common_first(declared: &[ModuleDeclaration]) -> bool {
    let mut in_first = declared.iter().filter(|declared| declared.module == 0);
    in_first.any(|declared| declared.linkage == Some(Linkage::Common))
        && declared.iter().any(|declared| declared.linkage == Some(Linkage::Weak))
}

/// Returns the contents of the first module-local variable with the same name, alignment and size.
fn first_namesake<'p>(
    program: &'p CombinedDeclarations,
    name: &str,
    declared: &ModuleDeclaration,
    content: &oracle::Variable,
) -> Option<&'p oracle::Variable> {
    let namesakes = program.local.iter().filter(|(other, _)| **other == *name);
    let mut contents = namesakes
        .filter(|(_, other)| other.align == declared.align)
        .filter_map(|(_, other)| other.content.as_ref());
    contents.find(|other| other.size == content.size)
}

/// Returns the declarations of a symbol: the shared ones, then the module-local ones.
fn declarations_of<'p>(program: &'p CombinedDeclarations, symbol: &Text) -> Vec<&'p ModuleDeclaration> {
    let shared = program.shared.get(symbol).into_iter().flatten();
    let local = program.local.iter().filter(|(name, _)| name == symbol).map(|(_, declared)| declared);
    shared.chain(local).collect()
}

/// A placed variable, with the addresses that are still to be filled in.
struct PlacedVariable {
    module: usize,
    variable: LinkedVariable,
    addresses: Vec<oracle::Address>,
}

impl PlacedVariable {
    fn new(
        name: &str,
        is_local: bool,
        declared: &ModuleDeclaration,
        content: &oracle::Variable,
        align: u64,
    ) -> PlacedVariable {
        let section = if declared.space == StateSpace::Const { ".nv.constant3" } else { ".nv.global" };
        let variable = Variable {
            space: Some(declared.space.name().into()),
            size: Some(content.size),
            align: Some(align),
            bytes: Some(content.bytes.clone()),
            addresses: Some(Vec::new()),
            ..Variable::default()
        };
        PlacedVariable {
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
