//! Rules about the sources that the compiler does not check: no file except tests is longer than 600 lines,
//! the files of a package do not `use` each other in a cycle (apart from parent and child modules), and
//! findings are read by type: no JSON by string keys, no ids read back, no classes compared by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Expr, Item, Lit, UseTree};

/// The maximum number of lines in a file.
const MOST_LINES: usize = 600;

/// The path of a module in its crate; empty for the root.
type Name = Vec<String>;

/// A file as a module of its crate: its items, its imports by name, and all paths in its code.
#[derive(Default)]
struct Module {
    items: BTreeSet<String>,
    imports: BTreeMap<String, Name>,
    globs: Vec<Name>,
    paths: Vec<Name>,
}

impl Module {
    fn parse(text: &str) -> Module {
        let mut module = Module::default();
        module.visit_file(&syn::parse_file(text).expect("a source is Rust"));
        module
    }

    fn leaves(&mut self, tree: &UseTree, mut prefix: Name) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.leaves(&path.tree, prefix);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.leaves(tree, prefix.clone())),
            UseTree::Glob(_) => {
                self.paths.push(prefix.clone());
                self.globs.push(prefix);
            }
            UseTree::Name(name) => self.import(prefix, &name.ident.to_string(), &name.ident.to_string()),
            UseTree::Rename(name) => self.import(prefix, &name.ident.to_string(), &name.rename.to_string()),
        }
    }

    fn import(&mut self, mut path: Name, name: &str, alias: &str) {
        let mut alias = alias.to_owned();
        if name != "self" {
            path.push(name.to_owned());
        } else if alias == "self" {
            alias = path.last().cloned().unwrap_or_default();
        }
        self.paths.push(path.clone());
        // `use memchr::memchr` refers to another crate.
        if path.first() != Some(&alias) {
            self.imports.insert(alias, path);
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_for_tests =
            matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test");
        attribute.path().is_ident("cfg") && is_for_tests
    })
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Mod(item) => (&item.attrs, Some(&item.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        self.items.extend(name.map(ToString::to_string));
        match item {
            Item::Use(item) => self.leaves(&item.tree, Name::new()),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        let path =
            regex_lite::Regex::new(r"\b(?:crate|self|super)(?: :: \w+)+").expect("a regular expression");
        let tokens = node.tokens.to_string();
        self.paths.extend(
            path.find_iter(&tokens).map(|found| found.as_str().split(" :: ").map(str::to_owned).collect()),
        );
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Name = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(names[0].as_str(), "crate" | "self" | "super") && names.len() > 1 {
            self.paths.push(names);
        }
        visit::visit_path(self, path);
    }
}

/// The modules of one crate.
struct Crate(BTreeMap<Name, Module>);

impl Crate {
    /// Returns the module that defines the item at a path, relative to the module `from`. Follows re-exports.
    /// Returns `None` for paths outside the crate.
    fn file_of(&self, from: &[String], path: &[String], seen: &mut BTreeSet<(Name, Name)>) -> Option<Name> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.within(&[], rest, seen),
            "self" => self.within(from, rest, seen),
            "super" => {
                let parent = from.split_last().map_or(&[][..], |(_, parent)| parent);
                if rest.first().is_some_and(|next| next == "super") {
                    self.file_of(parent, rest, seen)
                } else {
                    self.within(parent, rest, seen)
                }
            }
            _ => {
                let module = &self.0[from];
                let child = [from, std::slice::from_ref(first)].concat();
                let is_in_crate = self.0.contains_key(&child)
                    || module.items.contains(first)
                    || module.imports.contains_key(first);
                is_in_crate.then(|| self.within(from, path, seen))?
            }
        }
    }

    fn within(&self, from: &[String], path: &[String], seen: &mut BTreeSet<(Name, Name)>) -> Option<Name> {
        if !seen.insert((from.to_vec(), path.to_vec())) {
            return None;
        }
        let Some((first, rest)) = path.split_first() else { return Some(from.to_vec()) };
        let module = self.0.get(from)?;
        let child = [from, std::slice::from_ref(first)].concat();
        if self.0.contains_key(&child) {
            return self.within(&child, rest, seen);
        }
        if let Some(import) = module.imports.get(first) {
            return self.file_of(from, &[import, rest].concat(), seen);
        }
        if !module.items.contains(first) {
            for glob in &module.globs {
                let source = self.file_of(from, &[&glob[..], std::slice::from_ref(first)].concat(), seen);
                if let Some(source) = source.filter(|source| self.0[source].items.contains(first)) {
                    return Some(source);
                }
            }
        }
        Some(from.to_vec())
    }

    /// Returns the files that each file uses, except its ancestors and descendants.
    fn edges(&self) -> BTreeMap<&Name, BTreeSet<Name>> {
        let mut edges = BTreeMap::new();
        for (name, module) in &self.0 {
            let used = module.paths.iter().filter_map(|path| self.file_of(name, path, &mut BTreeSet::new()));
            let used = used.filter(|other| !name.starts_with(other) && !other.starts_with(name));
            edges.insert(name, used.collect());
        }
        edges
    }
}

/// Returns the files that are part of a cycle, each with the files that it uses and that reach it.
fn cycles(edges: &BTreeMap<&Name, BTreeSet<Name>>) -> BTreeMap<Name, BTreeSet<Name>> {
    let reachable: BTreeMap<&Name, BTreeSet<Name>> =
        edges.keys().map(|name| (*name, reachable_from(name, edges))).collect();
    let mut cycles = BTreeMap::new();
    for (&name, used) in edges.iter().filter(|(name, _)| reachable[**name].contains(**name)) {
        let in_cycle = used.iter().filter(|other| reachable[other].contains(name));
        cycles.insert(name.clone(), in_cycle.cloned().collect());
    }
    cycles
}

/// Returns the files that a file uses, directly or indirectly.
fn reachable_from(name: &Name, edges: &BTreeMap<&Name, BTreeSet<Name>>) -> BTreeSet<Name> {
    let mut reachable = BTreeSet::new();
    let mut pending = vec![name];
    while let Some(name) = pending.pop() {
        for other in edges.get(name).into_iter().flatten() {
            if reachable.insert(other.clone()) {
                pending.push(other);
            }
        }
    }
    reachable
}

/// Returns the sources of each package, except tests and examples, by path relative to the package.
fn packages() -> BTreeMap<PathBuf, BTreeMap<PathBuf, String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let mut packages = BTreeMap::new();
    for member in members.iter().filter_map(toml::Value::as_str) {
        let folder = root.join(member);
        let mut files = BTreeMap::new();
        for entry in walkdir::WalkDir::new(folder.join("src")).into_iter().flatten() {
            let path = entry.into_path();
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            if is_rust && path.file_name().is_some_and(|name| name != "tests.rs") {
                let name = path.strip_prefix(&folder).unwrap().to_owned();
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
        packages.insert(PathBuf::from(member), files);
    }
    packages
}

/// Creates the model of a package's library, or of its program if it has no library.
fn crate_of(files: &BTreeMap<PathBuf, String>) -> Crate {
    let is_library = files.contains_key(Path::new("src/lib.rs"));
    let mut modules = BTreeMap::new();
    for (path, text) in files {
        let mut name: Name =
            path.with_extension("").iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
        match name.last().map(String::as_str) {
            Some("main") if is_library && name.len() == 1 => continue,
            Some("lib" | "main" | "mod") => drop(name.pop()),
            _ => {}
        }
        modules.insert(name, Module::parse(text));
    }
    Crate(modules)
}

#[test]
fn no_source_file_is_longer_than_600_lines() {
    for (package, files) in packages() {
        for (path, text) in files {
            let lines = text.lines().count();
            let place = package.join(path);
            assert!(lines <= MOST_LINES, "{} has {lines} lines; split it by subject", place.display());
        }
    }
}

#[test]
fn the_files_of_a_package_do_not_use_each_other_in_a_cycle() {
    let mut cyclic_uses = Vec::new();
    for (package, files) in packages() {
        let package_crate = crate_of(&files);
        for (file, uses) in cycles(&package_crate.edges()) {
            cyclic_uses.push(format!("{}: {} uses {uses:?}", package.display(), file.join("::")));
        }
    }
    assert!(cyclic_uses.is_empty(), "{cyclic_uses:#?}");
}

#[test]
fn a_cycle_through_a_re_export_counts_and_one_in_tests_does_not() {
    let written = [
        ("", "mod a; mod b; mod c; pub use a::A;"),
        ("a", "use super::b::B; pub struct A; // crate::c::C"),
        ("b", "pub struct B; fn b() -> crate::A { todo!() }"),
        ("c", "pub struct C; #[cfg(test)] mod tests { use crate::a::A; } use crate::a::{A as D};"),
    ];
    let name = |text: &str| -> Name {
        text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let modules = written.iter().map(|(path, text)| (name(path), Module::parse(text)));
    let written_crate = Crate(modules.collect());
    let edges = written_crate.edges();
    assert_eq!(edges[&name("c")], BTreeSet::from([name("a")]));
    assert_eq!(cycles(&edges).keys().collect::<Vec<_>>(), [&name("a"), &name("b")]);
}

/// The packages in which findings must be typed.
const TYPED: [&str; 3] = ["crates/diff", "crates/campaign", "crates/report"];
/// Files that are exempt because they write their own JSON formats for other programs.
const JSON_BORDER: [&str; 3] = ["src/atlas/mod.rs", "src/atlas/pages.rs", "src/formats/sarif.rs"];
/// The names of the classes of deviations.
const CLASSES: [&str; 9] = [
    "crash",
    "hang",
    "wrong-value",
    "wrong-address",
    "wrong-layout",
    "accepts-invalid",
    "refuses-valid",
    "inconsistent",
    "memory",
];

/// The places in a file that read JSON by key, interpret an id, or compare classes by name.
#[derive(Default)]
struct StringReads {
    found: Vec<String>,
}

impl StringReads {
    fn find(text: &str) -> Vec<String> {
        let mut reads = StringReads::default();
        reads.visit_file(&syn::parse_file(text).expect("a source is Rust"));
        reads.found
    }
}

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Reference(reference) => literal(&reference.expr),
        _ => None,
    }
}

/// Returns the last name in an expression: `id` for `found.finding.id`, `subject.id()` and `&*id`.
fn last_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => Some(name.to_string()),
            syn::Member::Unnamed(_) => None,
        },
        Expr::MethodCall(call) if call.args.is_empty() => Some(call.method.to_string()),
        Expr::Reference(reference) => last_name(&reference.expr),
        Expr::Unary(unary) => last_name(&unary.expr),
        Expr::Paren(paren) => last_name(&paren.expr),
        _ => None,
    }
}

fn names_class(expr: &Expr) -> bool {
    match expr {
        Expr::Reference(reference) => names_class(&reference.expr),
        Expr::Unary(unary) => names_class(&unary.expr),
        Expr::MethodCall(call) if call.method == "name" => {
            last_name(&call.receiver).is_some_and(|name| name == "class")
        }
        expr => literal(expr).is_some_and(|text| CLASSES.contains(&&*text)),
    }
}

impl<'ast> Visit<'ast> for StringReads {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
        if let Some(key) = literal(&index.index) {
            self.found.push(format!("JSON is read by key {key:?}"));
        }
        visit::visit_expr_index(self, index);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let text = call.args.first().and_then(literal);
        match (call.method.to_string().as_str(), text) {
            ("get" | "get_mut" | "pointer", Some(key)) => {
                self.found.push(format!("JSON is read by key {key:?}"));
            }
            ("starts_with" | "strip_prefix", Some(prefix))
                if last_name(&call.receiver).is_some_and(|name| name == "id") =>
            {
                self.found.push(format!("an id is read back by its prefix {prefix:?}"));
            }
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let is_comparison = matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        if is_comparison && (names_class(&binary.left) || names_class(&binary.right)) {
            self.found.push("classes are compared by name".to_owned());
        }
        visit::visit_expr_binary(self, binary);
    }
}

#[test]
fn findings_are_read_by_type_and_not_by_string() {
    let mut reads = Vec::new();
    for (package, files) in packages() {
        if !TYPED.iter().any(|typed| package == Path::new(typed)) {
            continue;
        }
        for (path, text) in files {
            if !JSON_BORDER.iter().any(|border| path == Path::new(border)) {
                let place = package.join(path);
                reads.extend(
                    StringReads::find(&text).iter().map(|read| format!("{}, {read}", place.display())),
                );
            }
        }
    }
    assert!(reads.is_empty(), "{reads:#?}");
}

#[test]
fn a_read_by_string_is_found_except_in_tests() {
    for text in [
        "expected[\"refusal\"]",
        "json.get(\"a\")",
        "json.pointer(\"/a\")",
        "finding.id.starts_with(\"mixed-\")",
        "subject.id().strip_prefix(\"exec:\")",
        "class.name() == other",
        "verdict == \"wrong-value\"",
    ] {
        assert_eq!(StringReads::find(&format!("fn f() {{ {text} }}")).len(), 1, "{text}");
        assert_eq!(StringReads::find(&format!("#[cfg(test)] mod tests {{ fn f() {{ {text} }} }}")).len(), 0);
    }
    for text in [
        "all[0]",
        "json.get(KEY)",
        "line.starts_with(\"//\")",
        "class == Class::Crash",
        "outcome == \"accepted\"",
    ] {
        assert_eq!(StringReads::find(&format!("fn f() {{ {text} }}")), [""; 0], "{text}");
    }
}
