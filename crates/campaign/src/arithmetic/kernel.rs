//! Parses one generated kernel and derives smaller variants.

use std::fmt::Write as _;

/// A kernel without branches from a generated module, with one instruction per line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kernel {
    /// The instructions after the loads of the two pointers.
    lines: Vec<String>,
}

/// The first lines of every kernel.
const BEGINNING: [&str; 2] = ["ld.param.u64 %out, [out]", "ld.param.u64 %in, [in]"];
/// The type of a load into a register, by the prefix of the register name.
const LOADS: [(&str, &str); 3] = [("%h", "u16"), ("%r", "u32"), ("%d", "u64")];

impl Kernel {
    /// Returns the kernels of a module with their names.
    pub(super) fn all(module: &str) -> Vec<(String, Kernel)> {
        let bodies = module.split(".visible .entry ").skip(1);
        let kernel = |text: &str| {
            let name = text.split('(').next().unwrap_or_default().to_owned();
            let lines = text.lines().skip(2).filter_map(|line| line.strip_suffix(';'));
            let is_own =
                |line: &&str| !line.starts_with(".reg") && !BEGINNING.contains(line) && *line != "ret";
            (name, Kernel { lines: lines.filter(is_own).map(str::to_owned).collect() })
        };
        bodies.map(kernel).collect()
    }

    /// Prints the kernel under this name.
    pub(super) fn text(&self, name: &str) -> String {
        let mut text = format!(
            ".visible .entry {name}(.param .u64 out, .param .u64 in, .param .u32 s0, .param .u32 s1)\n{{\n.reg .b64 %out, %in;\n"
        );
        for (letter, ty) in [("%p", "pred"), ("%h", "b16"), ("%r", "b32"), ("%d", "b64")] {
            let number = |word: &str| word.strip_prefix(letter)?.parse::<u32>().ok();
            if let Some(most) = self.lines.iter().flat_map(|line| words(line)).filter_map(number).max() {
                let _ = writeln!(text, ".reg .{ty} {letter}<{}>;", most + 1);
            }
        }
        for line in BEGINNING.into_iter().chain(self.lines.iter().map(String::as_str)) {
            let _ = writeln!(text, "{line};");
        }
        text + "ret;\n}\n"
    }

    /// Returns the size: the number of instructions, then of characters.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.iter().map(String::len).sum())
    }

    /// Returns the opcodes without loads and stores. They keep the width of types but not the sign, and a subtraction
    /// counts as an addition.
    pub(super) fn form(&self) -> String {
        let computes = |line: &&String| !["ld.", "st."].iter().any(|word| line.starts_with(word));
        let opcode = |line: &String| {
            let mut words = line.split(' ').skip_while(|word| word.starts_with('@'));
            let parts = words.next().unwrap_or_default().split('.');
            // Subtracting a value is the same as adding its negative.
            let parts = parts.map(|part| if part == "sub" { "add" } else { unsigned(part) });
            parts.collect::<Vec<_>>().join(".")
        };
        let opcodes: Vec<String> = self.lines.iter().filter(computes).map(opcode).collect();
        opcodes.join(" ")
    }

    /// Returns smaller kernels, each with one change.
    pub(super) fn smaller(&self) -> Vec<Kernel> {
        let mut found: Vec<Kernel> = Vec::new();
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            if let Some((place, stored)) = store(line) {
                found.push(self.without(at));
                // Store an intermediate value, which may be wrong already.
                let others = self.sources(at, stored).into_iter().filter_map(|register| {
                    let (_, ty) = LOADS.iter().find(|(letter, _)| register.starts_with(letter))?;
                    Some(self.with(at, format!("st.global.{ty} {place}, {register}")))
                });
                found.extend(others);
                continue;
            }
            if line.starts_with("red.") {
                found.push(self.without(at));
                continue;
            }
            if let Some((_, unguarded)) = line.split_once(' ').filter(|_| line.starts_with('@')) {
                found.push(self.without(at));
                found.push(self.with(at, unguarded.to_owned()));
                continue;
            }
            let Some((_, operands)) = line.split_once(' ') else { continue };
            let Some((to, sources)) = operands.split_once(", ").filter(|(to, _)| to.starts_with('%')) else {
                continue;
            };
            // `%r1.b0`: a part of it is set.
            let to = to.split('.').next().unwrap_or(to);
            if !line.starts_with("ld.global.u") {
                let load = LOADS.iter().find(|(letter, _)| to.starts_with(letter));
                found.extend(
                    load.map(|(_, ty)| {
                        self.with(at, format!("ld.global.{ty} {to}, [%in+{}]", self.unread()))
                    }),
                );
            }
            let alike = words(sources).filter(|source| source.starts_with('%') && source[..2] == to[..2]);
            found.extend(alike.map(|source| self.without(at).renamed(to, source)));
            // Replace the comparison by one with a constant result.
            if to.starts_with("%p") && !line.starts_with("setp.ne.u32") {
                let word = words(sources).find(|source| source.starts_with("%r"));
                found.extend(word.map(|word| self.with(at, format!("setp.ne.u32 {to}, {word}, 0"))));
            }
        }
        for kernel in &mut found {
            kernel.remove_unused();
        }
        found.retain(|kernel| {
            kernel.size() < self.size() && kernel.lines.iter().any(|line| line.starts_with("st."))
        });
        found.sort_by_key(Kernel::size);
        found.dedup();
        found
    }

    /// Returns the source registers of the last instruction before a line that sets this register. Predicates are
    /// replaced by their own source registers.
    fn sources(&self, before: usize, register: &str) -> Vec<&str> {
        let setter = (0..before).rev().find(|&at| set(&self.lines[at]).any(|own| own == register));
        let Some((at, (_, read))) = setter.and_then(|at| Some((at, self.lines[at].split_once(", ")?))) else {
            return Vec::new();
        };
        let registers = words(read).filter(|word| word.starts_with('%') && *word != "%in");
        let through = |source| match str::starts_with(source, "%p") {
            true => self.sources(at, source),
            false => vec![source],
        };
        registers.flat_map(through).collect()
    }

    fn without(&self, at: usize) -> Kernel {
        let mut lines = self.lines.clone();
        lines.remove(at);
        Kernel { lines }
    }

    fn with(&self, at: usize, line: String) -> Kernel {
        let mut lines = self.lines.clone();
        lines[at] = line;
        Kernel { lines }
    }

    fn renamed(self, from: &str, to: &str) -> Kernel {
        let rename = |line: &String| {
            let mut text = String::new();
            for part in line.split_inclusive(|c: char| " ,{}[]|+.".contains(c)) {
                let word = part.trim_end_matches(|c: char| " ,{}[]|+.".contains(c));
                match word.trim_start_matches('!') == from {
                    true => text.push_str(&part.replace(from, to)),
                    false => text.push_str(part),
                }
            }
            text
        };
        Kernel { lines: self.lines.iter().map(rename).collect() }
    }

    /// Returns the first position of the input that no instruction reads.
    fn unread(&self) -> u64 {
        let place = |line: &String| line.split_once("[%in+")?.1.split(']').next()?.parse::<u64>().ok();
        self.lines.iter().filter_map(place).max().map_or(0, |last| last + 8)
    }

    /// Removes instructions that set registers without readers.
    fn remove_unused(&mut self) {
        loop {
            let is_used = |at: usize, register: &str| {
                let others = self.lines.iter().enumerate().filter(|(other, _)| *other != at);
                others.flat_map(|(_, line)| words(line)).any(|word| word == register)
            };
            let unused = (0..self.lines.len()).rev().find(|&at| {
                let line = &self.lines[at];
                !["st.", "red.", "atom.", "@"].iter().any(|word| line.starts_with(word))
                    && !line.contains(".cc")
                    && set(line).all(|register| !is_used(at, register))
            });
            match unused {
                Some(at) => _ = self.lines.remove(at),
                None => return,
            }
        }
    }
}

/// Returns the registers that an instruction without a guard sets.
fn set(line: &str) -> impl Iterator<Item = &str> {
    let destination = match line.split_once(" {") {
        Some((opcode, rest)) if !opcode.contains(' ') => rest.split('}').next(),
        _ => line.split(' ').nth(1),
    };
    words(destination.unwrap_or_default()).filter(|word| word.starts_with('%'))
}

/// Returns the position and the register of a store.
fn store(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("st.")?.split_once(' ')?.1.split_once(", ")
}

/// Returns the registers, numbers and names in a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| " ,{}[]|+!@.".contains(c)).filter(|word| !word.is_empty())
}

/// Returns a type without its sign.
fn unsigned(part: &str) -> &str {
    match part.strip_prefix(['u', 's', 'b']) {
        Some(bits @ ("8" | "16" | "32" | "64")) => bits,
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_read_and_written_alike_and_smaller_ones_use_what_they_set() {
        let module = ptxsmith_gen::arithmetic::module(3, 0..60, 0);
        for (name, kernel) in Kernel::all(&module) {
            let text = kernel.text(&name);
            assert_eq!(Kernel::all(&text), [(name, kernel.clone())]);
            for smaller in kernel.smaller() {
                assert!(smaller.size() < kernel.size());
                ptxsmith_syntax::parse(&smaller.text("k")).unwrap();
            }
        }
    }

    #[test]
    fn what_is_stored_may_be_what_its_source_was() {
        let text = ".visible .entry k(\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, [%in+0];\nsub.sat.s32 %r1, %r0, 5;\n\
                    setp.ne.u32 %p0, %r1, 7;\nselp.u32 %r2, 1, 0, %p0;\nst.global.u32 [%out+0], %r2;\nret;\n}\n";
        let kernel = Kernel::all(text).remove(0).1;
        assert_eq!(kernel.form(), "add.sat.32 setp.ne.32 selp.32");
        assert!(kernel.smaller().iter().any(|kernel| kernel.form() == "add.sat.32"));
    }

    #[test]
    fn the_form_is_the_opcodes_and_widths() {
        let text = "k(\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, [%in+0];\nadd.s32 %r1, %r0, 5;\nmul.lo.u32 %r2, %r0, 3;\n\
                    @%p1 add.sat.s32 %r1, %r1, 7;\nst.global.u32 [%out+0], %r1;\nret;\n}\n";
        let mut kernel = Kernel::all(&format!(".visible .entry {text}")).remove(0).1;
        kernel.remove_unused();
        assert_eq!(kernel.form(), "add.32 add.sat.32");
        let smaller = kernel.smaller();
        assert!(smaller.iter().any(|kernel| kernel.form() == "add.32"), "{smaller:?}");
        assert!(smaller.iter().any(|kernel| kernel.form() == "add.sat.32"), "{smaller:?}");
    }
}
