//! The clauses of a report: by their names, since a report may be older or newer than the table of this version.

use std::sync::LazyLock;

use ptxsmith_oracle::{Clause, ClauseSet, Expectation, Rules, expect};

/// The most clauses of one finding that are looked at: more than there are.
const MOST: usize = 250;

/// What a clause says; `None` for a name that this version does not know.
pub fn summary(id: &str) -> Option<&'static str> {
    Clause::from_id(id).map(Clause::summary)
}

/// The section of the manual that a clause stands in: what stands before the slash.
pub fn section(id: &str) -> &str {
    id.split_once('/').map_or(id, |(section, _)| section)
}

/// The heading of a section of the manual; nothing for one that this version does not know.
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

/// The heading of a section in NVIDIA's public manual, as a link. Its numbers change with the manual; the names do not.
pub fn link(section: &str) -> Option<String> {
    const MANUAL: &str = "https://docs.nvidia.com/cuda/parallel-thread-execution/index.html";
    let anchor = match section {
        "5.4.8" => "variable-and-function-attribute-directive-attribute".to_owned(),
        _ => heading(section).to_lowercase().replace(' ', "-"),
    };
    (!anchor.is_empty()).then(|| format!("{MANUAL}#{anchor}"))
}

/// The place of a clause in the order of the manual; names that this version does not know come last, by name.
pub fn order(id: &str) -> (usize, &str) {
    let place = Clause::from_id(id).and_then(|clause| Clause::ALL.iter().position(|&other| other == clause));
    (place.unwrap_or(usize::MAX), id)
}

/// The same clauses, those first that say most about a deviation; and how many of them do.
///
/// A difference that nothing explains breaks one of the clauses that its expectation rests on, and it is not known
/// which. But some every initialized variable rests on: they come last. Where there are only such, all tell.
pub fn telling(clauses: &[String]) -> (Vec<&str>, usize) {
    static COMMON: LazyLock<ClauseSet> = LazyLock::new(|| {
        let text = ".version 7.8\n.target sm_80\n.global .s32 x = 1;\n.global .s32 y[1] = {1};\n";
        let module = ptxsmith_syntax::parse(text).unwrap_or_default();
        match expect(&module, &Rules::default()) {
            Expectation::Accepted { variables, .. } => {
                variables.iter().fold(ClauseSet::EMPTY, |set, variable| set.union(variable.trace.clauses))
            }
            _ => ClauseSet::EMPTY,
        }
    });
    let is_common = |id: &&str| Clause::from_id(id).is_some_and(|clause| COMMON.contains(clause));
    let known = clauses.iter().take(MOST).map(String::as_str);
    let (common, telling): (Vec<&str>, Vec<&str>) = known.partition(is_common);
    let count = if telling.is_empty() { common.len() } else { telling.len() };
    (telling.into_iter().chain(common).collect(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_initialized_variable_rests_on_comes_last() {
        let ids = ["4.5/initializer", "4.5.5/division", "from the future"].map(str::to_owned);
        assert_eq!(telling(&ids), (vec!["4.5.5/division", "from the future", "4.5/initializer"], 2));
        assert_eq!(telling(&ids[..1]), (vec!["4.5/initializer"], 1));
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
