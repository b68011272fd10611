//! Groups the programs of an atlas into forms. A form is a family of programs, and each program is a cell of
//! it.

use std::collections::BTreeMap;

use crate::cases::CaseStandings;
use crate::matrix::Standing;

/// The number of programs of a form with each standing, for one subject.
pub type Counts = BTreeMap<Standing, u64>;

/// A family of programs.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramForm<'a> {
    /// The name: a section of the manual, or the generator of the programs.
    pub name: String,
    /// The programs, each with its name within the form.
    pub cells: Vec<(String, &'a CaseStandings)>,
    /// The number of programs that are not listed. The tables of places contain very many programs, so a
    /// program of them is listed only if some subject does not conform.
    pub left_out: u64,
    /// The counts of each subject, in the order of the report.
    pub counts: Vec<Counts>,
}

/// The prefix of the names of programs from the tables of forms and places.
const TABLE_CELL: &str = "cell ";

/// Returns the form of a program, and the program's name within the form.
///
/// A program from a table belongs to the table's family. A file belongs to its folder below `cases/`. In
/// folders that are not named after a section of the manual, the number of a file is not part of the form:
/// `enumerated/ternary-12` is cell `12` of form `enumerated/ternary`.
fn form_and_cell(name: &str) -> (String, String) {
    if let Some(cell) = name.strip_prefix(TABLE_CELL) {
        let (family, choices) = cell.split_once('/').unwrap_or((cell, ""));
        return (format!("places/{family}"), choices.to_owned());
    }
    let path = name.strip_suffix(".ptx").unwrap_or(name);
    let path = match path.rsplit_once("cases/") {
        Some((before, path)) if before.is_empty() || before.ends_with('/') => path,
        _ => path,
    };
    let (folder, stem) = path.rsplit_once('/').unwrap_or(("", path));
    if folder.starts_with(|c: char| c.is_ascii_digit()) {
        return (folder.to_owned(), stem.to_owned());
    }
    let kind = stem.strip_suffix("-twin").unwrap_or(stem);
    let kind = match kind.rsplit_once('-') {
        Some((kind, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
        _ => kind,
    };
    let kind = kind.split('.').next().unwrap_or(kind);
    match (folder, stem.strip_prefix(kind)) {
        ("", _) => ("files".to_owned(), stem.to_owned()),
        (_, Some(rest)) if !rest.is_empty() => (format!("{folder}/{kind}"), rest[1..].to_owned()),
        _ => (folder.to_owned(), stem.to_owned()),
    }
}

/// Groups programs into forms. Those named after sections of the manual come first.
pub fn forms<'a>(cases: &'a [CaseStandings], subjects: usize) -> Vec<ProgramForm<'a>> {
    let mut forms: BTreeMap<String, ProgramForm<'a>> = BTreeMap::new();
    for case in cases {
        let (name, cell) = form_and_cell(&case.name);
        let form = forms.entry(name).or_insert_with_key(|name| ProgramForm {
            name: name.clone(),
            cells: Vec::new(),
            left_out: 0,
            counts: vec![Counts::new(); subjects],
        });
        let mut differs = false;
        for (subject, counts) in form.counts.iter_mut().enumerate() {
            let standing = case.standing(subject);
            *counts.entry(standing).or_default() += 1;
            differs |= standing.differs();
        }
        if differs || !case.name.starts_with(TABLE_CELL) {
            form.cells.push((cell, case));
        } else {
            form.left_out += 1;
        }
    }
    forms.into_values().collect()
}

/// Returns the worst standing of a subject among the programs of a form.
pub fn worst(counts: &Counts) -> Standing {
    counts.keys().next_back().copied().unwrap_or(Standing::NotReached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_program_is_its_folder_its_kind_or_its_table() {
        for (name, form, cell) in [
            ("cases/4.5.1/decimal-1000.ptx", "4.5.1", "decimal-1000"),
            ("out/cases/enumerated/prefix-infix-12.ptx", "enumerated/prefix-infix", "12"),
            ("cases/edited/value-kind.float-1-twin.ptx", "edited/value-kind", "float-1-twin"),
            ("cell operands/ld.global.u32:2/[ga+4]", "places/operands", "ld.global.u32:2/[ga+4]"),
            ("mine.ptx", "files", "mine"),
            ("lib/mine.ptx", "lib", "mine"),
        ] {
            assert_eq!(form_and_cell(name), (form.to_owned(), cell.to_owned()), "{name}");
        }
    }

    #[test]
    fn all_cells_of_a_table_are_counted_and_only_deviating_ones_listed() {
        let case = |name: &str, standings: &str| CaseStandings {
            name: name.into(),
            standings: standings.into(),
            ..CaseStandings::default()
        };
        let cases = [case("cell t/a", "cn"), case("cell t/b", "cx"), case("cases/4.5/a.ptx", "cc")];
        let forms = forms(&cases, 2);
        let counts: Vec<_> =
            forms.iter().map(|form| (&*form.name, form.cells.len(), form.left_out)).collect();
        assert_eq!(counts, [("4.5", 1, 0), ("places/t", 1, 1)]);
        let [first, second] = &forms[1].counts[..] else { panic!() };
        assert_eq!((worst(first), worst(second)), (Standing::Conforms, Standing::Crashed));
        assert_eq!(first[&Standing::Conforms], 2);
    }
}
