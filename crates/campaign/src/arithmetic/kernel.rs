//! Parses one generated kernel and derives smaller variants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A kernel from a generated module, with one instruction or label per line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KernelText {
    /// The instructions after the loads of the two pointers, and the labels, which end with a colon.
    lines: Vec<String>,
}

/// The first lines of every kernel.
const BEGINNING: [&str; 2] = ["ld.param.u64 %out, [out]", "ld.param.u64 %in, [in]"];
/// The type of a load into a register, by the prefix of the register name.
const LOADS: [(&str, &str); 3] = [("%h", "u16"), ("%r", "u32"), ("%d", "u64")];

impl KernelText {
    /// Returns the kernels of a module with their names.
    pub(super) fn all(module: &str) -> Vec<(String, KernelText)> {
        module.split(".visible .entry ").skip(1).map(KernelText::parse).collect()
    }

    /// Parses a module from the name of a kernel on. Returns the name and the kernel.
    fn parse(text: &str) -> (String, KernelText) {
        let name = text.split('(').next().unwrap_or_default().to_owned();
        let instructions = text.lines().skip(2);
        let lines = instructions
            .filter_map(|line| line.strip_suffix(';').or(line.ends_with(':').then_some(line)))
            .filter(|line| !line.starts_with(".reg") && !BEGINNING.contains(line) && *line != "ret")
            .map(str::to_owned)
            .collect();
        (name, KernelText { lines })
    }

    /// Prints the kernel under this name.
    pub(super) fn text(&self, name: &str) -> String {
        let mut text = format!(
            ".visible .entry {name}(.param .u64 out, .param .u64 in, .param .u32 s0, .param .u32 s1)\n\
             {{\n.reg .b64 %out, %in;\n"
        );
        for (letter, ty) in [("%p", "pred"), ("%h", "b16"), ("%r", "b32"), ("%d", "b64")] {
            let all_words = self.lines.iter().flat_map(|line| words(line));
            let numbers = all_words.filter_map(|word| word.strip_prefix(letter)?.parse::<u32>().ok());
            if let Some(last) = numbers.max() {
                let _ = writeln!(text, ".reg .{ty} {letter}<{}>;", last + 1);
            }
        }
        for line in BEGINNING.into_iter().chain(self.lines.iter().map(String::as_str)) {
            let end = if line.ends_with(':') { "" } else { ";" };
            let _ = writeln!(text, "{line}{end}");
        }
        text + "ret;\n}\n"
    }

    /// Returns the size: the number of instructions, then of characters.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.iter().map(String::len).sum())
    }

    /// Returns the opcodes without loads, stores and the instructions that separate the lanes. They keep the width of
    /// types but not the sign, and a subtraction counts as an addition.
    pub(super) fn form(&self) -> String {
        let computing = self.lines.iter().filter(|line| {
            !["ld.", "st.", "$"].iter().any(|prefix| line.starts_with(prefix)) && !separates_lanes(line)
        });
        let opcodes: Vec<String> = computing.map(|line| general_opcode(line)).collect();
        opcodes.join(" ")
    }

    /// Returns the kernels that store just one of the values.
    fn with_single_stores(&self) -> Vec<KernelText> {
        let is_store = |line: &String| store(line).is_some();
        let mut kernels: Vec<KernelText> = Vec::new();
        for (kept, _) in self.lines.iter().enumerate().filter(|(_, line)| is_store(line)) {
            let lines = self.lines.iter().enumerate();
            let lines = lines.filter(|&(index, line)| index == kept || !is_store(line));
            let mut kernel = KernelText { lines: lines.map(|(_, line)| line.clone()).collect() };
            kernel.remove_unused();
            kernels.push(kernel);
        }
        kernels
    }

    /// Returns smaller kernels, the shortest first: with a single store, or with one change.
    pub(super) fn smaller(&self) -> Vec<KernelText> {
        let mut candidates = self.with_single_stores();
        for index in 0..self.lines.len() {
            self.add_changes(index, &mut candidates);
        }
        for kernel in &mut candidates {
            kernel.remove_unused();
        }
        candidates.retain(|kernel| {
            let stores = kernel.lines.iter().any(|line| line.starts_with("st."));
            kernel.size() < self.size() && stores && kernel.has_all_labels()
        });
        candidates.sort_by_key(KernelText::size);
        candidates.dedup();
        candidates
    }

    /// Adds the kernels with one change of the instruction with this index.
    fn add_changes(&self, index: usize, candidates: &mut Vec<KernelText>) {
        let line = &self.lines[index];
        if let Some((_, label)) = line.split_once("bra ") {
            candidates.push(self.without(index));
            candidates.extend(self.without_all_to(index, label));
        }
        if let Some((place, stored)) = store(line) {
            candidates.push(self.without(index));
            // Store an intermediate value, which may be wrong already.
            let others = self.sources(index, stored).into_iter().filter_map(|register| {
                let (_, ty) = LOADS.iter().find(|(letter, _)| register.starts_with(letter))?;
                Some(self.with(index, format!("st.global.{ty} {place}, {register}")))
            });
            candidates.extend(others);
            return;
        }
        if line.starts_with("red.") {
            candidates.push(self.without(index));
            return;
        }
        let Some((first, rest)) = line.split_once(' ') else { return };
        if first.starts_with('@') {
            candidates.push(self.without(index));
            candidates.push(self.with(index, rest.to_owned()));
            return;
        }
        let Some((to, sources)) = rest.split_once(", ").filter(|(to, _)| to.starts_with('%')) else { return };
        // `%r1.b0`: a part of it is set.
        let to = to.split('.').next().unwrap_or(to);
        if !line.starts_with("ld.global.u")
            && let Some((_, ty)) = LOADS.iter().find(|(letter, _)| to.starts_with(letter))
        {
            candidates.push(self.with(index, format!("ld.global.{ty} {to}, [%in+{}]", self.unread())));
        }
        // Use a source of the same kind, or a source of a source, in place of the result.
        let mut alike: Vec<&str> = words(sources).filter(|source| source.starts_with('%')).collect();
        for _ in 0..2 {
            let further: Vec<&str> = alike.iter().flat_map(|source| self.sources(index, source)).collect();
            alike.extend(further);
        }
        alike.sort_unstable();
        alike.dedup();
        let alike = alike.into_iter().filter(|source| source[..2] == to[..2]);
        candidates.extend(alike.map(|source| self.without(index).renamed(to, source)));
        // Replace the comparison by one with a constant result.
        if to.starts_with("%p") && !line.starts_with("setp.ne.u32") {
            let word = words(sources).find(|source| source.starts_with("%r"));
            candidates.extend(word.map(|word| self.with(index, format!("setp.ne.u32 {to}, {word}, 0"))));
        }
    }

    /// Returns the source registers of the last instruction before a line that sets this register. Predicates
    /// are replaced by their own source registers.
    fn sources(&self, before: usize, register: &str) -> Vec<&str> {
        let sets_it = |&index: &usize| set(&self.lines[index]).any(|other| other == register);
        let Some(setter) = (0..before).rev().find(sets_it) else { return Vec::new() };
        let Some((_, read)) = self.lines[setter].split_once(", ") else { return Vec::new() };
        let mut sources = Vec::new();
        for source in words(read).filter(|word| word.starts_with('%') && *word != "%in") {
            if source.starts_with("%p") {
                sources.extend(self.sources(setter, source));
            } else {
                sources.push(source);
            }
        }
        sources
    }

    fn without(&self, index: usize) -> KernelText {
        let mut lines = self.lines.clone();
        lines.remove(index);
        KernelText { lines }
    }

    /// Returns true if every branch leads to a label of the kernel.
    fn has_all_labels(&self) -> bool {
        let mut targets = self.lines.iter().filter_map(|line| Some(line.split_once("bra ")?.1));
        targets.all(|target| self.lines.iter().any(|line| line.strip_suffix(':') == Some(target)))
    }

    /// Returns the kernel without the lines from this one to a label, in either direction.
    fn without_all_to(&self, index: usize, label: &str) -> Option<KernelText> {
        let label = self.lines.iter().position(|line| line.strip_suffix(':') == Some(label))?;
        let mut lines = self.lines.clone();
        lines.drain(index.min(label)..=index.max(label));
        Some(KernelText { lines })
    }

    fn with(&self, index: usize, line: String) -> KernelText {
        let mut lines = self.lines.clone();
        lines[index] = line;
        KernelText { lines }
    }

    fn renamed(self, from: &str, to: &str) -> KernelText {
        KernelText { lines: self.lines.iter().map(|line| renamed_in(line, from, to)).collect() }
    }

    /// Returns the first position of the input that no instruction reads.
    fn unread(&self) -> u64 {
        let read = self.lines.iter().filter_map(|line| {
            let (_, address) = line.split_once("[%in+")?;
            address.split(']').next()?.parse::<u64>().ok()
        });
        read.max().map_or(0, |last| last + 8)
    }

    /// Removes instructions that set registers without readers, and labels without branches.
    fn remove_unused(&mut self) {
        // The lines that read each register or go to each label.
        let mut readers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (index, line) in self.lines.iter().enumerate() {
            for word in words(line).filter(|&word| !set(line).any(|register| register == word)) {
                readers.entry(word).or_default().insert(index);
            }
        }
        let mut removed = BTreeSet::new();
        loop {
            let is_unused = |name: &str| {
                readers.get(name).is_none_or(|lines| lines.iter().all(|line| removed.contains(line)))
            };
            let unused = (0..self.lines.len()).rev().find(|index| {
                !removed.contains(index)
                    && names_to_keep(&self.lines[*index]).is_some_and(|mut names| names.all(is_unused))
            });
            match unused {
                Some(index) => removed.insert(index),
                None => break,
            };
        }
        let mut index = 0..;
        self.lines.retain(|_| index.next().is_none_or(|index| !removed.contains(&index)));
    }
}

/// Returns the names for which a line is there: a label, or the registers that an instruction sets. `None` if it has
/// another effect.
fn names_to_keep(line: &str) -> Option<impl Iterator<Item = &str>> {
    let label = line.strip_suffix(':');
    let has_effect = ["st.", "red.", "atom.", "@", "bra "].iter().any(|prefix| line.starts_with(prefix))
        || line.contains(".cc");
    let registers = set(label.map_or(line, |_| ""));
    (!has_effect).then(|| label.into_iter().chain(registers))
}

/// Whether an instruction gives each lane memory of its own, or asks for the number of the lane.
fn separates_lanes(line: &str) -> bool {
    let is_pointer = |to: &str| line.starts_with("mad.wide.u32") && set(line).any(|register| register == to);
    ["%tid.x", "%laneid"].iter().any(|special| line.ends_with(special))
        || is_pointer("%in")
        || is_pointer("%out")
}

/// Returns the opcode of an instruction, with addition for subtraction and types without their sign.
fn general_opcode(line: &str) -> String {
    let mut words = line.split(' ').skip_while(|word| word.starts_with('@'));
    let parts = words.next().unwrap_or_default().split('.');
    // Subtracting a value is the same as adding its negative.
    let parts = parts.map(|part| if part == "sub" { "add" } else { unsigned(part) });
    parts.collect::<Vec<_>>().join(".")
}

/// Returns a line in which the register `from` is replaced by `to`.
fn renamed_in(line: &str, from: &str, to: &str) -> String {
    let mut text = String::new();
    for part in line.split_inclusive(is_separator) {
        let word = part.trim_end_matches(is_separator);
        if word.trim_start_matches('!') == from {
            text.push_str(&part.replace(from, to));
        } else {
            text.push_str(part);
        }
    }
    text
}

fn is_separator(c: char) -> bool {
    " ,{}[]|+.".contains(c)
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
        let module = ptxsmith_gen::arithmetic::module(3, 0..40, 0);
        for (name, kernel) in KernelText::all(&module) {
            let text = kernel.text(&name);
            assert_eq!(KernelText::all(&text), [(name, kernel.clone())]);
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
        let kernel = KernelText::all(text).remove(0).1;
        assert_eq!(kernel.form(), "add.sat.32 setp.ne.32 selp.32");
        assert!(kernel.smaller().iter().any(|kernel| kernel.form() == "add.sat.32"));
    }

    #[test]
    fn a_kernel_with_a_single_store_has_only_what_the_stored_value_needs() {
        let text = "k(\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, [%in+0];\nadd.s32 %r1, %r0, 5;\nld.global.u32 %r2, [%in+8];\n\
                    not.b32 %r3, %r2;\nneg.s32 %r3, %r3;\nst.global.u32 [%out+0], %r1;\nst.global.u32 [%out+8], %r3;\nret;\n}\n";
        let kernels = KernelText::parse(text).1.with_single_stores();
        let forms: Vec<String> = kernels.iter().map(KernelText::form).collect();
        assert_eq!(forms, ["add.32", "not.32 neg.32"]);
        assert!(
            kernels
                .iter()
                .all(|kernel| kernel.lines.iter().filter(|line| store(line).is_some()).count() == 1)
        );
    }

    #[test]
    fn a_loop_is_reduced_to_one_round_or_removed() {
        let text = ".visible .entry k(\n{\n.reg .b32 %r<4>;\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %in, %r0, 8192, %in;\n\
                    ld.global.u32 %r1, [%in+0];\nmov.b32 %r2, 0;\n$L1:\nadd.s32 %r1, %r1, %r1;\nadd.s32 %r2, %r2, 1;\n\
                    setp.lt.u32 %p0, %r2, 5;\n@%p0 bra $L1;\nst.global.u32 [%out+0], %r1;\nret;\n}\n";
        let kernel = KernelText::all(text).remove(0).1;
        assert_eq!(kernel.form(), "mov.32 add.32 add.32 setp.lt.32 bra");
        let forms: Vec<String> = kernel.smaller().iter().map(KernelText::form).collect();
        assert!(forms.iter().any(|form| form == "add.32"), "{forms:?}");
        assert!(forms.iter().any(String::is_empty), "{forms:?}");
        assert!(
            kernel
                .smaller()
                .iter()
                .all(|kernel| !kernel.text("k").contains("bra") || kernel.text("k").contains("$L1:"))
        );
    }

    #[test]
    fn the_form_is_the_opcodes_and_widths() {
        let text = "k(\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, [%in+0];\nadd.s32 %r1, %r0, 5;\nmul.lo.u32 %r2, %r0, 3;\n\
                    @%p1 add.sat.s32 %r1, %r1, 7;\nst.global.u32 [%out+0], %r1;\nret;\n}\n";
        let mut kernel = KernelText::all(&format!(".visible .entry {text}")).remove(0).1;
        kernel.remove_unused();
        assert_eq!(kernel.form(), "add.32 add.sat.32");
        let smaller = kernel.smaller();
        assert!(smaller.iter().any(|kernel| kernel.form() == "add.32"), "{smaller:?}");
        assert!(smaller.iter().any(|kernel| kernel.form() == "add.sat.32"), "{smaller:?}");
    }
}
