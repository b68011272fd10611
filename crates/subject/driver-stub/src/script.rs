//! Parses the stub's script: a text file with one fact on each line.
//!
//! ```text
//! # comment
//! version 12040               what cuDriverGetVersion gives
//! devices 1                   how many there are; without this line none
//! device 9.0 Stub Device      compute capability and name
//! error cuInit 100            every call of this function fails
//! variable x 05000000         a variable of every module that has the word `x`, and its bytes
//! address p 0 8 x 4           at byte 0 of `p` the loader writes 8 bytes of the address of `x` plus 4
//! kernel k 0a0b               what the kernel writes into its output buffer, or past it
//! if bad load 218 text        the loading of a module with the word `bad` fails, and this is the log; `\n` is a new line
//! if bad signal 8             ... ends the process with a signal
//! if bad hang                 ... does not end
//! if bad launch 700           a kernel of such a module fails, and everything after it
//! ```

/// A variable and its bytes.
#[derive(Debug)]
pub struct ScriptedVariable {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// An address that the loader writes.
#[derive(Debug)]
pub struct ScriptedAddress {
    pub variable: String,
    pub offset: usize,
    pub width: usize,
    pub symbol: String,
    pub addend: i64,
}

/// The effect on modules that contain a certain word.
#[derive(Debug)]
pub enum ScriptedEffect {
    Load(i32, String),
    Signal(i32),
    Hang,
    Launch(i32),
}

/// A parsed script.
#[derive(Debug, Default)]
pub struct StubScript {
    pub version: i32,
    pub devices: i32,
    pub capability: (i32, i32),
    pub name: String,
    pub errors: Vec<(String, i32)>,
    pub variables: Vec<ScriptedVariable>,
    pub slots: Vec<ScriptedAddress>,
    pub kernels: Vec<ScriptedVariable>,
    pub fates: Vec<(String, ScriptedEffect)>,
}

impl StubScript {
    /// Parses a script; an invalid line is an error that contains the line.
    pub fn parse(text: &str) -> Result<StubScript, String> {
        let mut script = StubScript { version: 12040, name: "Stub".to_owned(), ..StubScript::default() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            script.line(line).ok_or_else(|| format!("the stub does not understand `{line}`"))?;
        }
        Ok(script)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["version", version] => self.version = version.parse().ok()?,
            ["devices", count] => self.devices = count.parse().ok()?,
            ["device", capability, ..] => {
                let (major, minor) = capability.split_once('.')?;
                self.capability = (major.parse().ok()?, minor.parse().ok()?);
                self.name = words[2..].join(" ");
            }
            ["error", call, code] => self.errors.push((call.to_owned(), code.parse().ok()?)),
            ["variable", name, bytes] => self.variables.push(variable(name, bytes)?),
            ["kernel", name, bytes] => self.kernels.push(variable(name, bytes)?),
            ["address", variable, offset, width, symbol, addend] => self.slots.push(ScriptedAddress {
                variable: variable.to_owned(),
                offset: offset.parse().ok()?,
                width: width.parse().ok()?,
                symbol: symbol.to_owned(),
                addend: addend.parse().ok()?,
            }),
            ["if", word, ref rest @ ..] => {
                let fate = match *rest {
                    ["load", code, ..] => {
                        ScriptedEffect::Load(code.parse().ok()?, rest[2..].join(" ").replace("\\n", "\n"))
                    }
                    ["signal", number] => ScriptedEffect::Signal(number.parse().ok()?),
                    ["hang"] => ScriptedEffect::Hang,
                    ["launch", code] => ScriptedEffect::Launch(code.parse().ok()?),
                    _ => return None,
                };
                self.fates.push((word.to_owned(), fate));
            }
            _ => return None,
        }
        Some(())
    }
}

fn variable(name: &str, bytes: &str) -> Option<ScriptedVariable> {
    let bytes = bytes.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?;
    Some(ScriptedVariable { name: name.to_owned(), bytes })
}

/// Parses two hexadecimal digits.
fn byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2)?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_description_is_understood() {
        let text = include_str!("script.rs");
        let described = text.split("```text").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let mut lines = 0;
        for line in described.lines().map(|line| line.trim_start_matches("//!").trim()) {
            // Two spaces separate the line from its explanation.
            let line = line.split("  ").next().unwrap();
            if !line.is_empty() {
                StubScript::parse(line).unwrap();
                lines += 1;
            }
        }
        assert_eq!(lines, 12);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for line in ["versoin 1", "version x", "variable x 0", "variable x 0g", "if a", "address p 0 8 x"] {
            assert_eq!(
                StubScript::parse(line).unwrap_err(),
                format!("the stub does not understand `{line}`")
            );
        }
    }
}
