//! The known deviations of compiled arithmetic: files of `corpus/deviations/arithmetic`, each named by the id that its findings get.

use std::sync::LazyLock;

pub use crate::linking::Listed;
use crate::linking::in_folder;

static LISTED: LazyLock<Vec<Listed>> = LazyLock::new(|| in_folder("arithmetic"));

/// Every known deviation of compiled arithmetic.
pub fn listed() -> &'static [Listed] {
    &LISTED
}

impl Listed {
    /// Whether a finding of this id is it, or has its cause: `also` of a listed deviation may have `*` for any characters.
    pub fn covers(&self, id: &str) -> bool {
        self.id == id || self.also.iter().any(|pattern| matches(pattern, id))
    }
}

/// Whether a text is a pattern's, where `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(behind) = text.strip_prefix(before) else { return false };
    (0..=behind.len()).any(|at| behind.is_char_boundary(at) && matches(rest, &behind[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_deviation_has_a_kernel_that_is_computed() {
        assert!(listed().len() >= 4);
        for listed in listed() {
            let (_, module) = &listed.modules[0];
            let calculations = crate::arithmetic::Calculations::new(module, 8).unwrap();
            assert!(calculations.kernels.iter().all(|kernel| kernel.runs.is_ok()), "{}", listed.id);
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(matches("a-*-c", "a-b-b-c") && matches("a*", "a") && matches("a", "a"));
        assert!(!matches("a-*-c", "a-c") && !matches("a", "ab") && !matches("b*", "ab"));
    }
}
