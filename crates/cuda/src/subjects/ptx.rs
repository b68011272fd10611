//! Reads the PTX of accepted cases: the values that functions return, and the functions that are there.

use std::collections::BTreeMap;

/// The functions in a PTX module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PtxFunctions {
    /// The bits that a function returns, by its name. Lacks functions whose bodies are not understood.
    pub returned: BTreeMap<String, u64>,
    /// The names of the functions with a body.
    pub defined: Vec<String>,
}

/// Reads PTX as `cicc` writes it.
///
/// Understands only the simplest bodies: a constant is moved into a register or stored directly, and the
/// first return parameter gets it. The returned values of all other functions are left out.
pub fn read(ptx: &str) -> PtxFunctions {
    let mut functions = PtxFunctions::default();
    let mut body = FunctionBody::default();
    let mut name: Option<String> = None;
    let mut is_header = false;
    for line in ptx.lines().map(str::trim) {
        if line.contains(".func") || line.contains(".entry") {
            is_header = true;
            body = FunctionBody::default();
            name = None;
        }
        if is_header && name.is_none() {
            name = function_name(line);
        }
        match line {
            ";" => is_header = false,
            "{" if is_header => is_header = false,
            "}" => {
                if let Some(name) = name.take() {
                    if let Some(bits) = body.returned() {
                        functions.returned.insert(name.clone(), bits);
                    }
                    functions.defined.push(name);
                }
            }
            _ => {
                if let Some(statement) = line.strip_suffix(';') {
                    body.read_statement(statement);
                }
            }
        }
    }
    functions
}

/// Returns the name of the function in a line of its header, such as `.visible .func  (.param .b32
/// func_retval0) c7(`.
fn function_name(line: &str) -> Option<String> {
    let rest = if let Some((_, rest)) = line.split_once(".entry") {
        rest
    } else if let Some((_, rest)) = line.rsplit_once(") ") {
        rest
    } else {
        line.split_once(".func").map(|(_, rest)| rest).filter(|rest| !rest.contains("(.param"))?
    };
    let name = rest.trim().trim_end_matches(['(', ')', ';']).trim();
    Some(name.split('(').next().unwrap_or(name).to_owned())
}

/// The statements of a function, as far as they are understood.
#[derive(Default)]
struct FunctionBody<'a> {
    /// The operands that are moved into registers, by register.
    registers: BTreeMap<&'a str, &'a str>,
    /// The operands that are stored to the first return parameter.
    stored: Vec<&'a str>,
    /// Whether a statement was not understood.
    has_others: bool,
}

impl<'a> FunctionBody<'a> {
    /// Reads a statement, without its semicolon.
    fn read_statement(&mut self, statement: &'a str) {
        let mut words = statement.split_whitespace();
        let operation = words.next().unwrap_or_default();
        let operands: Vec<&str> = words.map(|word| word.trim_matches(',')).collect();
        match operands[..] {
            [to, from] if operation.starts_with("mov.") => drop(self.registers.insert(to, from)),
            [to, from] if operation.starts_with("st.param") && to.contains("func_retval0") => {
                self.stored.push(from.trim_matches(['{', '}']));
            }
            _ if operation.starts_with(".reg") || operation == "ret" || operation.starts_with(".loc") => {}
            _ => self.has_others = true,
        }
    }

    /// Returns the bits that the function returns, if all its statements were understood.
    fn returned(&self) -> Option<u64> {
        match self.stored[..] {
            [operand] if !self.has_others => number(self.registers.get(operand).copied().unwrap_or(operand)),
            _ => None,
        }
    }
}

/// Parses a number of PTX, and returns its bits.
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
        let functions = read(ptx);
        assert_eq!(functions.defined, ["c12", "c13", "c14"]);
        assert_eq!(functions.returned.get("c12"), Some(&42));
        assert_eq!(functions.returned.get("c13"), Some(&0x40a0_0000));
        assert_eq!(functions.returned.get("c14"), None);
    }
}
