//! Reads a linked program: the same format, but names may repeat and offsets may be wrong.

use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64};

use super::{CubinContents, Elf, MAX_NOBITS, Malformed, VariableSection, contents, is_32_bit};
use ptxsmith_model::LinkedVariable;

/// Reads every variable of a linked program with its offset, ordered by section and offset. Variables that
/// overlap or share a name are results of the linker, and are reported unchanged.
pub fn read_linked(bytes: &[u8]) -> Result<Vec<LinkedVariable>, Malformed> {
    if is_32_bit(bytes) {
        read::<FileHeader32<LittleEndian>>(bytes)
    } else {
        read::<FileHeader64<LittleEndian>>(bytes)
    }
}

fn read<E: Elf>(bytes: &[u8]) -> Result<Vec<LinkedVariable>, Malformed> {
    // A variable that the linker should have placed but did not is skipped: it has no offset.
    let CubinContents { homes, .. } = contents::<E>(bytes)?;
    let mut left = MAX_NOBITS;
    Ok(homes.into_iter().flatten().flat_map(|home| variables(home, &mut left)).collect())
}

fn variables(mut home: VariableSection<'_>, left: &mut u64) -> Vec<LinkedVariable> {
    let mut linked = Vec::with_capacity(home.variables.len());
    for index in 0..home.variables.len() {
        let placed = &home.variables[index];
        linked.push(LinkedVariable {
            name: placed.name.to_owned(),
            is_local: placed.is_local,
            section: home.name.to_owned(),
            place: placed.offset,
            variable: home.variable(index, left),
        });
    }
    linked
}
