//! Reads a linked program: the same format, but names may repeat and offsets may be wrong.

use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64};

use super::{Contents, Elf, Home, MAX_NOBITS, Malformed, contents, is_of_32_bits};
use ptxsmith_model::LinkedVariable;

/// Reads every variable of a linked program with its offset, ordered by section and offset. Variables that overlap or
/// share a name are results of the linker, and are reported unchanged.
pub fn read_linked(bytes: &[u8]) -> Result<Vec<LinkedVariable>, Malformed> {
    match is_of_32_bits(bytes) {
        true => read::<FileHeader32<LittleEndian>>(bytes),
        false => read::<FileHeader64<LittleEndian>>(bytes),
    }
}

fn read<E: Elf>(bytes: &[u8]) -> Result<Vec<LinkedVariable>, Malformed> {
    // A variable that the linker should have placed but did not is skipped: it has no offset.
    let Contents { homes, .. } = contents::<E>(bytes)?;
    let mut left = MAX_NOBITS;
    Ok(homes.into_iter().flatten().flat_map(|home| variables(home, &mut left)).collect())
}

fn variables(mut home: Home<'_>, left: &mut u64) -> Vec<LinkedVariable> {
    let places: Vec<(String, bool, u64)> = home
        .variables
        .iter()
        .map(|placed| (placed.name.to_owned(), placed.is_local, placed.offset))
        .collect();
    let section = home.name.to_owned();
    let variable = |(index, (name, is_local, place)): (usize, (String, bool, u64))| LinkedVariable {
        name,
        is_local,
        section: section.clone(),
        place,
        variable: home.variable(index, left),
    };
    places.into_iter().enumerate().map(variable).collect()
}
