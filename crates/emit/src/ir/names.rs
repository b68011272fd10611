//! Names that LLVM's IR allows and PTX may not. A global can point to an internal variable with such a name;
//! the back end may rename it, so the variable is known by its value.

ptxsmith_syntax::every! {
    /// A form of a name; `N` stands for the number of the global.
    pub enum OddName {
        /// A plain name.
        Plain = "nN",
        /// A dot.
        Dot = "nN.x",
        /// A dollar sign.
        Dollar = "nN$x",
        /// A name that begins with a dollar sign.
        FirstDollar = "$nN",
        /// A name that begins with an underscore.
        FirstUnderscore = "_nN",
        /// A name that begins with a percent sign, as registers do.
        Percent = "%nN",
        /// A hyphen.
        Hyphen = "nN-x",
        /// A space.
        Space = "nN x",
        /// An at sign.
        At = "nN@x",
        /// Angle brackets.
        Angle = "nN<x>",
        /// A letter beyond ASCII.
        Letter = "nN\\C3\\A9",
        /// A quotation mark.
        Quote = "nN\\22x",
        /// A name that is not to be mangled.
        Unmangled = "\\01nN",
        /// Digits alone.
        Digits = "9N",
        /// A name that begins with a digit.
        FirstDigit = "9N_x",
        /// An underscore alone before the number.
        Underscores = "__N",
        /// The name that the back end would make of a name with a dot, beside that name.
        Collision = "nN.y",
    }
}

/// The value of the variable with an odd name is this number plus the number of the global.
pub const MARK: u64 = 6_872_000_000_000;

/// The value of a second variable, whose name the first one must not get.
const DECOY: u64 = 7_872_000_000_000;

impl OddName {
    /// Returns the name of the variable of a global, as IR quotes it.
    pub fn quoted(self, number: u64) -> String {
        format!("@\"{}\"", self.name().replace('N', &number.to_string()))
    }

    /// Returns the declarations of the variable, with the others that its name needs.
    pub fn declarations(self, number: u64) -> String {
        let name = self.quoted(number);
        let variable = format!("{name} = internal addrspace(1) global i64 {}\n", MARK + number);
        match self {
            OddName::Collision => format!(
                "@\"n{number}_$_y\" = internal addrspace(1) global i64 {}\n{variable}",
                DECOY + number
            ),
            _ => variable,
        }
    }
}

/// Returns the number of the global to which a variable with an odd name belongs, and its printed name if it
/// is the one that the global points to: it is known by its value.
pub fn marked(line: &str) -> Option<(u64, Option<&str>)> {
    let (before, value) = line.trim_end().strip_suffix(';')?.split_once(" = ")?;
    let value: u64 = value.parse().ok()?;
    let name = before.split(".u64 ").nth(1)?;
    let of = |base: u64| value.checked_sub(base).filter(|number| *number < DECOY - MARK);
    match (of(DECOY), of(MARK)) {
        (Some(number), _) => Some((number, None)),
        (None, Some(number)) => Some((number, Some(name))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_with_an_odd_name_is_known_by_its_value() {
        let line = |value: u64| format!(".global .align 8 .u64 n5_$_x = {value};");
        assert_eq!(marked(&line(MARK + 5)), Some((5, Some("n5_$_x"))));
        assert_eq!(marked(&line(DECOY + 5)), Some((5, None)));
        assert_eq!(marked(&line(5)), None);
        assert_eq!(OddName::Letter.quoted(5), "@\"n5\\C3\\A9\"");
    }
}
