//! Titles of findings about linkers.

use ptxsmith_diff::linking::{LinkDifference, READ, Symptom};
use ptxsmith_model::Class;

/// Returns the title of the finding for a symptom. The difference is that of its example.
pub(super) fn title(difference: &LinkDifference, symptom: &Symptom) -> String {
    let title = title_of_whole(difference, symptom);
    if symptom.needs_a_stage { format!("{title}, in a link of two stages") } else { title }
}

/// Returns the title of a finding that shows if all modules are linked at once.
fn title_of_whole(difference: &LinkDifference, Symptom { what, linkage, .. }: &Symptom) -> String {
    let LinkDifference { class, actual, .. } = difference;
    let variable = if linkage.is_empty() { "variable" } else { linkage };
    match class {
        Class::WrongAddress if what == READ => {
            "a kernel reads constants at another place than the variables that it names".to_owned()
        }
        Class::WrongAddress if linkage.is_empty() => format!("an initializer, linked, holds {what}"),
        Class::WrongAddress => {
            format!("an initializer, linked, holds {what} where its module declares a {linkage}")
        }
        Class::WrongValue => {
            format!("a {variable} does not hold the initial value of any of its definitions")
        }
        Class::WrongLayout if what.starts_with("alignment") => format!("the {what} declarations is lost"),
        Class::WrongLayout => format!("a {variable} lies {actual}"),
        Class::Inconsistent => format!("the order of the modules decides whether they are linked: {what}"),
        Class::Crash => format!("the linker crashes: {actual}"),
        Class::Hang => "the linker does not end".to_owned(),
        _ => actual.clone(),
    }
}
