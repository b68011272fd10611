//! Faults of values and layouts as they occur in real implementations. Most are covered by no hypothesis, and
//! some appear only where two features meet.

use ptxsmith_syntax::{
    BinaryOp, Declaration, Declarator, Expr, Linkage, NodeKind, ScalarType as Type, StateSpace, UnaryOp,
    VectorLength,
};
use serde_json::Value;

use super::{Fault, Response, is_number, nodes};

/// Whether a fault applies to a variable, which is given by its declaration and its index in it.
pub type Applies = fn(&Declaration, usize) -> bool;

/// Applies a fault to a variable: its declaration, its index in the declaration, and the correct JSON, which
/// the function changes.
type Spoil = fn(&Declaration, usize, &mut Value);

/// Changes the bits of an element.
type ElementChange = fn(u64) -> u64;

/// Changes the addresses in a variable.
type AddressChange = fn(&mut Vec<Value>);

/// Returns all faults of this module.
pub fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    for &(name, applies, change) in ELEMENTS {
        faults.push(for_variables("wrong-value", name, applies, move |declaration, _, variable| {
            change_elements(declaration, variable, change);
        }));
    }
    for &(name, applies, spoil) in VALUES {
        faults.push(for_variables("wrong-value", name, applies, spoil));
    }
    faults.push(comment_in_declaration());
    for &(name, applies, change) in ADDRESSES {
        faults.push(for_variables("wrong-address", name, applies, move |_, _, variable| {
            if let Some(addresses) = variable["addresses"].as_array_mut() {
                change(addresses);
            }
        }));
    }
    for &(name, applies, spoil) in LAYOUTS {
        faults.push(for_variables("wrong-layout", name, applies, spoil));
    }
    faults.push(missing_without_value());
    faults.push(missing_first_number());
    faults
}

/// Creates a fault that affects the variables to which it applies.
fn for_variables(
    class: &'static str,
    name: &str,
    applies: Applies,
    spoil: impl Fn(&Declaration, usize, &mut Value) + 'static,
) -> Fault {
    Fault::new(class, name, move |request, answer| {
        for declaration in request.declarations() {
            for (index, declarator) in declaration.declarators.iter().enumerate() {
                if applies(declaration, index)
                    && let Some(variable) = answer["variables"].get_mut(&*declarator.name.text)
                {
                    spoil(declaration, index, variable);
                }
            }
        }
        Response::Answer
    })
}

/// Changes the bytes of a variable, if they are known.
pub fn bytes(variable: &mut Value, change: impl FnOnce(&mut [u8])) {
    let Some(text) = variable["bytes"].as_str() else { return };
    let digits = (0..text.len() / 2).map(|index| &text[2 * index..2 * index + 2]);
    let mut bytes: Vec<u8> =
        digits.map(|digits| u8::from_str_radix(digits, 16).unwrap_or_default()).collect();
    change(&mut bytes);
    variable["bytes"] = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
}

fn size(declaration: &Declaration) -> usize {
    declaration.scalar_type().and_then(Type::size).unwrap_or(1) as usize
}

/// Changes each element of a variable, as a number.
fn change_elements(declaration: &Declaration, variable: &mut Value, change: ElementChange) {
    let size = size(declaration);
    bytes(variable, |bytes| {
        for element in bytes.chunks_exact_mut(size).filter(|element| element.len() <= 8) {
            let mut bits = [0; 8];
            bits[..size].copy_from_slice(element);
            element.copy_from_slice(&change(u64::from_le_bytes(bits)).to_le_bytes()[..size]);
        }
    });
}

/// Inverts the lowest bit of the byte at an offset, which may depend on the number of bytes.
pub fn flip(variable: &mut Value, offset: impl FnOnce(usize) -> usize) {
    bytes(variable, |bytes| {
        if !bytes.is_empty() {
            bytes[offset(bytes.len())] ^= 1;
        }
    });
}

pub fn flip_first(variable: &mut Value) {
    flip(variable, |_| 0);
}

fn ty(declaration: &Declaration) -> Type {
    declaration.scalar_type().unwrap_or(Type::Pred)
}

pub fn in_const(declaration: &Declaration) -> bool {
    declaration.space() == Some(StateSpace::Const)
}

pub fn declarator(declaration: &Declaration, index: usize) -> &Declarator {
    &declaration.declarators[index]
}

/// Returns the number of dimensions.
pub fn depth(declaration: &Declaration, index: usize) -> usize {
    declarator(declaration, index).dimensions.len()
}

/// Returns true if an initializer of the declaration contains such a node.
pub fn has(declaration: &Declaration, is: impl Fn(&NodeKind) -> bool) -> bool {
    nodes(declaration).any(is)
}

pub fn is_addition(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Binary(BinaryOp::Add, ..))
}

/// Returns true if an initializer contains such an operator with such an operand.
pub fn over(declaration: &Declaration, is: fn(&NodeKind) -> bool, is_operand: fn(&NodeKind) -> bool) -> bool {
    let mut values = declaration.declarators.iter().flat_map(Declarator::values);
    values.any(|value: &Expr| {
        value.nodes().iter().any(|node| match node.kind {
            NodeKind::Unary(_, a) | NodeKind::Paren(a) => is(&node.kind) && is_operand(value.kind(a)),
            NodeKind::Binary(_, a, b) => {
                is(&node.kind) && (is_operand(value.kind(a)) || is_operand(value.kind(b)))
            }
            _ => false,
        })
    })
}

/// Faults that change the elements of a type.
const ELEMENTS: &[(&str, Applies, ElementChange)] = &[
    (".u64 keeps 32 bits", |d, _| ty(d) == Type::U64, |x| x & 0xffff_ffff),
    (".s64 keeps 32 bits and their sign", |d, _| ty(d) == Type::S64, |x| x as i32 as u64),
    (".b64 goes through a double", |d, _| ty(d) == Type::B64, |x| x as f64 as u64),
    (".s16 loses its sign", |d, _| ty(d) == Type::S16, |x| u64::from((x as i16).unsigned_abs())),
    (".s8 is never negative", |d, _| ty(d) == Type::S8, |x| u64::from((x as i8).max(0) as u8)),
    (
        "lists of .s32 lose their sign",
        |d, index| ty(d) == Type::S32 && depth(d, index) > 0,
        |x| u64::from((x as i32).unsigned_abs()),
    ),
    (
        ".f64 has single precision",
        |d, _| ty(d) == Type::F64,
        |x| f64::from(f64::from_bits(x) as f32).to_bits(),
    ),
    (".f32 is cut to 16 bits", |d, _| ty(d) == Type::F32, |x| x & 0xffff_0000),
    (".u16 has the other end first", |d, _| ty(d) == Type::U16, |x| u64::from((x as u16).swap_bytes())),
    (
        ".u32 in .const has the other end first",
        |d, _| ty(d) == Type::U32 && in_const(d),
        |x| u64::from((x as u32).swap_bytes()),
    ),
    ("the smallest .s32 is 0", |d, _| ty(d) == Type::S32, |x| if x == 0x8000_0000 { 0 } else { x }),
    ("65536 is 0", |d, _| size(d) > 2, |x| if x == 0x1_0000 { 0 } else { x }),
    ("-1 of 64 bits has one bit less", |d, _| size(d) == 8, |x| if x == u64::MAX { x >> 1 } else { x }),
    ("bit 40 is lost", |d, _| size(d) == 8, |x| x & !(1 << 40)),
];

/// Faults that change bytes, depending on their position or on a combination of features.
const VALUES: &[(&str, Applies, Spoil)] = &[
    (
        "last byte of arrays of .u64",
        |d, index| ty(d) == Type::U64 && depth(d, index) > 0,
        |_, _, variable| flip(variable, |length| length - 1),
    ),
    (
        "last byte of what is longer than 16",
        |_, _| true,
        |_, _, variable| {
            bytes(variable, |bytes| {
                if bytes.len() > 16 {
                    bytes[bytes.len() - 1] ^= 1;
                }
            });
        },
    ),
    (
        "last byte of three dimensions",
        |d, index| depth(d, index) == 3,
        |_, _, variable| flip(variable, |length| length - 1),
    ),
    (
        "last element of two dimensions is 0",
        |d, index| depth(d, index) == 2,
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                let from = bytes.len().saturating_sub(size);
                bytes[from..].fill(0);
            });
        },
    ),
    (
        "second half repeats the first of two dimensions",
        |d, index| depth(d, index) == 2,
        |_, _, variable| {
            bytes(variable, |bytes| {
                let (first, second) = bytes.split_at_mut(bytes.len() / 2);
                second[..first.len()].copy_from_slice(first);
            });
        },
    ),
    (
        "first and last element of an array are exchanged",
        |d, index| depth(d, index) == 1,
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                let last = bytes.len().saturating_sub(size);
                (0..size.min(last)).for_each(|offset| bytes.swap(offset, last + offset));
            });
        },
    ),
    (
        "what follows the ninth element is 0",
        |d, index| depth(d, index) == 1,
        |d, _, variable| {
            let from = 9 * size(d);
            bytes(variable, |bytes| bytes.iter_mut().skip(from).for_each(|byte| *byte = 0));
        },
    ),
    (
        "elements of .v4 repeat the second",
        |d, _| d.vector() == Some(VectorLength::V4),
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                for vector in bytes.chunks_exact_mut(4 * size) {
                    vector.copy_within(size..2 * size, 2 * size);
                }
            });
        },
    ),
    (
        "elements of .v2 are exchanged",
        |d, _| d.vector() == Some(VectorLength::V2),
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                bytes.chunks_exact_mut(2 * size).for_each(|vector| vector.rotate_left(size));
            });
        },
    ),
    ("second name of a declaration", |_, index| index == 1, |_, _, variable| flip_first(variable)),
    (
        "name behind one without a value",
        |d, index| index > 0 && declarator(d, index - 1).initializer.is_none(),
        |_, _, variable| flip_first(variable),
    ),
    (
        ".align above 16",
        |d, _| d.align().and_then(Expr::as_integer).is_some_and(|align| align > 16),
        |_, _, variable| flip_first(variable),
    ),
    ("+ in .const", |d, _| in_const(d) && has(d, is_addition), |_, _, variable| flip_first(variable)),
    (
        "hexadecimal in .u16",
        |d, _| ty(d) == Type::U16 && has(d, |kind| is_number(kind, |n| n.starts_with("0x"))),
        |_, _, variable| flip_first(variable),
    ),
    (
        "- of a number with U",
        |d, _| {
            over(
                d,
                |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
                |kind| is_number(kind, |n| n.ends_with('U')),
            )
        },
        |_, _, variable| flip_first(variable),
    ),
    (
        "?: in a list",
        |d, index| depth(d, index) > 0 && has(d, |kind| matches!(kind, NodeKind::Ternary(..))),
        |_, _, variable| flip_first(variable),
    ),
    (
        "cast in two dimensions",
        |d, index| depth(d, index) == 2 && has(d, |kind| matches!(kind, NodeKind::Cast(..))),
        |_, _, variable| flip_first(variable),
    ),
    (
        "<< under +",
        |d, _| over(d, is_addition, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Shl, ..))),
        |_, _, variable| flip_first(variable),
    ),
    (
        "- of parentheses",
        |d, _| {
            over(
                d,
                |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
                |kind| matches!(kind, NodeKind::Paren(_)),
            )
        },
        |_, _, variable| flip_first(variable),
    ),
    (
        ".visible with .align",
        |d, _| d.linkage().any(|linkage| linkage == Linkage::Visible) && d.align().is_some(),
        |_, _, variable| flip_first(variable),
    ),
    (".f32 in .const", |d, _| ty(d) == Type::F32 && in_const(d), |_, _, variable| flip_first(variable)),
    (
        "name of more than 20 characters",
        |d, index| declarator(d, index).name.text.len() > 20,
        |_, _, variable| flip_first(variable),
    ),
    (
        "name that begins with _",
        |d, index| declarator(d, index).name.text.starts_with('_'),
        |_, _, variable| flip_first(variable),
    ),
];

fn comment_in_declaration() -> Fault {
    Fault::new("wrong-value", "comment in the declaration", |request, answer| {
        for declaration in request.declarations() {
            let text = &request.text[declaration.span.start as usize..declaration.span.end as usize];
            if !text.contains("/*") && !text.contains("//") {
                continue;
            }
            for declarator in &declaration.declarators {
                if let Some(variable) = answer["variables"].get_mut(&*declarator.name.text) {
                    flip_first(variable);
                }
            }
        }
        Response::Answer
    })
}

/// Faults that change addresses.
const ADDRESSES: &[(&str, Applies, AddressChange)] = &[
    ("an offset is lost", |_, _| true, |addresses| change_addends(addresses, |_| 0)),
    (
        "an offset is never negative",
        |_, _| true,
        |addresses| change_addends(addresses, |offset| offset.wrapping_abs()),
    ),
    ("an offset has 16 bits", |_, _| true, |addresses| change_addends(addresses, |offset| offset & 0xffff)),
    (
        "an offset in a list is one too high",
        |d, index| depth(d, index) > 0,
        |addresses| {
            change_addends(addresses, |offset| if offset == 0 { 0 } else { offset.wrapping_add(1) });
        },
    ),
    (
        "the second address is the first",
        |_, _| true,
        |addresses| {
            if let [first, second, ..] = &mut addresses[..] {
                second["symbol"] = first["symbol"].clone();
                second["addend"] = first["addend"].clone();
            }
        },
    ),
    (
        "generic() in .const is forgotten",
        |d, _| in_const(d),
        |addresses| {
            addresses.iter_mut().for_each(|address| address["generic"] = false.into());
        },
    ),
    (
        "generic() in two dimensions is forgotten",
        |d, index| depth(d, index) > 1,
        |addresses| {
            addresses.iter_mut().for_each(|address| address["generic"] = false.into());
        },
    ),
    (
        "the highest byte of an address is the lowest",
        |_, _| true,
        |addresses| {
            for address in addresses.iter_mut().filter(|address| address["byte"] == 7) {
                address["byte"] = 0.into();
            }
        },
    ),
    ("addresses behind the second are missing", |_, _| true, |addresses| addresses.truncate(2)),
];

fn change_addends(addresses: &mut [Value], change: fn(i64) -> i64) {
    for address in addresses {
        address["addend"] = change(address["addend"].as_i64().unwrap_or_default()).into();
    }
}

/// Faults that change sizes, alignments and state spaces.
const LAYOUTS: &[(&str, Applies, Spoil)] = &[
    (
        ".f64 is aligned to 4",
        |d, _| ty(d) == Type::F64 && d.align().is_none(),
        |_, _, variable| {
            variable["align"] = 4.into();
        },
    ),
    (
        ".v4 is aligned as an element",
        |d, _| d.vector() == Some(VectorLength::V4),
        |d, _, variable| {
            variable["align"] = size(d).into();
        },
    ),
    (".align is ignored", |d, _| d.align().is_some(), |d, _, variable| variable["align"] = size(d).into()),
    (
        "arrays of more than 64 bytes are not aligned",
        |_, _| true,
        |_, _, variable| {
            if variable["size"].as_u64().is_some_and(|size| size > 64) {
                variable["align"] = 1.into();
            }
        },
    ),
    (".b16 has 4 bytes", |d, _| ty(d) == Type::B16, |_, _, variable| resize(variable, |size| 2 * size)),
    (
        "three dimensions lack an element",
        |d, index| depth(d, index) == 3,
        |d, _, variable| {
            resize(variable, |bytes| bytes.saturating_sub(size(d) as u64));
        },
    ),
    (
        "arrays of .v2 have the length of scalars",
        |d, index| d.vector() == Some(VectorLength::V2) && depth(d, index) > 0,
        |_, _, variable| resize(variable, |size| size / 2),
    ),
    (
        "arrays of .u8 have a multiple of 4 bytes",
        |d, index| ty(d) == Type::U8 && depth(d, index) > 0,
        |_, _, variable| resize(variable, |size| size.div_ceil(4) * 4),
    ),
    (
        ".const is .global for .f64",
        |d, _| in_const(d) && ty(d) == Type::F64,
        |_, _, variable| variable["space"] = "global".into(),
    ),
];

/// Changes the size of a variable, and cuts its bytes or fills them up with zeros.
fn resize(variable: &mut Value, change: impl FnOnce(u64) -> u64) {
    let size = change(variable["size"].as_u64().unwrap_or_default());
    variable["size"] = size.into();
    if let Some(text) = variable["bytes"].as_str() {
        let mut text = text.to_owned();
        text.truncate(2 * size as usize);
        variable["bytes"] = format!("{text:0<width$}", width = 2 * size as usize).into();
    }
}

fn missing_without_value() -> Fault {
    Fault::new("wrong-layout", "what has no value is not there", |request, answer| {
        for declaration in request.declarations() {
            for declarator in
                declaration.declarators.iter().filter(|declarator| declarator.initializer.is_none())
            {
                if let Some(variables) = answer["variables"].as_object_mut() {
                    variables.remove(&*declarator.name.text);
                }
            }
        }
        Response::Answer
    })
}

fn missing_first_number() -> Fault {
    Fault::new("wrong-layout", "numbered names lack the first", |request, answer| {
        for declarator in request.declarations().flat_map(|declaration| &declaration.declarators) {
            if let (Some(_), Some(variables)) = (&declarator.count, answer["variables"].as_object_mut()) {
                variables.remove(&format!("{}0", declarator.name.text));
            }
        }
        Response::Answer
    })
}
