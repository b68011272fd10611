//! The options of an implementation that a listed deviation needs to show.
//!
//! Different options are different subjects of one lineage. A listed deviation explains results under any options. If
//! it does not show under options that switch off something it needs, that does not prove it is fixed in the release.

/// The compiler setting without which a deviation does not show: `optimizer`, `no-debug`. Other deviations show with
/// `-O0` to `-O3`, `-g` and `-c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The optimizer, which ptxas switches off with `-O0` and `-g`.
    Optimizer,
    /// No debug information, which ptxas generates with `-g`.
    NoDebug,
}

impl Needs {
    /// Parses the name that the file of a deviation uses.
    pub fn from_name(name: &str) -> Option<Needs> {
        match name {
            "optimizer" => Some(Needs::Optimizer),
            "no-debug" => Some(Needs::NoDebug),
            _ => None,
        }
    }

    /// Describes the need for the page of the deviation.
    pub fn described(self) -> &'static str {
        match self {
            Needs::Optimizer => "`-O1` to `-O3` (the default), not `-O0` or `-g`",
            Needs::NoDebug => "`-O0` to `-O3`, not `-g`",
        }
    }

    /// Returns true if these options do not meet the need.
    fn lacks(self, options: &[String]) -> bool {
        match self {
            Needs::Optimizer => !optimizes(options),
            Needs::NoDebug => is_debug(options),
        }
    }
}

/// Returns true if a deviation with these needs may not show with these options.
pub fn may_not_show(needs: Option<Needs>, options: &[String]) -> bool {
    needs.is_some_and(|needs| needs.lacks(options))
}

/// Returns true if ptxas generates debug code with these options.
fn is_debug(options: &[String]) -> bool {
    options.iter().any(|word| matches!(&**word, "-g" | "--device-debug" | "-device-debug"))
}

/// Returns true if ptxas optimizes with these options. The last `-O` counts.
fn optimizes(options: &[String]) -> bool {
    let mut level = None;
    let mut words = options.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-O" | "--opt-level" | "-opt-level" => level = words.next(),
            _ => {
                let forms = ["--opt-level=", "-opt-level=", "-O="];
                let own = forms.iter().find_map(|form| word.strip_prefix(form));
                level = own.or_else(|| word.strip_prefix("-O")).or(level);
            }
        }
    }
    !is_debug(options) && level != Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{KNOWN, Known};

    fn listed(id: &str) -> &'static Known {
        KNOWN.iter().find(|known| known.id == id).expect("it is listed")
    }

    #[test]
    fn what_needs_the_optimizer_may_not_show_without_it() {
        let may = |options: &str| {
            let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
            may_not_show(listed("missing-element-crash").needs, &options)
        };
        for options in
            ["-O0", "-g", "--opt-level 0", "--opt-level=0", "-O3 -O0", "-O3 --device-debug", "-c -O 0"]
        {
            assert!(may(options), "{options}");
        }
        for options in ["", "-O1", "-O3", "-c", "--opt-level 3", "-O0 -O2", "-lineinfo"] {
            assert!(!may(options), "{options}");
        }
        let relocation = listed("extern-function-relocation");
        let with = |options: &str| may_not_show(relocation.needs, &[options.to_owned()]);
        assert!(with("-g") && !with("-O0"));
        assert!(!may_not_show(listed("incomplete-rows-packed").needs, &["-O0".to_owned()]));
    }
}
