//! The clauses in a report, identified by name, because a report can be older or newer than the clause table
//! of this version.

use std::sync::LazyLock;

use ptxsmith_oracle::{Clause, ClauseSet, Expectation, Rules, expect};

/// The maximum number of clauses of a finding that are considered. The specification has fewer.
const MOST_CLAUSES: usize = 250;

/// Returns a summary of the clause, or `None` if this version does not know the name.
pub fn summary(id: &str) -> Option<&'static str> {
    Clause::from_id(id).map(Clause::summary)
}

/// Returns the section of the manual that contains the clause: the part of its name before the slash.
pub fn section(id: &str) -> &str {
    id.split_once('/').map_or(id, |(section, _)| section)
}

/// Returns the heading of a section of the manual, or an empty string if this version does not know it.
pub fn heading(section: &str) -> &'static str {
    match section {
        "4.5" => "Constants",
        "4.5.1" => "Integer Constants",
        "4.5.2" => "Floating-Point Constants",
        "4.5.3" => "Predicate Constants",
        "4.5.4" => "Constant Expressions",
        "4.5.5" => "Integer Constant Expression Evaluation",
        "4.5.6" => "Summary of Constant Expression Evaluation Rules",
        "5.4.1" => "Variable Declarations",
        "5.4.2" => "Vectors",
        "5.4.3" => "Array Declarations",
        "5.4.4" => "Initializers",
        "5.4.5" => "Alignment",
        "5.4.6" => "Parameterized Variable Names",
        "5.4.7" => "Variable Attributes",
        "5.4.8" => "Variable and Function Attribute Directive",
        "6.4.1" => "Addresses as Operands",
        "6.4.1.1" => "Generic Addressing",
        "6.4.2" => "Arrays as Operands",
        "6.4.3" => "Vectors as Operands",
        "6.4.4" => "Labels and Function Names as Operands",
        _ => "",
    }
}

/// Returns a link to the section in NVIDIA's public manual. It uses the heading because section numbers
/// change between releases of the manual.
pub fn link(section: &str) -> Option<String> {
    const MANUAL: &str = "https://docs.nvidia.com/cuda/parallel-thread-execution/index.html";
    let anchor = match section {
        "5.4.8" => "variable-and-function-attribute-directive-attribute".to_owned(),
        _ => heading(section).to_lowercase().replace(' ', "-"),
    };
    (!anchor.is_empty()).then(|| format!("{MANUAL}#{anchor}"))
}

/// Returns a sort key that orders clauses as in the manual. Names that this version does not know come last,
/// by name.
pub fn order(id: &str) -> (usize, &str) {
    let place = Clause::from_id(id).and_then(|clause| Clause::ALL.iter().position(|&other| other == clause));
    (place.unwrap_or(usize::MAX), id)
}

/// Sorts clauses so that the most informative ones about a deviation come first, and returns the number of
/// informative ones.
///
/// An unexplained difference violates one of the clauses on which its expectation is based, but it is unknown
/// which. Clauses that apply to every initialized variable carry no information, so they come last. If there
/// are only such clauses, all count as informative.
pub fn informative_first(clauses: &[String]) -> (Vec<&str>, usize) {
    let ids = clauses.iter().take(MOST_CLAUSES).map(String::as_str);
    let (common, informative): (Vec<&str>, Vec<&str>) = ids.partition(|id| is_common(id));
    let count = if informative.is_empty() { common.len() } else { informative.len() };
    (informative.into_iter().chain(common).collect(), count)
}

/// Whether a clause applies to every initialized variable.
fn is_common(id: &str) -> bool {
    static COMMON: LazyLock<ClauseSet> = LazyLock::new(common_clauses);
    Clause::from_id(id).is_some_and(|clause| COMMON.contains(clause))
}

/// Returns the clauses on which the expectation for a plain initialized scalar or array is based.
fn common_clauses() -> ClauseSet {
    let text = ".version 7.8\n.target sm_80\n.global .s32 x = 1;\n.global .s32 y[1] = {1};\n";
    let module = ptxsmith_syntax::parse(text).unwrap_or_default();
    let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else {
        return ClauseSet::EMPTY;
    };
    variables.iter().fold(ClauseSet::EMPTY, |set, variable| set.union(variable.trace.clauses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_of_every_initialized_variable_come_last() {
        let ids = ["4.5/initializer", "4.5.5/division", "from the future"].map(str::to_owned);
        assert_eq!(
            informative_first(&ids),
            (vec!["4.5.5/division", "from the future", "4.5/initializer"], 2)
        );
        assert_eq!(informative_first(&ids[..1]), (vec!["4.5/initializer"], 1));
    }

    #[test]
    fn every_section_of_the_table_has_a_heading() {
        for clause in Clause::ALL {
            assert_ne!(heading(section(clause.id())), "", "{}", clause.id());
        }
    }

    #[test]
    fn a_section_is_linked_by_its_heading() {
        let link = link("5.4.6").unwrap();
        assert!(link.ends_with("index.html#parameterized-variable-names"), "{link}");
        assert_eq!(super::link("99.9"), None);
    }

    #[test]
    fn the_order_is_that_of_the_manual() {
        let mut ids = ["z/unknown", "5.4.4/default-zero", "4.5.5/division", "4.5/initializer"];
        ids.sort_by_key(|id| order(id));
        assert_eq!((ids[0], ids[3]), ("4.5/initializer", "z/unknown"));
    }
}
