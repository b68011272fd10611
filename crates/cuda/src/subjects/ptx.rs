//! What the PTX of accepted uses shows: the value that a function returns, and whether a variable is there.

use std::collections::BTreeMap;

/// What PTX shows of the functions in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The bits that a function returns, where it returns one number that its body names, by its name.
    pub returned: BTreeMap<String, u64>,
    /// The functions that have a body here.
    pub defined: Vec<String>,
}

/// Reads PTX as `cicc` writes it.
///
/// Only the plainest body is understood: a value is moved into a register, or stored as it is, to the first return
/// parameter. Whatever else a function does, nothing is said of what it returns.
pub fn read(ptx: &str) -> Shown {
    let mut shown = Shown::default();
    let mut name: Option<String> = None;
    let mut registers: BTreeMap<&str, &str> = BTreeMap::new();
    let mut stored: Vec<&str> = Vec::new();
    let mut plain = true;
    let mut header = false;
    for line in ptx.lines().map(str::trim) {
        if line.contains(".func") || line.contains(".entry") {
            header = true;
            (registers, stored, plain, name) = (BTreeMap::new(), Vec::new(), true, None);
        }
        if header && name.is_none() {
            let rest = match line.split_once(".entry") {
                Some((_, rest)) => Some(rest),
                // `.visible .func  (.param .b32 func_retval0) c7(`
                None => line.rsplit_once(") ").map(|(_, rest)| rest).or_else(|| {
                    line.split_once(".func").map(|(_, rest)| rest).filter(|rest| !rest.contains("(.param"))
                }),
            };
            name = rest.map(|rest| rest.trim().trim_end_matches(['(', ')', ';']).trim().to_owned());
            if let Some(name) = &mut name {
                name.truncate(name.find('(').unwrap_or(name.len()));
            }
        }
        match line {
            ";" => header = false,
            "{" if header => header = false,
            "}" => {
                if let Some(name) = name.take() {
                    if let ([only], true) = (&stored[..], plain)
                        && let Some(bits) =
                            registers.get(only).map_or_else(|| number(only), |value| number(value))
                    {
                        shown.returned.insert(name.clone(), bits);
                    }
                    shown.defined.push(name);
                }
            }
            _ => {
                let Some(statement) = line.strip_suffix(';') else { continue };
                let mut words = statement.split_whitespace();
                let operation = words.next().unwrap_or_default();
                let operands: Vec<&str> = words.map(|word| word.trim_matches(',')).collect();
                match operands[..] {
                    [to, from] if operation.starts_with("mov.") => drop(registers.insert(to, from)),
                    [to, from] if operation.starts_with("st.param") && to.contains("func_retval0") => {
                        stored.push(from.trim_matches(['{', '}']));
                    }
                    _ if operation.starts_with(".reg")
                        || operation == "ret"
                        || operation.starts_with(".loc") => {}
                    _ => plain = false,
                }
            }
        }
    }
    shown
}

/// A number as PTX writes it, as bits.
fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0f") {
        return u32::from_str_radix(hex, 16).ok().map(u64::from);
    }
    if let Some(hex) = text.strip_prefix("0d") {
        return u64::from_str_radix(hex, 16).ok();
    }
    text.parse::<i64>().map(|value| value as u64).or_else(|_| text.parse::<u64>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_function_shows_what_it_returns() {
        let ptx = "\
.visible .func  (.param .b32 func_retval0) c12()
{
	.reg .b32 	%r<2>;

	mov.u32 	%r1, 42;
	st.param.b32 	[func_retval0+0], %r1;
	ret;

}
	// .globl	c13
.visible .func  (.param .b32 func_retval0) c13()
{
	st.param.f32 	[func_retval0], 0f40A00000;
	ret;
}
.visible .func  (.param .b64 func_retval0) c14(
	.param .b64 c14_param_0
)
{
	ld.param.u64 	%rd1, [c14_param_0];
	st.param.b64 	[func_retval0+0], %rd1;
	ret;
}
";
        let shown = read(ptx);
        assert_eq!(shown.defined, ["c12", "c13", "c14"]);
        assert_eq!(shown.returned.get("c12"), Some(&42));
        assert_eq!(shown.returned.get("c13"), Some(&0x40a0_0000));
        assert_eq!(shown.returned.get("c14"), None);
    }
}
