//! Features that a program has beyond the plainest one, `.global .s32 a = 0;`. They help to decide whether
//! two findings have the same cause.
//!
//! A minimized reproducer has the features that its cause needs and is plain otherwise. So another program of
//! the same class with all of these features most likely has the same cause; names, numbers and other
//! declarations play no part.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    BinaryOp, Declaration, Declarator, Expr, Initializer, Item, Module, NodeKind, Number, ScalarType,
    Specifier, StateSpace, TypeKind, UnaryOp, parse, print, read_number, tokens,
};

/// The features of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramFeatures {
    /// Features by id (letters, digits and hyphens), with their names for people.
    features: BTreeMap<String, String>,
    /// Numbers other than 0 and 1, as written. They distinguish two causes only if nothing else does.
    numbers: BTreeMap<String, u64>,
}

impl ProgramFeatures {
    /// Collects the features of a program, or of the variable that the finding is about, if it is known.
    pub fn new(program: &str, variable: Option<&str>) -> ProgramFeatures {
        let mut features = ProgramFeatures::default();
        let Ok(module) = parse(program) else { return features };
        let is_declared = module.declarations().any(|declaration| declares(declaration, variable));
        for item in &module.items {
            match item {
                Item::Variables(declaration) if !is_declared || declares(declaration, variable) => {
                    features.declaration(declaration);
                }
                // The features of a variable already include its references.
                Item::Function(_) if variable.is_none() => features.words(item),
                _ => {}
            }
        }
        features
    }

    /// Collects the features of a program that cannot be reduced as a tree, because white space or comments
    /// matter or part of it cannot be parsed.
    pub fn as_written(program: &str) -> ProgramFeatures {
        let mut features = ProgramFeatures::default();
        match parse(program) {
            Ok(module) if module.unread().next().is_none() => {
                features.add("spacing", "white space or comments");
            }
            parsed => {
                features.add("unread", "a statement that is not understood");
                for item in parsed.unwrap_or_default().items {
                    if matches!(item, Item::Unread(_)) {
                        features.words(&item);
                    }
                }
            }
        }
        features
    }

    /// Returns true if the program is the plainest one, which reveals nothing about the cause.
    pub fn is_plain(&self) -> bool {
        self.features.is_empty() && self.numbers.is_empty()
    }

    /// Returns the ids of the features.
    pub fn features(&self) -> Vec<String> {
        self.features.keys().cloned().collect()
    }

    /// Returns true if the program has this feature.
    pub fn has(&self, feature: &str) -> bool {
        self.features.contains_key(feature)
    }

    /// Removes features that the cause does not need, unless none would remain.
    pub fn without(&mut self, needless: &[String]) {
        let some_remain = self.features.keys().any(|feature| !needless.contains(feature));
        if some_remain || !self.numbers.is_empty() {
            self.features.retain(|feature, _| !needless.contains(feature));
        }
    }

    /// Returns true if `other` has all of these features. Compares numbers only if there are no features.
    pub fn is_within(&self, other: &ProgramFeatures) -> bool {
        if !self.features.is_empty() {
            return self.features.keys().all(|feature| other.features.contains_key(feature));
        }
        !self.numbers.is_empty() && self.numbers.keys().all(|number| other.numbers.contains_key(number))
    }

    /// Returns true if both have a feature in common other than an address.
    pub fn shares_a_part(&self, other: &ProgramFeatures) -> bool {
        self.features.keys().any(|feature| feature != "address" && other.features.contains_key(feature))
    }

    /// Keeps only the features that `other` also has, if they have more in common than an address.
    pub fn meet(&mut self, other: &ProgramFeatures) {
        if self.shares_a_part(other) {
            self.features.retain(|feature, _| other.features.contains_key(feature));
        }
    }

    /// Returns the part of a finding's id that lists the features: `complement-b64`.
    pub fn id(&self) -> String {
        self.features.keys().map(String::as_str).collect::<Vec<_>>().join("-")
    }

    fn add(&mut self, name: impl Into<String>, label: impl Into<String>) {
        self.features.insert(name.into(), label.into());
    }

    /// Adds a word of the language as written.
    fn word(&mut self, word: &str) {
        let name: String = word.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.add(name.trim_matches('-').to_ascii_lowercase(), format!("`{word}`"));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        for specifier in &declaration.specifiers {
            match specifier {
                Specifier::Space(StateSpace::Global, None) | Specifier::Type(ScalarType::S32) => {}
                Specifier::Align(_) => self.word(".align"),
                other => {
                    let only = Declaration {
                        specifiers: vec![other.clone()],
                        declarators: Vec::new(),
                        span: declaration.span,
                    };
                    let text = print(&Module { items: vec![Item::Variables(only)] });
                    self.word(text.split([' ', '(', '[', ';', '\n']).next().unwrap_or_default());
                }
            }
        }
        if declaration.declarators.len() > 1 {
            self.add("several-names", "several names");
        }
        for declarator in &declaration.declarators {
            self.declarator(declarator);
        }
    }

    fn declarator(&mut self, declarator: &Declarator) {
        let name = &declarator.name.text;
        for special in ['$', '%', '_'] {
            if name.contains(special) {
                self.add(format!("name-{}", u32::from(special)), format!("`{special}` in a name"));
            }
        }
        if declarator.count.is_some() {
            self.add("numbered", "a numbered name");
        }
        let depth = declarator.dimensions.len();
        let depths = [
            (1, "array", "an array"),
            (2, "dimensions", "several dimensions"),
            (3, "three", "three dimensions"),
        ];
        for (_, name, label) in depths.into_iter().filter(|(least, ..)| depth >= *least) {
            self.add(name, label);
        }
        if declarator.dimensions.contains(&None) {
            self.add("left-out", "a dimension that is left out");
        }
        if let Some(initializer) = &declarator.initializer {
            self.lists(initializer);
        }
        declarator.values().for_each(|value| self.value(value));
    }

    fn lists(&mut self, initializer: &Initializer) {
        let Initializer::List(list) = initializer else { return };
        if list.items.is_empty() {
            self.add("empty-list", "an empty list");
        }
        if list.items.iter().any(|item| matches!(item, Initializer::List(_))) {
            self.add("nested", "a list in a list");
        }
        list.items.iter().for_each(|item| self.lists(item));
    }

    fn value(&mut self, value: &Expr) {
        for node in value.nodes() {
            match &node.kind {
                NodeKind::Number(text) => self.number(text),
                NodeKind::WarpSize => self.word("WARP_SZ"),
                NodeKind::Name(_) => self.add("address", "an address"),
                NodeKind::Paren(_) => self.add("parentheses", "parentheses"),
                NodeKind::Unary(op, _) => {
                    self.add(format!("unary-{op:?}").to_lowercase(), format!("unary `{}`", op.symbol()))
                }
                NodeKind::Cast(cast, _) => {
                    self.add("cast", "a cast");
                    self.add(format!("cast-{cast:?}").to_lowercase(), format!("`{}`", cast.symbol()))
                }
                NodeKind::Binary(op, ..) => {
                    self.add(format!("{op:?}").to_lowercase(), format!("`{}`", op.symbol()))
                }
                NodeKind::Ternary(..) => self.add("ternary", "`?:`"),
                NodeKind::Generic(_) => self.word("generic"),
                NodeKind::Mask(..) => self.add("mask", "a mask"),
            }
        }
    }

    fn number(&mut self, text: &str) {
        let prefix = text.get(..2).unwrap_or_default();
        let digits = text.trim_end_matches('U');
        match prefix {
            "0x" | "0b" | "0f" | "0d" => self.add(prefix, format!("`{prefix}`")),
            "0X" | "0B" | "0F" | "0D" => {
                self.add(format!("upper-{}", prefix.to_lowercase()), format!("`{prefix}`"));
            }
            _ if text.contains('.') => {
                self.add("decimal-point", "a decimal point");
                if text.contains(['e', 'E']) {
                    self.add("exponent", "an exponent");
                }
            }
            _ if digits.len() > 1 && digits.starts_with('0') => self.add("octal", "an octal number"),
            _ => {}
        }
        // Digits with other prefixes may end in any other letter, but never in this one.
        if text.ends_with('U') {
            self.add("suffix", "the suffix `U`");
        }
        match read_number(text) {
            Some(Number::Integer { wrapped, .. }) if wrapped >> 63 != 0 => {
                self.add("64-bits", "a number of 64 bits")
            }
            Some(Number::Integer { wrapped, .. }) if wrapped >> 32 != 0 => {
                self.add("33-bits", "a number of more than 32 bits");
            }
            _ => {}
        }
        if !["0", "1"].contains(&text) {
            *self.numbers.entry(text.to_owned()).or_default() += 1;
        }
    }

    /// Adds the words of a function: directives, types and the first words of statements.
    fn words(&mut self, item: &Item) {
        let text = print(&Module { items: vec![item.clone()] });
        let mut begins = true;
        for token in tokens(&text).unwrap_or_default() {
            let word = &*token.text;
            if word.starts_with('.') && word.len() > 1
                || begins && word.starts_with(|c: char| c.is_ascii_lowercase())
            {
                self.word(word);
            }
            begins = [";", "{", "}"].contains(&word);
        }
    }
}

/// Returns true if a declaration declares this variable. `None` stands for every variable.
fn declares(declaration: &Declaration, variable: Option<&str>) -> bool {
    declaration.declarators.iter().any(|declarator| variable.is_none_or(|name| declarator.name.text == name))
}

/// Returns the programs that differ in one step: in one word, or by a plainer declaration of equal size. Not
/// all of them are valid.
pub fn neighbours(program: &str) -> impl Iterator<Item = String> {
    with_other_words(program).chain(with_plainer_declarations(program))
}

/// Returns the programs in which one declaration has no initializer, then also only one dimension, then also
/// the type `.s32`; the size in bytes stays the same.
fn with_plainer_declarations(program: &str) -> Vec<String> {
    let module = parse(program).unwrap_or_default();
    let mut plainer = Vec::new();
    for index in 0..module.items.len() {
        let mut module = module.clone();
        let Item::Variables(declaration) = &mut module.items[index] else { continue };
        let [declarator] = &mut declaration.declarators[..] else { continue };
        let first = match &declarator.initializer {
            Some(Initializer::List(list)) => Some(list.items.len()),
            _ => None,
        };
        // An omitted length is the length of the initializer list.
        let mut lengths = declarator.dimensions.iter().map(|length| match length {
            Some(length) => length.as_integer(),
            None => first.and_then(|length| u64::try_from(length).ok()),
        });
        let Some(length) = lengths.try_fold(1_u64, |all, length| all.checked_mul(length?)) else { continue };
        declarator.initializer = None;
        if !declarator.dimensions.contains(&None) {
            plainer.push(print(&module));
        }
        let Item::Variables(declaration) = &mut module.items[index] else { continue };
        if declaration.declarators[0].dimensions.is_empty() {
            continue;
        }
        declaration.declarators[0].dimensions = vec![Some(Expr::number(length.to_string()))];
        plainer.push(print(&module));
        let Item::Variables(declaration) = &mut module.items[index] else { continue };
        let size = declaration.scalar_type().and_then(ScalarType::size).unwrap_or(4);
        let bytes = size.saturating_mul(length);
        declaration.declarators[0].dimensions = vec![Some(Expr::number(bytes.div_ceil(4).to_string()))];
        for specifier in &mut declaration.specifiers {
            if let Specifier::Type(ty) = specifier {
                *ty = ScalarType::S32;
            }
        }
        plainer.push(print(&module));
    }
    plainer
}

/// Returns the programs in which one word is replaced by another spelling of a number, a plain type, another
/// operator, or nothing.
fn with_other_words(program: &str) -> impl Iterator<Item = String> {
    let header = program.match_indices('\n').nth(1).map_or(0, |(offset, _)| offset as u32);
    let tokens = tokens(program).unwrap_or_default();
    tokens.into_iter().filter(move |token| token.span.start > header).flat_map(move |token| {
        let start = token.span.start as usize;
        let end = token.span.end as usize;
        let decimal = match read_number(&token.text) {
            Some(Number::Integer { wrapped, .. }) => Some(wrapped.to_string()),
            _ => None,
        };
        let plain = plain_words(&token.text).iter().map(|word| (*word).to_owned());
        let others = decimal.into_iter().chain(plain).filter(move |other| **other != *token.text);
        others.map(move |other| format!("{}{other}{}", &program[..start], &program[end..]))
    })
}

/// Returns the plain words that may stand in the place of a word.
fn plain_words(word: &str) -> &'static [&'static str] {
    const NUMBERS: [&str; 5] = ["0", "1", "0.", "0f00000000", "0d0000000000000000"];
    const TYPES: [&str; 7] = [".s32", ".u32", ".f32", ".f64", ".b64", ".s64", ".u64"];
    const OPERATORS: [&str; 10] = ["+", "-", "&", "==", "<", ">=", "<<", "&&", "~", "!"];
    match word {
        _ if read_number(word).is_some() => &NUMBERS,
        _ if word.starts_with('.') && ScalarType::from_keyword(word).is_some() => &TYPES,
        ".const" | ".shared" => &[".global"],
        _ if is_operator(word) => &OPERATORS,
        _ if word.starts_with('.') => &[""],
        _ => &[],
    }
}

fn is_operator(word: &str) -> bool {
    UnaryOp::ALL.iter().any(|op| op.symbol() == word) || BinaryOp::ALL.iter().any(|op| op.symbol() == word)
}

/// Returns the program with the initializer of a variable replaced by this number, if the variable holds one
/// value of an integer type.
pub fn with_number(program: &str, variable: &str, value: u64) -> Option<String> {
    let mut module = parse(program).ok()?;
    for item in &mut module.items {
        let Item::Variables(declaration) = item else { continue };
        let is_integer = declaration.scalar_type().is_some_and(|ty| ty.kind() != TypeKind::Float);
        let declarator =
            declaration.declarators.iter_mut().find(|declarator| declarator.name.text == variable);
        let Some(initializer) = declarator.and_then(|declarator| declarator.initializer.as_mut()) else {
            continue;
        };
        let place = match initializer {
            Initializer::List(list) if list.items.len() == 1 => &mut list.items[0],
            whole => whole,
        };
        if is_integer && matches!(place, Initializer::Value(_)) {
            *place = Initializer::Value(Expr::number(value.to_string()));
            return Some(print(&module));
        }
    }
    None
}

impl std::fmt::Display for ProgramFeatures {
    /// Writes the names for people: "unary `~`, `.b64`".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.features.values().map(String::as_str).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(declarations: &str) -> ProgramFeatures {
        ProgramFeatures::new(&format!(".version 7.8\n.target sm_80\n{declarations}\n"), None)
    }

    #[test]
    fn the_plainest_program_has_no_form_and_others_have_what_they_add() {
        assert!(form(".global .s32 a;").is_plain() && form(".global .s32 x = 1;").is_plain());
        assert_eq!(form(".const .b64 a = ~0x7U;").id(), "0x-b64-const-suffix-unary-complement");
        assert_eq!(
            form(".global .s32 a[][2] = {{}, {1}};").id(),
            "array-dimensions-empty-list-left-out-nested"
        );
        assert_eq!(form(".global .s32 a = ~-1;").to_string(), "unary `~`, unary `-`");
    }

    #[test]
    fn a_program_with_all_of_a_form_has_it_and_numbers_and_names_play_no_part() {
        let complement = form(".global .s32 a = ~0;");
        assert!(complement.is_within(&form(".const .b8 first[2] = {1, 077 + ~5};")));
        assert!(!complement.is_within(&form(".global .s32 a = -1;")));
        assert!(!form(".global .s32 a;").is_within(&complement), "nothing is known of the plainest");
    }

    #[test]
    fn plainer_declarations_have_as_many_bytes() {
        let header = ".version 7.8\n.target sm_80\n";
        let plainer =
            with_plainer_declarations(&format!("{header}.global .f64 a[][3] = {{{{1.}}, {{2.}}}};\n"));
        let plainer: Vec<&str> = plainer.iter().filter_map(|text| text.strip_prefix(header)).collect();
        assert_eq!(plainer, [".global .f64 a[6];\n", ".global .s32 a[12];\n"]);
    }

    #[test]
    fn a_value_stands_as_one_number_where_the_variable_has_one() {
        let header = ".version 7.8\n.target sm_80\n";
        let number = |text: &str| with_number(&format!("{header}{text}\n"), "a", 255);
        assert!(number(".global .s8 a = ~0;").unwrap().ends_with(".global .s8 a = 255;\n"));
        assert!(number(".global .s8 a[] = {~0};").unwrap().ends_with(".global .s8 a[] = {255};\n"));
        assert_eq!(number(".global .s8 a[2] = {0, ~0};"), None);
        assert_eq!(number(".global .f32 a = 1.;"), None);
    }

    #[test]
    fn of_a_variable_that_is_known_only_its_own_declaration_counts() {
        let text = ".version 7.8\n.target sm_80\n.global .f64 a = 1.0;\n.global .u8 b = 1;\n";
        assert_eq!(ProgramFeatures::new(text, Some("b")).id(), "u8");
    }

    #[test]
    fn functions_count_by_their_words_where_no_variable_is_known() {
        let text = ".version 7.8\n.target sm_80\n.global .u8 b = 1;\n\
            .func f() { .reg .f32 x; mov.f32 x, value; }\n";
        // First words of statements, directives and types; no names and no operands.
        assert_eq!(ProgramFeatures::new(text, None).features(), ["f32", "func", "mov", "reg", "u8"]);
        assert_eq!(ProgramFeatures::new(text, Some("b")).features(), ["u8"]);
    }

    #[test]
    fn what_is_only_shown_as_it_is_written_has_a_form_of_its_own() {
        let header = ".version 7.8\n.target sm_80\n";
        let form = ProgramFeatures::as_written(&format!("{header}.global .b64 /*@*/ a = ~1;\n"));
        assert_eq!(
            (form.id(), form.to_string()),
            ("spacing".to_owned(), "white space or comments".to_owned())
        );
        let unread = format!("{header}.global .s32 a;\n.global .b8 b = = 1;\n");
        assert_eq!(ProgramFeatures::as_written(&unread).features(), ["b8", "global", "unread"]);
        assert_eq!(ProgramFeatures::as_written("no PTX /*").features(), ["unread"]);
    }

    #[test]
    fn numbers_are_told_apart_by_how_they_are_written_and_how_large_they_are() {
        for (number, id) in [
            ("1.5", "decimal-point"),
            ("1.5e3", "decimal-point-exponent"),
            ("0x7fffffff", "0x"),
            ("0XE", "upper-0x"),
            ("017", "octal"),
            ("5U", "suffix"),
            ("4294967295", ""),
            ("4294967296", "33-bits"),
            ("9223372036854775807", "33-bits"),
            ("9223372036854775808", "64-bits"),
        ] {
            assert_eq!(form(&format!(".global .s32 a = {number};")).id(), id, "{number}");
        }
    }

    #[test]
    fn what_a_cause_does_not_need_is_left_out_unless_nothing_is_left() {
        let needless = ["cast".to_owned(), "cast-s64".to_owned()];
        let mut both = form(".global .s32 a = (.s64)(~0);");
        assert_eq!(both.id(), "cast-cast-s64-parentheses-unary-complement");
        both.without(&needless);
        assert_eq!(both.features(), ["parentheses", "unary-complement"]);
        let mut only = form(".global .s32 a = (.s64)0;");
        only.without(&needless);
        assert_eq!(only.features(), ["cast", "cast-s64"]);
        let mut number = form(".global .s32 a = (.s64)5;");
        number.without(&needless);
        assert!(number.features().is_empty() && !number.is_plain());
    }

    #[test]
    fn an_address_alone_is_nothing_in_common() {
        let (address, other) = (form(".global .b64 a = b;"), form(".global .u64 a = b + 1;"));
        let complement = form(".global .b64 a = ~0;");
        assert!(!address.shares_a_part(&other) && address.shares_a_part(&complement));
        let mut met = address.clone();
        met.meet(&other);
        assert_eq!(met, address);
        met.meet(&complement);
        assert_eq!(met.features(), ["b64"]);
    }

    #[test]
    fn each_word_behind_the_header_stands_for_others_of_its_kind() {
        let header = ".version 7.8\n.target sm_80\n";
        let changed = |declaration: &str| -> Vec<String> {
            let text = format!("{header}{declaration}\n");
            let all = with_other_words(&text);
            all.map(|text| text.strip_prefix(header).unwrap().trim_end().to_owned()).collect()
        };
        let of_const = [
            // The state space, the type, the operator, and the number, which is 7 in decimal.
            ".global .u8 a = ~07;",
            ".const .s32 a = ~07;",
            ".const .u32 a = ~07;",
            ".const .f32 a = ~07;",
            ".const .f64 a = ~07;",
            ".const .b64 a = ~07;",
            ".const .s64 a = ~07;",
            ".const .u64 a = ~07;",
            ".const .u8 a = +07;",
            ".const .u8 a = -07;",
            ".const .u8 a = &07;",
            ".const .u8 a = ==07;",
            ".const .u8 a = <07;",
            ".const .u8 a = >=07;",
            ".const .u8 a = <<07;",
            ".const .u8 a = &&07;",
            ".const .u8 a = !07;",
            ".const .u8 a = ~7;",
            ".const .u8 a = ~0;",
            ".const .u8 a = ~1;",
            ".const .u8 a = ~0.;",
            ".const .u8 a = ~0f00000000;",
            ".const .u8 a = ~0d0000000000000000;",
        ];
        assert_eq!(changed(".const .u8 a = ~07;"), of_const);
        // A type is not replaced by itself; a directive is removed.
        let types =
            [".u32", ".f32", ".f64", ".b64", ".s64", ".u64"].map(|ty| format!(".weak .global {ty} a;"));
        let of_weak: Vec<String> =
            [" .global .s32 a;", ".weak  .s32 a;"].map(str::to_owned).into_iter().chain(types).collect();
        assert_eq!(changed(".weak .global .s32 a;"), of_weak);
        // Of two kinds of operators, each is one.
        assert_eq!(changed("*").len(), 10);
    }
}
