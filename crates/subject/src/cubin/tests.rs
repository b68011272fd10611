//! NVIDIA's output is not ours to commit: these tests build small cubins of their own. What real ones hold is
//! tested through the `ptxas` subject where a ptxas is installed.

use std::collections::BTreeMap;

use super::*;
use ptxsmith_model::Observation;

/// A cubin as ptxas lays it out, with every field open to abuse.
#[derive(Clone, Default)]
struct Cubin {
    sections: Vec<Section>,
    symbols: Vec<Symbol>,
    rels: Vec<(usize, u64, u32, u32)>,
    relas: Vec<(usize, u64, u32, u32, i64)>,
}

#[derive(Clone)]
struct Section {
    name: &'static str,
    sh_type: u32,
    align: u64,
    data: Vec<u8>,
    size: u64,
}

#[derive(Clone)]
struct Symbol {
    name: String,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

impl Cubin {
    /// Adds a section; returns its index.
    fn section(&mut self, name: &'static str, align: u64, data: &[u8]) -> u16 {
        self.sections.push(Section { name, sh_type: 1, align, data: data.into(), size: data.len() as u64 });
        self.sections.len() as u16
    }

    fn nobits(&mut self, name: &'static str, align: u64, size: u64) -> u16 {
        self.sections.push(Section { name, sh_type: 8, align, data: Vec::new(), size });
        self.sections.len() as u16
    }

    /// Adds a variable; returns its symbol number.
    fn variable(&mut self, name: &str, section: u16, value: u64, size: u64) -> u32 {
        self.symbol(name, 1, section, value, size)
    }

    fn symbol(&mut self, name: &str, info: u8, section: u16, value: u64, size: u64) -> u32 {
        self.symbols.push(Symbol { name: name.into(), info, other: 0, section, value, size });
        self.symbols.len() as u32
    }

    fn bytes(&self) -> Vec<u8> {
        let mut file = vec![0; 64];
        let (mut headers, mut names) = (vec![0u8; 64], vec![0u8]);
        let mut add =
            |file: &mut Vec<u8>, name: &str, sh_type: u32, data: &[u8], size, link, info, align, entry| {
                file.resize(file.len().next_multiple_of(8), 0);
                headers.extend((names.len() as u32).to_le_bytes());
                headers.extend(sh_type.to_le_bytes());
                for word in [0, 0, file.len() as u64, size] {
                    headers.extend(u64::to_le_bytes(word));
                }
                headers.extend(u32::to_le_bytes(link));
                headers.extend(u32::to_le_bytes(info));
                headers.extend(u64::to_le_bytes(align));
                headers.extend(u64::to_le_bytes(entry));
                names.extend(name.as_bytes());
                names.push(0);
                file.extend(data);
            };
        for section in &self.sections {
            add(
                &mut file,
                section.name,
                section.sh_type,
                &section.data,
                section.size,
                0,
                0,
                section.align,
                0,
            );
        }
        let symtab = self.sections.len() as u32 + 1;
        let (mut table, mut strings) = (vec![0u8; 24], vec![0u8]);
        for symbol in &self.symbols {
            table.extend((strings.len() as u32).to_le_bytes());
            table.extend([symbol.info, symbol.other]);
            table.extend(symbol.section.to_le_bytes());
            table.extend(symbol.value.to_le_bytes());
            table.extend(symbol.size.to_le_bytes());
            strings.extend(symbol.name.as_bytes());
            strings.push(0);
        }
        add(&mut file, ".symtab", 2, &table, table.len() as u64, symtab + 1, 1, 8, 24);
        add(&mut file, ".strtab", 3, &strings, strings.len() as u64, 0, 0, 1, 0);
        for &(section, offset, r_type, symbol) in &self.rels {
            let mut entry = offset.to_le_bytes().to_vec();
            entry.extend((u64::from(symbol) << 32 | u64::from(r_type)).to_le_bytes());
            add(&mut file, ".rel", 9, &entry, 16, symtab, section as u32, 8, 16);
        }
        for &(section, offset, r_type, symbol, addend) in &self.relas {
            let mut entry = offset.to_le_bytes().to_vec();
            entry.extend((u64::from(symbol) << 32 | u64::from(r_type)).to_le_bytes());
            entry.extend(addend.to_le_bytes());
            add(&mut file, ".rela", 4, &entry, 24, symtab, section as u32, 8, 24);
        }
        // The names of sections come last, without a name of their own.
        headers.extend([0, 0, 0, 0, 3, 0, 0, 0]);
        for word in [0, 0, file.len() as u64, names.len() as u64, 0, 1, 0] {
            headers.extend(u64::to_le_bytes(word));
        }
        file.extend(&names);
        file.resize(file.len().next_multiple_of(8), 0);
        let offset = file.len() as u64;
        let count = (headers.len() / 64) as u16;
        file.extend(headers);
        file[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\x41\x08\0\0\0\0\0\0\0\x02\0\xbe\0");
        file[20] = 1;
        file[40..48].copy_from_slice(&offset.to_le_bytes());
        file[52..54].copy_from_slice(&64u16.to_le_bytes());
        file[58..60].copy_from_slice(&64u16.to_le_bytes());
        file[60..62].copy_from_slice(&count.to_le_bytes());
        file[62..64].copy_from_slice(&(count - 1).to_le_bytes());
        file
    }

    fn read(&self) -> Result<Variables, Malformed> {
        read(&self.bytes())
    }

    fn complaint(&self) -> String {
        self.read().unwrap_err().to_string()
    }

    /// Why the one variable that cannot be read is not; all others can.
    fn reason(&self, name: &str) -> String {
        let mut variables = self.read().unwrap();
        let unread = variables.remove(name).unwrap();
        assert!(variables.values().all(|variable| variable.reason.is_none()));
        assert_eq!((unread.bytes, unread.addresses), (None, None));
        unread.reason.unwrap()
    }
}

/// Two initialized globals, a zero one, two constants, a kernel, and addresses of every sort.
fn sample() -> Cubin {
    let mut cubin = Cubin::default();
    let mut data = vec![0; 30];
    data[24..28].copy_from_slice(&5u32.to_le_bytes());
    let init = cubin.section(".nv.global.init", 16, &data);
    let zero = cubin.nobits(".nv.global", 8, 24);
    let constant = cubin.section(".nv.constant3", 4, &[7, 0, 0, 0]);
    let text = cubin.section(".text.kern", 128, &[0; 16]);
    let g = cubin.variable("g", init, 24, 4);
    cubin.variable("p", init, 0, 24);
    cubin.variable("m", init, 28, 2);
    cubin.variable("z", zero, 8, 16);
    let c = cubin.variable("c", constant, 0, 4);
    let kern = cubin.symbol("kern", 0x12, text, 0, 16);
    let init = init as usize;
    cubin.rels = vec![(init, 16, 35, kern), (init, 29, 85, g)];
    cubin.relas = vec![(init, 8, 4, c, 4), (init, 0, 4, g, -8), (init, 28, 92, kern, 0)];
    cubin
}

fn address(
    offset: u64,
    width: u8,
    symbol: &str,
    addend: i64,
    generic: Option<bool>,
    byte: Option<u8>,
) -> Address {
    Address { offset, width, symbol: symbol.into(), addend, generic, byte }
}

#[test]
fn variables_have_their_space_size_alignment_and_bytes() {
    let variables = sample().read().unwrap();
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["c", "g", "m", "p", "z"]);
    let plain = |space: &str, align, bytes: &[u8]| Variable {
        space: Some(space.into()),
        size: Some(bytes.len() as u64),
        align: Some(align),
        bytes: Some(bytes.into()),
        addresses: Some(Vec::new()),
        ..Variable::default()
    };
    assert_eq!(variables["c"], plain("const", 4, &[7, 0, 0, 0]));
    assert_eq!(variables["g"], plain("global", 8, &[5, 0, 0, 0]));
    assert_eq!(variables["z"], plain("global", 8, &[0; 16]));
}

#[test]
fn addresses_are_sorted_and_complete() {
    let variables = sample().read().unwrap();
    assert_eq!(
        variables["p"].addresses.as_deref().unwrap(),
        [
            address(0, 8, "g", -8, None, None),
            address(8, 8, "c", 4, Some(true), None),
            address(16, 8, "kern", 0, None, None),
        ]
    );
    assert_eq!(
        variables["m"].addresses.as_deref().unwrap(),
        [address(0, 1, "kern", 0, None, Some(0)), address(1, 1, "g", 0, None, Some(1))]
    );
}

#[test]
fn alignment_is_capped_by_the_section() {
    let variables = sample().read().unwrap();
    assert_eq!(variables["p"].align, Some(16), "offset 0 shows the alignment of the section");
    assert_eq!(variables["m"].align, Some(4), "offset 28");
}

#[test]
fn a_slot_that_reaches_past_its_variable_is_reported_where_it_begins() {
    let mut cubin = Cubin::default();
    let init = cubin.section(".nv.global.init", 4, &[0; 12]);
    let a = cubin.variable("a", init, 0, 8);
    cubin.variable("b", init, 8, 4);
    cubin.rels = vec![(init as usize, 0, 4, a), (init as usize, 4, 4, a)];
    let variables = cubin.read().unwrap();
    assert_eq!(
        variables["a"].addresses.as_deref().unwrap(),
        [address(0, 8, "a", 0, None, None), address(4, 8, "a", 0, None, None)]
    );
    assert_eq!(variables["b"].addresses.as_deref().unwrap(), []);
    assert_eq!(variables["a"].overreaching().map(|address| address.offset).collect::<Vec<_>>(), [4]);
    assert_eq!(variables["b"].overreaching().count(), 0);
}

#[test]
fn what_the_linker_will_place_tells_its_alignment() {
    let mut cubin = sample();
    let shared = cubin.nobits(".nv_debug.shared", 32, 5);
    cubin.sections[shared as usize - 1].sh_type = 0x7000_000a;
    for (name, other, section, value, size) in
        [("common", 0x20, 0xfff2, 64, 12), ("s", 0x40, shared, 32, 3), ("t", 0x40, shared, 2, 2)]
    {
        cubin.symbol(name, 13, section, value, size);
        cubin.symbols.last_mut().unwrap().other = other;
    }
    let variables = cubin.read().unwrap();
    let shown = |name: &str| {
        let variable = &variables[name];
        (variable.space.as_deref(), variable.align, variable.size, variable.bytes.as_deref())
    };
    assert_eq!(shown("common"), (Some("global"), Some(64), Some(12), Some(&[0; 12][..])));
    assert_eq!(shown("s"), (Some("shared"), Some(32), Some(3), None));
    assert_eq!(shown("t"), (Some("shared"), Some(2), Some(2), None));
    cubin.symbols.last_mut().unwrap().value = 3;
    assert_eq!(cubin.complaint(), "malformed cubin: variable `t`: 2 bytes, aligned to 3");
    cubin.symbols.last_mut().unwrap().value = 2;
    let common = cubin.symbols.iter_mut().find(|symbol| symbol.name == "common").unwrap();
    common.size = u64::MAX;
    assert_eq!(cubin.reason("common"), "more storage than is read of a cubin");
}

#[test]
fn unified_variables_are_global() {
    let mut cubin = sample();
    let unified = cubin.section(".nv.udt", 4, &[1, 0, 0, 0]);
    cubin.sections[unified as usize - 1].sh_type = 0x7000_0012;
    cubin.variable("u", unified, 0, 4);
    let u = &cubin.read().unwrap()["u"];
    assert_eq!((u.space.as_deref(), u.bytes.as_deref()), (Some("global"), Some(&[1, 0, 0, 0][..])));
}

#[test]
fn an_external_constant_tells_its_space_in_its_symbol() {
    let mut cubin = sample();
    let ec = cubin.symbol("ec", 0x1d, 0, 0, 4);
    cubin.symbols.last_mut().unwrap().other = 0x80;
    cubin.relas[0].3 = ec;
    let variables = cubin.read().unwrap();
    assert_eq!(variables["p"].addresses.as_ref().unwrap()[1], address(8, 8, "ec", 4, Some(true), None));
    assert!(!variables.contains_key("ec"), "it has no storage here");
}

#[test]
fn nothing_in_the_file_needs_to_be_aligned() {
    let bytes = sample().bytes();
    let start = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    let mut moved = bytes[..start as usize].to_vec();
    moved.push(0);
    moved.extend(&bytes[start as usize..]);
    moved[40..48].copy_from_slice(&(start + 1).to_le_bytes());
    assert_eq!(read(&moved), read(&bytes));
    assert!(read(&moved).is_ok());
}

#[test]
fn what_is_not_known_hides_its_own_variable_and_nothing_else() {
    let mut cubin = sample();
    cubin.rels.push((1, 24, 255, 1));
    let unknown = "relocation at .nv.global.init+0x18 is of type 255, which is not known to this reader";
    assert_eq!(cubin.reason("g"), unknown);
    let mut cubin = sample();
    let section = cubin.section(".nv.novel", 4, &[0; 4]);
    cubin.variable("n", section, 0, 4);
    assert_eq!(cubin.reason("n"), "it is in section `.nv.novel`, which is not known to this reader");
    // Relocations of it are no matter of ours.
    cubin.rels.push((section as usize, 0, 255, 1));
    assert!(cubin.read().is_ok());
    let mut cubin = sample();
    cubin.variable("absolute", 0xfff1, 0, 4);
    assert_eq!(cubin.reason("absolute"), "it is in no section, but at 0xfff1");
    let mut cubin = sample();
    cubin.symbols[4].size = 0;
    assert_eq!(cubin.reason("c"), "it has no size");
    let mut cubin = sample();
    let nameless = cubin.symbol("", 3, 1, 0, 0);
    cubin.rels[1].3 = nameless;
    let no_symbol = "relocation at .nv.global.init+0x1d: its symbol is no variable and no function";
    assert_eq!(cubin.reason("m"), no_symbol);
}

#[test]
fn what_is_written_between_variables_belongs_to_none() {
    let mut cubin = sample();
    let before = cubin.read();
    cubin.sections[0].data.extend([0; 2]);
    cubin.sections[0].size += 2;
    cubin.rels.push((1, 30, 4, 1));
    assert_eq!(cubin.read(), before);
}

#[test]
fn what_the_assembler_keeps_for_itself_is_left_out() {
    let mut cubin = sample();
    let section = cubin.section(".nv.constant4", 4, &[0; 4]);
    cubin.variable("addresses", section, 0, 4);
    cubin.variable(".nv.reservedSmem.offset0", 0, 0, 4);
    cubin.variable("external", 0, 0, 0);
    assert_eq!(cubin.read().unwrap().len(), 5);
}

#[test]
fn a_module_without_variables_is_empty() {
    assert_eq!(Cubin::default().read(), Ok(Variables::new()));
}

#[test]
fn what_cannot_be_is_malformed() {
    let broken = |change: fn(&mut Cubin)| {
        let mut cubin = sample();
        change(&mut cubin);
        cubin.complaint()
    };
    assert_eq!(
        broken(|c| c.symbols[0].size = 7),
        "malformed cubin: variable `g` reaches out of section `.nv.global.init`"
    );
    assert_eq!(
        broken(|c| c.symbols[0].value = u64::MAX),
        "malformed cubin: variable `g` reaches out of section `.nv.global.init`"
    );
    assert_eq!(broken(|c| c.symbols[0].size = 5), "malformed cubin: variables `g` and `m` overlap");
    assert_eq!(broken(|c| c.symbols[0].name = "z".into()), "malformed cubin: two variables are named `z`");
    assert_eq!(broken(|c| c.rels[1].1 = 28), "malformed cubin: two relocations at byte 0 of variable `m`");
    assert_eq!(
        broken(|c| c.rels[1].3 = 99),
        "malformed cubin: relocation at .nv.global.init+0x1d: no such symbol"
    );
    assert_eq!(
        broken(|c| c.rels[1].3 = 0),
        "malformed cubin: relocation at .nv.global.init+0x1d: no such symbol"
    );
    assert_eq!(
        broken(|c| (c.rels[1].0, c.rels[1].1) = (2, 8)),
        "malformed cubin: relocation at .nv.global+0x8: that section has no bytes"
    );
    assert_eq!(
        broken(|c| c.sections[0].align = 3),
        "malformed cubin: section `.nv.global.init` is aligned to 3, no power of two"
    );
    assert_eq!(
        broken(|c| c.sections[0].size = 1 << 40),
        "malformed cubin: section `.nv.global.init` is beyond the end of the file"
    );
}

#[test]
fn storage_without_bytes_is_limited() {
    let mut cubin = sample();
    (cubin.sections[1].size, cubin.symbols[3].size) = ((4 << 30) + 9, (4 << 30) + 1);
    assert_eq!(cubin.reason("z"), "more storage than is read of a cubin");
}

#[test]
fn sections_over_the_same_bytes_do_not_multiply_them() {
    let mut cubin = Cubin::default();
    for _ in 0..3 {
        cubin.section(".nv.global.init", 4, &[0; 4]);
    }
    // Each claims the rest of the file.
    for section in &mut cubin.sections {
        section.size = 500;
    }
    assert!(cubin.complaint().contains("overlaps another"), "{}", cubin.complaint());
}

#[test]
fn one_long_name_does_not_multiply() {
    let mut cubin = Cubin::default();
    let init = cubin.section(".nv.global.init", 4, &[0; 400]);
    let long = cubin.variable(&"x".repeat(200_000), init, 0, 400);
    cubin.rels = (0..400).map(|offset| (init as usize, offset, 84, long)).collect();
    assert!(cubin.complaint().contains("out of proportion"), "{}", cubin.complaint());
}

#[test]
fn other_files_are_refused() {
    for bytes in
        [&b""[..], b"\x7fELF", b"not an ELF file at all, but rather a long line of text that goes on and on"]
    {
        assert!(read(bytes).is_err());
    }
    let mut bytes = sample().bytes();
    bytes[18] = 62;
    assert_eq!(read(&bytes).unwrap_err().to_string(), "malformed cubin: ELF machine 62 is not CUDA (190)");
    let mut bytes = sample().bytes();
    bytes[5] = 2;
    assert!(read(&bytes).is_err());
}

#[test]
fn no_truncation_and_no_changed_byte_panics() {
    let bytes = sample().bytes();
    for length in 0..bytes.len() {
        let _ = read(&bytes[..length]);
    }
    let mut accepted = 0;
    for index in 0..bytes.len() {
        for value in
            [0, 1, 0x7f, 0x80, 0xff, bytes[index] ^ 1, bytes[index] ^ 0x10, bytes[index].wrapping_add(8)]
        {
            let mut changed = bytes.clone();
            changed[index] = value;
            accepted += usize::from(read(&changed).is_ok());
        }
    }
    // Most single bytes matter little: a loop in which nothing was read would test nothing.
    assert!(accepted > bytes.len(), "only {accepted} changed files were read");
}

#[test]
fn random_damage_in_many_places_does_not_panic() {
    let bytes = sample().bytes();
    let mut state = 1u64;
    let mut next = move || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for _ in 0..20_000 {
        let mut changed = bytes.clone();
        for _ in 0..=next() % 6 {
            let at = next() as usize % changed.len();
            changed[at] = next() as u8;
        }
        let _ = read(&changed);
    }
}

#[test]
fn many_variables_are_read_in_little_time() {
    let mut cubin = Cubin::default();
    let count = 100_000;
    let init = cubin.section(".nv.global.init", 4, &vec![1; 4 * count]);
    for index in 0..count {
        cubin.variable(&format!("v{index}"), init, 4 * (count - 1 - index) as u64, 4);
    }
    let bytes = cubin.bytes();
    let started = std::time::Instant::now();
    assert_eq!(read(&bytes).unwrap().len(), count);
    // Milliseconds in a release build; the bound is for a loaded machine, and against anything quadratic.
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn functions_at_one_place_of_one_section_are_told() {
    let mut cubin = sample();
    let other = cubin.section(".text.other", 128, &[0; 32]);
    cubin.symbol("other", 0x12, other, 0, 16);
    assert_eq!(one_place(&cubin.bytes()), BTreeMap::new(), "the first place of another section");
    cubin.symbol("second", 0x12, other, 16, 16);
    assert_eq!(one_place(&cubin.bytes()), BTreeMap::new());
    cubin.symbol("alias", 0x12, other, 16, 0);
    let names = ["alias", "second"].map(|name| (name.to_owned(), "alias".to_owned()));
    assert_eq!(one_place(&cubin.bytes()), names.into());
    let observation = Observation {
        one_place: one_place(&cubin.bytes()),
        ..Observation::new(ptxsmith_model::Outcome::Accepted)
    };
    assert!(observation.is_one_place("second", "alias") && observation.is_one_place("kern", "kern"));
    assert!(!observation.is_one_place("second", "other") && !observation.is_one_place("kern", "other"));
    assert_eq!(one_place(b"no cubin"), BTreeMap::new());
}
