//! Prints globals as C++ source.

use std::fmt::Write as _;

use super::leaves::leaves;
use super::{
    CxxClass, CxxGlobal, CxxPointer, CxxType, CxxVector, GlobalSpecifier, Initialization, Member,
    MemorySpace, pointed_text,
};

/// The declarations that globals may refer to, each with the name that it declares.
const NAMED: [(&str, &str); 29] = [
    ("Tiny", "enum Tiny : signed char {};"),
    ("Wide", "enum Wide : unsigned long long {};"),
    ("Loose", "enum Loose { loose_last = 0xffffffff };"),
    ("Negative", "enum Negative { negative_first = -2147483647 - 1, negative_last = 2147483647 };"),
    ("Huge", "enum Huge { huge_last = 0xffffffffffffffff };"),
    ("Record", "struct Record { int first, second, third; __device__ int method() { return first; } };"),
    ("Second", "struct Second { int x, y; __device__ int other() { return y; } };"),
    ("Derived", "struct Derived : Record, Second { long z; };"),
    ("Short1", "typedef short Short1 __attribute__((aligned(1)));"),
    ("Int2", "typedef int Int2 __attribute__((aligned(2)));"),
    ("Long4", "typedef long Long4 __attribute__((aligned(4)));"),
    ("Double4", "typedef double Double4 __attribute__((aligned(4)));"),
    ("Int128x8", "typedef __int128 Int128x8 __attribute__((aligned(8)));"),
    ("CharAt8", "typedef char CharAt8 __attribute__((aligned(8)));"),
    ("Int16", "typedef int Int16 __attribute__((aligned(16)));"),
    (
        "Dynamic",
        "struct Dynamic { __device__ virtual int first() { return 1; } \
         __device__ virtual int second() { return 2; } };",
    ),
    ("Function", "typedef int (*Function)();"),
    ("DataMember", "typedef int Record::*DataMember;"),
    ("Method", "typedef int (Record::*Method)();"),
    ("DerivedMember", "typedef int Derived::*DerivedMember;"),
    ("DerivedMethod", "typedef int (Derived::*DerivedMethod)();"),
    ("VirtualMethod", "typedef int (Dynamic::*VirtualMethod)();"),
    ("target", "__device__ int target = 1;"),
    ("targets", "__device__ int targets[8] = {1};"),
    ("record", "__device__ Record record = {1};"),
    ("records", "__device__ Record records[3] = {};"),
    ("derived", "__device__ Derived derived = {};"),
    ("fixed", "__constant__ int fixed[4] = {1};"),
    ("function", "extern \"C\" __device__ int function() { return 1; }"),
];

/// The number of lines of the [prelude].
pub const PRELUDE_LINES: usize = 4;

/// Returns all declarations that globals may refer to.
pub fn prelude() -> String {
    let vectors: Vec<String> = CxxVector::all().map(|vector| vector.stand_in()).collect();
    guarded(&vectors.join(" ")) + &NAMED.map(|(_, text)| text).join(" ")
}

/// Hides declarations of vector types from compilers that know these types.
fn guarded(vectors: &str) -> String {
    format!("#ifndef __CUDACC__\n{vectors}\n#endif\n")
}

/// Macros that turn CUDA source into plain C++.
pub const HOST_PRELUDE: &str =
    "#define __device__\n#define __constant__\n#define __managed__\n#define __global__\n#define __host__\n";

/// The distance in bytes between the values in a kernel's output.
pub const SLOT: usize = 16;

/// Returns the declarations of a global, in one line.
pub fn declaration(global: &CxxGlobal) -> String {
    let linkage = if global.form == GlobalSpecifier::Template { Linkage::Cxx } else { Linkage::C };
    in_namespace(global, &linked(linkage, &definition(global)))
}

/// Returns the declarations of a global for the host's compilers, in one line. Without `static` or `inline`,
/// so that the compiler keeps every global.
pub fn host_declaration(global: &CxxGlobal) -> String {
    let definition = definition(&CxxGlobal { form: GlobalSpecifier::Plain, ..global.clone() });
    // A host compiler would otherwise run a function that is no constant expression when the program starts.
    let constant = format!("constinit {} ", global.space.name());
    let definition = definition.replacen(&format!("{} ", global.space.name()), &constant, 1);
    in_namespace(global, &linked(Linkage::C, &definition))
}

/// Wraps the classes of a global in a namespace of its own, followed by `rest`.
fn in_namespace(global: &CxxGlobal, rest: &str) -> String {
    let mut text = String::new();
    classes(&global.ty, &mut text);
    format!("namespace n{} {{ {text}{rest} }}", global.number)
}

/// The linkage of names. Names with C linkage are not mangled.
#[derive(Clone, Copy, PartialEq)]
enum Linkage {
    C,
    Cxx,
}

fn linked(linkage: Linkage, text: &str) -> String {
    match linkage {
        Linkage::C => format!("extern \"C\" {{ {text} }}"),
        Linkage::Cxx => text.to_owned(),
    }
}

fn definition(global: &CxxGlobal) -> String {
    let CxxGlobal { number, form, initialization, space, ty } = global;
    let space = space.name();
    let declarator = declarator(ty, &format!("g{number}"));
    let (function, value) = match (initialization, ty) {
        (Initialization::Computed, CxxType::Class(class)) => {
            let mut assignments = String::new();
            assign_class(class, "v", 0, &mut assignments);
            let class = class_name(ty);
            let function =
                format!("constexpr {class} f{number}() {{ {class} v{{}}; {assignments}return v; }} ");
            (function, format!("f{number}()"))
        }
        _ => (String::new(), initializer(ty, 0)),
    };
    let specifiers = match form {
        GlobalSpecifier::Plain => String::new(),
        GlobalSpecifier::Declared => format!("extern {space} {declarator}; "),
        GlobalSpecifier::Template => "template <int> ".to_owned(),
        // A second `const` is no C++.
        GlobalSpecifier::Const if declarator.starts_with("const ") => "extern ".to_owned(),
        GlobalSpecifier::Local => "static ".to_owned(),
        _ => format!("{} ", form.name()),
    };
    format!("{function}{specifiers}{space} {declarator} = {value};")
}

/// Prints an assignment to each scalar of an object, with `step` added to its integers.
fn assign(ty: &CxxType, path: &str, step: u128, text: &mut String) {
    match ty {
        CxxType::Scalar(..) | CxxType::Pointer(_) | CxxType::Vector(_) => {
            let _ = write!(text, "{path} = {}; ", initializer(ty, step));
        }
        CxxType::Text(characters) => {
            for (index, unit) in characters.units(step).into_iter().enumerate() {
                let _ = write!(text, "{path}[{index}] = {unit}; ");
            }
        }
        CxxType::Array(array) => {
            for index in 0..array.given {
                assign(&array.element, &format!("{path}[{index}]"), step + u128::from(index), text);
            }
        }
        CxxType::Class(class) => assign_class(class, path, step, text),
    }
}

fn assign_class(class: &CxxClass, path: &str, step: u128, text: &mut String) {
    // Such a class has its values when the object begins.
    if class.sets_values() {
        return;
    }
    class.bases.iter().for_each(|base| assign_class(base, path, step, text));
    for (index, member) in class.members.iter().enumerate() {
        if !class.is_given(index) || member.is_padding() {
            continue;
        }
        let path = if member.is_unnamed { path.to_owned() } else { format!("{path}.m{}", member.id) };
        if member.width.is_some() {
            let _ = write!(text, "{path} = {}; ", member_initializer(member, step));
        } else {
            assign(&member.ty, &path, step, text);
        }
    }
}

/// Returns the global for CUDA compilers, with descriptions of its layout: `w12` holds its size, its
/// alignment and the offsets of its scalars, and the kernel `k12` reads each scalar.
pub fn unit(global: &CxxGlobal) -> String {
    let number = global.number;
    let definition = definition(global);
    let (outside, inside, ty) = match global.form {
        GlobalSpecifier::Template => (
            linked(Linkage::Cxx, &definition) + " extern \"C\" {",
            format!(" auto &g{number} = n{number}::g{number}<0>;"),
            format!("decltype(g{number}<0>)"),
        ),
        GlobalSpecifier::Local => {
            let ty = declarator(&global.ty, &format!("T{number}"));
            (format!("extern \"C\" {{ typedef {ty};"), format!(" {definition}"), format!("T{number}"))
        }
        // A managed variable alone is no operand of decltype; in parentheses it is a reference, which has the size
        // and the alignment of the variable.
        _ if global.space == MemorySpace::Managed => {
            (format!("extern \"C\" {{ {definition}"), String::new(), format!("decltype((g{number}))"))
        }
        _ => (format!("extern \"C\" {{ {definition}"), String::new(), format!("decltype(g{number})")),
    };
    let leaves = leaves(global);
    let mut text =
        format!("{outside} __device__ unsigned long long w{number}[] = {{sizeof({ty}), alignof({ty})");
    if matches!(global.ty, CxxType::Class(_)) {
        let class = class_name(&global.ty);
        for member in leaves.iter().filter_map(|leaf| leaf.member.as_ref()) {
            let _ = write!(text, ", __builtin_offsetof({class}, {member})");
        }
    }
    let _ = write!(text, "}}; __global__ void k{number}(unsigned char *o) {{{inside}");
    for (place, leaf) in leaves.iter().enumerate() {
        let _ = write!(text, " *({}*)(o + {}) = {};", leaf.ty, place * SLOT, leaf.path);
    }
    if matches!(global.form, GlobalSpecifier::Static | GlobalSpecifier::Constexpr | GlobalSpecifier::Local) {
        // A compiler removes globals that no other file can refer to, so store the address.
        let _ = write!(text, " *(const void **)(o + {}) = &g{number};", leaves.len() * SLOT);
    }
    in_namespace(global, &(text + " } }"))
}

fn class_name(ty: &CxxType) -> String {
    match ty {
        CxxType::Class(class) => format!("C{}", class.id),
        _ => String::new(),
    }
}

/// Prints the class definitions of a type, dependencies first.
fn classes(ty: &CxxType, text: &mut String) {
    match ty {
        CxxType::Array(array) => classes(&array.element, text),
        CxxType::Class(class) => {
            define(class, text);
        }
        CxxType::Scalar(..) | CxxType::Pointer(_) | CxxType::Text(_) | CxxType::Vector(_) => {}
    }
}

/// Prints a class definition with its dependencies. A class that occurs twice is defined once.
fn define(class: &CxxClass, text: &mut String) {
    for base in &class.bases {
        define(base, text);
    }
    for member in class.members.iter().filter(|member| !is_anonymous(member)) {
        classes(&member.ty, text);
    }
    for member in class.members.iter().filter(|member| is_anonymous(member)) {
        if let CxxType::Class(inner) = &member.ty {
            inner.members.iter().for_each(|member| classes(&member.ty, text));
        }
    }
    let body = body(class, &format!("C{}", class.id)) + "; ";
    let definition = match class.pack {
        Some(pack) => format!("_Pragma(\"pack(push, {pack})\") {body}_Pragma(\"pack(pop)\") "),
        None => body,
    };
    if !text.contains(&definition) {
        text.push_str(&definition);
    }
}

/// Prints `struct NAME : bases { members }`.
fn body(class: &CxxClass, name: &str) -> String {
    let mut text = if class.is_union { "union " } else { "struct " }.to_owned();
    match (class.is_packed, class.align) {
        // g++ takes only one kind of attribute.
        (true, Some(align)) => {
            let _ = write!(text, "__attribute__((packed, aligned({align}))) ");
        }
        (true, None) => text.push_str("__attribute__((packed)) "),
        (false, Some(align)) => {
            let _ = write!(text, "alignas({align}) ");
        }
        (false, None) => {}
    }
    text.push_str(name);
    for (place, base) in class.bases.iter().enumerate() {
        let _ = write!(text, "{} C{}", if place == 0 { " :" } else { "," }, base.id);
    }
    text.push_str(" { ");
    for (index, member) in class.members.iter().enumerate() {
        let default = if class.has_defaults && !member.is_padding() && class.is_given(index) {
            format!(" = {}", member_initializer(member, 0))
        } else {
            String::new()
        };
        let _ = write!(text, "{}{default}; ", self::member(member));
    }
    if class.has_constructor {
        text.push_str(&constructor(class, name));
    }
    if class.has_virtual {
        let _ = write!(text, "__device__ virtual int f{}() {{ return 1; }} ", class.id);
    }
    text + "}"
}

fn is_anonymous(member: &Member) -> bool {
    member.is_unnamed && matches!(member.ty, CxxType::Class(_))
}

fn member(member: &Member) -> String {
    let mut text = String::new();
    if member.may_overlap {
        text.push_str("[[no_unique_address]] ");
    }
    if let Some(align) = member.align {
        let _ = write!(text, "alignas({align}) ");
    }
    if member.is_packed {
        text.push_str("__attribute__((packed)) ");
    }
    match (&member.ty, member.width) {
        (CxxType::Class(class), _) if member.is_unnamed => text.push_str(&body(class, "")),
        (ty, Some(width)) if member.is_unnamed => {
            let _ = write!(text, "{} : {width}", declarator(ty, "").trim_end());
        }
        (ty, width) => {
            text.push_str(&declarator(ty, &format!("m{}", member.id)));
            if let Some(width) = width {
                let _ = write!(text, " : {width}");
            }
        }
    }
    text
}

/// Prints the constructor without parameters.
fn constructor(class: &CxxClass, name: &str) -> String {
    let mut initializers = Vec::new();
    for base in &class.bases {
        initializers.push(format!("C{}{}", base.id, in_braces(class_initializer(base, 0))));
    }
    for (index, member) in class.members.iter().enumerate() {
        if !member.is_padding() && class.is_given(index) {
            initializers.push(format!("m{}{}", member.id, in_braces(member_initializer(member, 0))));
        }
    }
    let list =
        if initializers.is_empty() { String::new() } else { format!(" : {}", initializers.join(", ")) };
    format!("constexpr {name}(){list} {{}} ")
}

/// Encloses an initializer in braces unless it has them.
fn in_braces(initializer: String) -> String {
    if initializer.starts_with('{') { initializer } else { format!("{{{initializer}}}") }
}

/// Prints `int name[3][2]`.
fn declarator(ty: &CxxType, name: &str) -> String {
    match ty {
        CxxType::Scalar(scalar, _) => format!("{} {name}", scalar.name()),
        CxxType::Pointer(pointer) => format!("{} {name}", pointer.type_name()),
        CxxType::Text(text) => format!("{} {name}[{}]", text.scalar.name(), text.length),
        CxxType::Array(array) => declarator(&array.element, &format!("{name}[{}]", array.length)),
        CxxType::Vector(vector) => format!("{} {name}", vector.name()),
        CxxType::Class(class) => format!("C{} {name}", class.id),
    }
}

/// Prints the initializer of an object, with `step` added to its integers.
fn initializer(ty: &CxxType, step: u128) -> String {
    match ty {
        CxxType::Scalar(scalar, value) => value.print(*scalar, step),
        CxxType::Pointer(CxxPointer::Text) => format!("\"{}\"", pointed_text(step)),
        CxxType::Pointer(pointer) => pointer.name().to_owned(),
        CxxType::Text(text) => {
            format!("{}\"{}\"", text.prefix(), escaped(&text.shifted(step)))
        }
        CxxType::Array(array) => {
            let elements =
                (0..array.given).map(|index| initializer(&array.element, step + u128::from(index)));
            format!("{{{}}}", elements.collect::<Vec<_>>().join(", "))
        }
        CxxType::Vector(vector) => {
            let components =
                (0..vector.length).map(|index| vector.value.print(vector.element, step + u128::from(index)));
            format!("{{{}}}", components.collect::<Vec<_>>().join(", "))
        }
        CxxType::Class(class) => class_initializer(class, step),
    }
}

/// Prints characters that are not in ASCII by their numbers.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match u32::from(c) {
            0..0x80 => escaped.push(c),
            number if number < 0x10000 => escaped += &format!("\\u{number:04x}"),
            number => escaped += &format!("\\U{number:08x}"),
        }
    }
    escaped
}

fn class_initializer(class: &CxxClass, step: u128) -> String {
    if class.sets_values() {
        return "{}".to_owned();
    }
    let mut all: Vec<String> = class.bases.iter().map(|base| class_initializer(base, step)).collect();
    if class.is_union {
        let member = class.members.get(class.active).filter(|_| class.given > 0);
        all.extend(member.map(|member| match class.active {
            0 => member_initializer(member, step),
            _ => format!(".m{} = {}", member.id, member_initializer(member, step)),
        }));
    } else {
        for (index, member) in class.members.iter().enumerate() {
            if class.is_given(index) && !member.is_padding() {
                let name = if class.is_designated { format!(".m{} = ", member.id) } else { String::new() };
                all.push(name + &member_initializer(member, step));
            } else if class.skipped == Some(index) && !class.is_designated {
                // What is left out by name is initialized from an empty list ([dcl.init.aggr]).
                all.push("{}".to_owned());
            }
        }
    }
    format!("{{{}}}", all.join(", "))
}

fn member_initializer(member: &Member, step: u128) -> String {
    match (&member.ty, member.width) {
        (CxxType::Scalar(scalar, value), Some(width)) => value.within(*scalar, width).print(*scalar, 0),
        (ty, _) => initializer(ty, step),
    }
}

/// Returns a global as a complete source file that shows the same difference as in the generated one.
pub fn source(global: &CxxGlobal) -> String {
    let unit = unit(&CxxGlobal { number: 0, ..global.clone() });
    let mut needed: Vec<&str> = Vec::new();
    let mut text = unit.clone();
    for (word, line) in NAMED.iter().rev() {
        let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        if words.any(|other| other == *word) {
            text.push_str(line);
            needed.insert(0, line);
        }
    }
    let words = unit.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let vectors: Vec<String> = CxxVector::all()
        .filter(|vector| words.clone().any(|word| word == vector.name()))
        .map(|vector| vector.stand_in())
        .collect();
    let body = unit.strip_prefix("namespace n0 { ").and_then(|unit| unit.strip_suffix(" }")).unwrap_or(&unit);
    let body = body
        .replace("n0::g0", "::g0")
        .replacen("extern \"C\" { ", "extern \"C\" {\n", 1)
        .replace("; __device__ unsigned", ";\n__device__ unsigned");
    let body = body
        .replace("; __global__", ";\n__global__")
        .replace("}; struct", "};\nstruct")
        .replace("; extern \"C\"", ";\nextern \"C\"")
        .replace(" _Pragma(", "\n_Pragma(");
    let vectors = if vectors.is_empty() { String::new() } else { guarded(&vectors.join("\n")) };
    vectors
        + &needed.iter().map(|line| format!("{line}\n")).collect::<String>()
        + body.trim_end_matches('}').trim_end()
        + "\n}\n"
}

/// Returns the prelude and the units of several globals, each in one line.
pub fn lines(globals: &[&CxxGlobal]) -> Vec<String> {
    let prelude = prelude();
    prelude.lines().map(str::to_owned).chain(globals.iter().map(|global| unit(global))).collect()
}
