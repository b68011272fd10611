//! Rules about the sources that the compiler does not check: no file except tests is longer than 600 lines, the files
//! of a package do not `use` each other in a cycle (apart from parent and child modules), and no code accesses findings
//! by string keys.

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
    fn of(text: &str) -> Module {
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
    let text = |attribute: &Attribute| matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test");
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && text(attribute))
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

    fn visit_macro(&mut self, own: &'ast syn::Macro) {
        let path =
            regex_lite::Regex::new(r"\b(?:crate|self|super)(?: :: \w+)+").expect("a regular expression");
        let tokens = own.tokens.to_string();
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
    /// Returns the module that defines the item at a path, relative to the module `at`. Follows re-exports. Returns
    /// `None` for paths outside the crate.
    fn file_of(&self, at: &[String], path: &[String], seen: &mut BTreeSet<(Name, Name)>) -> Option<Name> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.within(&[], rest, seen),
            "self" => self.within(at, rest, seen),
            "super" => {
                let parent = at.split_last().map_or(&[][..], |(_, parent)| parent);
                match rest.first().is_some_and(|next| next == "super") {
                    true => self.file_of(parent, rest, seen),
                    false => self.within(parent, rest, seen),
                }
            }
            _ => {
                let module = &self.0[at];
                let child = [at, std::slice::from_ref(first)].concat();
                let is_own = self.0.contains_key(&child)
                    || module.items.contains(first)
                    || module.imports.contains_key(first);
                is_own.then(|| self.within(at, path, seen))?
            }
        }
    }

    fn within(&self, at: &[String], path: &[String], seen: &mut BTreeSet<(Name, Name)>) -> Option<Name> {
        if !seen.insert((at.to_vec(), path.to_vec())) {
            return None;
        }
        let Some((first, rest)) = path.split_first() else { return Some(at.to_vec()) };
        let module = self.0.get(at)?;
        let child = [at, std::slice::from_ref(first)].concat();
        if self.0.contains_key(&child) {
            return self.within(&child, rest, seen);
        }
        if let Some(import) = module.imports.get(first) {
            return self.file_of(at, &[import, rest].concat(), seen);
        }
        if !module.items.contains(first) {
            for glob in &module.globs {
                let source = self.file_of(at, &[&glob[..], std::slice::from_ref(first)].concat(), seen);
                if let Some(source) = source.filter(|source| self.0[source].items.contains(first)) {
                    return Some(source);
                }
            }
        }
        Some(at.to_vec())
    }

    /// Returns the files that each file uses, except its ancestors and descendants.
    fn edges(&self) -> BTreeMap<&Name, BTreeSet<Name>> {
        let uses = |(at, module): (&Name, &Module)| -> BTreeSet<Name> {
            let used = module.paths.iter().filter_map(|path| self.file_of(at, path, &mut BTreeSet::new()));
            used.filter(|other| !at.starts_with(other) && !other.starts_with(at)).collect()
        };
        self.0.iter().map(|entry| (entry.0, uses(entry))).collect()
    }
}

/// Returns the files that are part of a cycle, each with the files that it uses and that reach it.
fn circles(edges: &BTreeMap<&Name, BTreeSet<Name>>) -> BTreeMap<Name, BTreeSet<Name>> {
    let reached = |from: &Name| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(at) = left.pop() {
            left.extend(
                edges.get(&at).into_iter().flatten().filter(|other| seen.insert((*other).clone())).cloned(),
            );
        }
        seen
    };
    let all: BTreeMap<&Name, BTreeSet<Name>> = edges.keys().map(|name| (*name, reached(name))).collect();
    let in_circle = |name: &&&Name| all[**name].contains(**name);
    let own = |name: &Name| edges[name].iter().filter(|other| all[other].contains(name)).cloned().collect();
    edges.keys().filter(in_circle).map(|name| ((*name).clone(), own(name))).collect()
}

/// Returns the sources of each package, except tests and examples, by path relative to the package.
fn packages() -> BTreeMap<PathBuf, BTreeMap<PathBuf, String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let mut packages = BTreeMap::new();
    for member in members.iter().filter_map(toml::Value::as_str) {
        let folder = root.join(member);
        let files =
            walkdir::WalkDir::new(folder.join("src")).into_iter().flatten().map(walkdir::DirEntry::into_path);
        let is_source = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "rs")
                && path.file_name().is_some_and(|name| name != "tests.rs")
        };
        let read = |path: PathBuf| {
            (path.strip_prefix(&folder).unwrap().to_owned(), fs::read_to_string(&path).unwrap())
        };
        packages.insert(PathBuf::from(member), files.filter(is_source).map(read).collect());
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
        modules.insert(name, Module::of(text));
    }
    Crate(modules)
}

#[test]
fn no_file_but_tests_is_above_600_lines() {
    for (package, files) in packages() {
        for (path, text) in files {
            let lines = text.lines().count();
            let place = package.join(path);
            assert!(lines <= MOST_LINES, "{} has {lines} lines; split it by subject", place.display());
        }
    }
}

#[test]
fn files_of_a_package_use_each_other_in_no_circle() {
    let mut all = Vec::new();
    for (package, files) in packages() {
        let own = crate_of(&files);
        let edges = own.edges();
        let found = circles(&edges);
        all.extend(
            found
                .into_iter()
                .map(|(file, uses)| format!("{}: {} uses {uses:?}", package.display(), file.join("::"))),
        );
    }
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn a_circle_through_a_re_export_is_seen_and_one_in_tests_is_none() {
    let written = [
        ("", "mod a; mod b; mod c; pub use a::A;"),
        ("a", "use super::b::B; pub struct A; // crate::c::C"),
        ("b", "pub struct B; fn b() -> crate::A { todo!() }"),
        ("c", "pub struct C; #[cfg(test)] mod tests { use crate::a::A; } use crate::a::{A as D};"),
    ];
    let name = |text: &str| -> Name {
        text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let own = Crate(written.iter().map(|(at, text)| (name(at), Module::of(text))).collect());
    let edges = own.edges();
    assert_eq!(edges[&name("c")], BTreeSet::from([name("a")]));
    let found = circles(&edges);
    assert_eq!(found.keys().collect::<Vec<_>>(), [&name("a"), &name("b")]);
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

/// Places in a file that read JSON by key, interpret an id, or compare classes by name.
#[derive(Default)]
struct Strings {
    found: Vec<String>,
}

impl Strings {
    fn of(text: &str) -> Vec<String> {
        let mut strings = Strings::default();
        strings.visit_file(&syn::parse_file(text).expect("a source is Rust"));
        strings.found
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
    let is_name = |expr: &Expr| matches!(expr, Expr::MethodCall(call) if call.method == "name" && last_name(&call.receiver).is_some_and(|name| name == "class"));
    match expr {
        Expr::Reference(reference) => names_class(&reference.expr),
        Expr::Unary(unary) => names_class(&unary.expr),
        expr => is_name(expr) || literal(expr).is_some_and(|text| CLASSES.contains(&&*text)),
    }
}

impl<'ast> Visit<'ast> for Strings {
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
        let is_of_id = || last_name(&call.receiver).is_some_and(|name| name == "id");
        match (call.method.to_string().as_str(), text) {
            ("get" | "get_mut" | "pointer", Some(key)) => {
                self.found.push(format!("JSON is read by key {key:?}"));
            }
            ("starts_with" | "strip_prefix", Some(prefix)) if is_of_id() => {
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
    let mut all = Vec::new();
    for (package, files) in packages() {
        let typed = TYPED.iter().any(|typed| package == Path::new(typed));
        for (path, text) in files.into_iter().filter(|_| typed) {
            if !JSON_BORDER.iter().any(|border| path == Path::new(border)) {
                let place = package.join(path);
                all.extend(Strings::of(&text).into_iter().map(|what| format!("{}, {what}", place.display())));
            }
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn what_reads_by_string_is_seen_where_it_is_no_test() {
    for text in [
        "expected[\"refusal\"]",
        "json.get(\"a\")",
        "json.pointer(\"/a\")",
        "finding.id.starts_with(\"mixed-\")",
        "subject.id().strip_prefix(\"exec:\")",
        "class.name() == other",
        "verdict == \"wrong-value\"",
    ] {
        assert_eq!(Strings::of(&format!("fn f() {{ {text} }}")).len(), 1, "{text}");
        assert_eq!(Strings::of(&format!("#[cfg(test)] mod tests {{ fn f() {{ {text} }} }}")).len(), 0);
    }
    for text in [
        "all[0]",
        "json.get(KEY)",
        "line.starts_with(\"//\")",
        "class == Class::Crash",
        "outcome == \"accepted\"",
    ] {
        assert_eq!(Strings::of(&format!("fn f() {{ {text} }}")), [""; 0], "{text}");
    }
}
