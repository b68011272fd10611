//! Faults of values and layouts as they occur in real implementations. Most are covered by no hypothesis, and some
//! appear only where two features meet.

use ptxsmith_syntax::{
    BinaryOp, Declaration, Declarator, Expr, Linkage, NodeKind, ScalarType as Type, StateSpace, UnaryOp,
    VectorLength,
};
use serde_json::Value;

use super::{Deed, Fault, nodes, number};

/// Applies a fault to a variable: its declaration, its index in the declaration, and the correct JSON, which the
/// function changes.
type Spoil = fn(&Declaration, usize, &mut Value);

/// Changes the bits of an element.
type Element = fn(u64) -> u64;

/// Returns all faults of this module.
pub fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    elements(&mut faults);
    values(&mut faults);
    addresses(&mut faults);
    layouts(&mut faults);
    faults
}

/// Creates a fault that affects every variable of a form.
fn each(class: &'static str, name: &str, is: fn(&Declaration, usize) -> bool, spoil: Spoil) -> Fault {
    Fault::new(class, name, move |asked, right| {
        for declaration in asked.declarations() {
            for nth in 0..declaration.declarators.len() {
                if !is(declaration, nth) {
                    continue;
                }
                if let Some(variable) = right["variables"].get_mut(&*declaration.declarators[nth].name.text) {
                    spoil(declaration, nth, variable);
                }
            }
        }
        Deed::Answers
    })
}

/// Changes the bytes of a variable, if they are known.
pub fn bytes(variable: &mut Value, change: impl FnOnce(&mut [u8])) {
    let Some(text) = variable["bytes"].as_str() else { return };
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap_or_default();
    let mut bytes: Vec<u8> = (0..text.len() / 2).map(|nth| byte(2 * nth)).collect();
    change(&mut bytes);
    variable["bytes"] = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
}

fn size(declaration: &Declaration) -> usize {
    declaration.scalar_type().and_then(Type::size).unwrap_or(1) as usize
}

/// Changes each element of a variable, as a number.
fn each_element(declaration: &Declaration, variable: &mut Value, change: Element) {
    let size = size(declaration);
    bytes(variable, |bytes| {
        for element in bytes.chunks_exact_mut(size).filter(|element| element.len() <= 8) {
            let mut whole = [0; 8];
            whole[..size].copy_from_slice(element);
            element.copy_from_slice(&change(u64::from_le_bytes(whole)).to_le_bytes()[..size]);
        }
    });
}

/// Inverts the lowest bit of one byte.
pub fn flip(variable: &mut Value, at: impl FnOnce(usize) -> usize) {
    bytes(variable, |bytes| {
        if !bytes.is_empty() {
            let at = at(bytes.len());
            bytes[at] ^= 1;
        }
    });
}

fn ty(declaration: &Declaration) -> Type {
    declaration.scalar_type().unwrap_or(Type::Pred)
}

pub fn in_const(declaration: &Declaration) -> bool {
    declaration.space() == Some(StateSpace::Const)
}

pub fn declarator(declaration: &Declaration, nth: usize) -> &Declarator {
    &declaration.declarators[nth]
}

pub fn depth(declaration: &Declaration, nth: usize) -> usize {
    declarator(declaration, nth).dimensions.len()
}

/// Returns true if an initializer of the declaration contains such a node.
pub fn has(declaration: &Declaration, is: impl Fn(&NodeKind) -> bool) -> bool {
    nodes(declaration).any(is)
}

pub fn adds(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Binary(BinaryOp::Add, ..))
}

/// Returns true if an initializer contains such an operator with such an operand.
pub fn over(declaration: &Declaration, is: fn(&NodeKind) -> bool, operand: fn(&NodeKind) -> bool) -> bool {
    let values = declaration.declarators.iter().flat_map(Declarator::values);
    values.into_iter().any(|value: &Expr| {
        value.nodes().iter().any(|node| match node.kind {
            NodeKind::Unary(_, a) | NodeKind::Paren(a) => is(&node.kind) && operand(value.kind(a)),
            NodeKind::Binary(_, a, b) => is(&node.kind) && [a, b].iter().any(|at| operand(value.kind(*at))),
            _ => false,
        })
    })
}

/// Adds faults that change the elements of a type.
fn elements(faults: &mut Vec<Fault>) {
    let mut add = |name: &str, is: fn(&Declaration, usize) -> bool, change: Element| {
        faults.push(Fault::new("wrong-value", name, move |asked, right| {
            for declaration in asked.declarations() {
                for nth in 0..declaration.declarators.len() {
                    let name = &*declaration.declarators[nth].name.text;
                    if let Some(variable) = right["variables"].get_mut(name).filter(|_| is(declaration, nth))
                    {
                        each_element(declaration, variable, change);
                    }
                }
            }
            Deed::Answers
        }));
    };
    add(".u64 keeps 32 bits", |d, _| ty(d) == Type::U64, |x| x & 0xffff_ffff);
    add(".s64 keeps 32 bits and their sign", |d, _| ty(d) == Type::S64, |x| x as i32 as u64);
    add(".b64 goes through a double", |d, _| ty(d) == Type::B64, |x| x as f64 as u64);
    add(".s16 loses its sign", |d, _| ty(d) == Type::S16, |x| u64::from((x as i16).unsigned_abs()));
    add(".s8 is never negative", |d, _| ty(d) == Type::S8, |x| u64::from((x as i8).max(0) as u8));
    add(
        "lists of .s32 lose their sign",
        |d, nth| ty(d) == Type::S32 && depth(d, nth) > 0,
        |x| u64::from((x as i32).unsigned_abs()),
    );
    add(
        ".f64 has single precision",
        |d, _| ty(d) == Type::F64,
        |x| f64::from(f64::from_bits(x) as f32).to_bits(),
    );
    add(".f32 is cut to 16 bits", |d, _| ty(d) == Type::F32, |x| x & 0xffff_0000);
    add(".u16 has the other end first", |d, _| ty(d) == Type::U16, |x| u64::from((x as u16).swap_bytes()));
    add(
        ".u32 in .const has the other end first",
        |d, _| ty(d) == Type::U32 && in_const(d),
        |x| u64::from((x as u32).swap_bytes()),
    );
    add("the smallest .s32 is 0", |d, _| ty(d) == Type::S32, |x| if x == 0x8000_0000 { 0 } else { x });
    add("65536 is 0", |d, _| size(d) > 2, |x| if x == 0x1_0000 { 0 } else { x });
    add("-1 of 64 bits has one bit less", |d, _| size(d) == 8, |x| if x == u64::MAX { x >> 1 } else { x });
    add("bit 40 is lost", |d, _| size(d) == 8, |x| x & !(1 << 40));
}

/// Adds faults that change bytes, depending on their position or on a combination of features.
fn values(faults: &mut Vec<Fault>) {
    let mut add = |name: &str, is, spoil: Spoil| faults.push(each("wrong-value", name, is, spoil));
    let last: Spoil = |_, _, variable| flip(variable, |length| length - 1);
    let first: Spoil = |_, _, variable| flip(variable, |_| 0);
    add("last byte of arrays of .u64", |d, nth| ty(d) == Type::U64 && depth(d, nth) > 0, last);
    add(
        "last byte of what is longer than 16",
        |_, _| true,
        |_, _, variable| {
            bytes(variable, |bytes| {
                if bytes.len() > 16 {
                    bytes[bytes.len() - 1] ^= 1;
                }
            });
        },
    );
    add("last byte of three dimensions", |d, nth| depth(d, nth) == 3, last);
    add(
        "last element of two dimensions is 0",
        |d, nth| depth(d, nth) == 2,
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                let from = bytes.len().saturating_sub(size);
                bytes[from..].fill(0);
            });
        },
    );
    add(
        "second half repeats the first of two dimensions",
        |d, nth| depth(d, nth) == 2,
        |_, _, variable| {
            bytes(variable, |bytes| {
                let (first, second) = bytes.split_at_mut(bytes.len() / 2);
                second[..first.len()].copy_from_slice(first);
            });
        },
    );
    add(
        "first and last element of an array are exchanged",
        |d, nth| depth(d, nth) == 1,
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                let last = bytes.len().saturating_sub(size);
                (0..size.min(last)).for_each(|at| bytes.swap(at, last + at));
            });
        },
    );
    add(
        "what follows the ninth element is 0",
        |d, nth| depth(d, nth) == 1,
        |d, _, variable| {
            let from = 9 * size(d);
            bytes(variable, |bytes| bytes.iter_mut().skip(from).for_each(|byte| *byte = 0));
        },
    );
    add(
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
    );
    add(
        "elements of .v2 are exchanged",
        |d, _| d.vector() == Some(VectorLength::V2),
        |d, _, variable| {
            let size = size(d);
            bytes(variable, |bytes| {
                bytes.chunks_exact_mut(2 * size).for_each(|vector| vector.rotate_left(size));
            });
        },
    );
    add("second name of a declaration", |_, nth| nth == 1, first);
    add(
        "name behind one without a value",
        |d, nth| nth > 0 && declarator(d, nth - 1).initializer.is_none(),
        first,
    );
    add(
        ".align above 16",
        |d, _| d.align().and_then(Expr::as_integer).is_some_and(|align| align > 16),
        first,
    );
    add("+ in .const", |d, _| in_const(d) && has(d, adds), first);
    add(
        "hexadecimal in .u16",
        |d, _| ty(d) == Type::U16 && has(d, |kind| number(kind, |n| n.starts_with("0x"))),
        first,
    );
    add(
        "- of a number with U",
        |d, _| {
            over(
                d,
                |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
                |kind| number(kind, |n| n.ends_with('U')),
            )
        },
        first,
    );
    add(
        "?: in a list",
        |d, nth| depth(d, nth) > 0 && has(d, |kind| matches!(kind, NodeKind::Ternary(..))),
        first,
    );
    add(
        "cast in two dimensions",
        |d, nth| depth(d, nth) == 2 && has(d, |kind| matches!(kind, NodeKind::Cast(..))),
        first,
    );
    add(
        "<< under +",
        |d, _| over(d, adds, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Shl, ..))),
        first,
    );
    add(
        "- of parentheses",
        |d, _| {
            over(
                d,
                |kind| matches!(kind, NodeKind::Unary(UnaryOp::Minus, _)),
                |kind| matches!(kind, NodeKind::Paren(_)),
            )
        },
        first,
    );
    add(
        ".visible with .align",
        |d, _| d.linkage().any(|own| own == Linkage::Visible) && d.align().is_some(),
        first,
    );
    add(".f32 in .const", |d, _| ty(d) == Type::F32 && in_const(d), first);
    add("name of more than 20 characters", |d, nth| declarator(d, nth).name.text.len() > 20, first);
    add("name that begins with _", |d, nth| declarator(d, nth).name.text.starts_with('_'), first);
    faults.push(Fault::new("wrong-value", "comment in the declaration", |asked, right| {
        for declaration in asked.declarations() {
            let text = &asked.text[declaration.span.start as usize..declaration.span.end as usize];
            if !text.contains("/*") && !text.contains("//") {
                continue;
            }
            for declarator in &declaration.declarators {
                if let Some(variable) = right["variables"].get_mut(&*declarator.name.text) {
                    flip(variable, |_| 0);
                }
            }
        }
        Deed::Answers
    }));
}

/// Adds faults that change addresses.
fn addresses(faults: &mut Vec<Fault>) {
    let mut add = |name: &str, is, change: fn(&mut Vec<Value>)| {
        faults.push(Fault::new("wrong-address", name, move |asked, right| {
            let is: fn(&Declaration, usize) -> bool = is;
            for declaration in asked.declarations() {
                for nth in 0..declaration.declarators.len() {
                    let name = &*declaration.declarators[nth].name.text;
                    let variable = right["variables"].get_mut(name).filter(|_| is(declaration, nth));
                    if let Some(own) = variable.and_then(|variable| variable["addresses"].as_array_mut()) {
                        change(own);
                    }
                }
            }
            Deed::Answers
        }));
    };
    fn addend(own: &mut [Value], change: fn(i64) -> i64) {
        for address in own {
            address["addend"] = change(address["addend"].as_i64().unwrap_or_default()).into();
        }
    }
    add("an offset is lost", |_, _| true, |own| addend(own, |_| 0));
    add("an offset is never negative", |_, _| true, |own| addend(own, |by| by.wrapping_abs()));
    add("an offset has 16 bits", |_, _| true, |own| addend(own, |by| by & 0xffff));
    add(
        "an offset in a list is one too high",
        |d, nth| depth(d, nth) > 0,
        |own| {
            addend(own, |by| if by == 0 { 0 } else { by.wrapping_add(1) });
        },
    );
    add(
        "the second address is the first",
        |_, _| true,
        |own| {
            if let [first, second, ..] = &mut own[..] {
                second["symbol"] = first["symbol"].clone();
                second["addend"] = first["addend"].clone();
            }
        },
    );
    add(
        "generic() in .const is forgotten",
        |d, _| in_const(d),
        |own| {
            own.iter_mut().for_each(|address| address["generic"] = false.into());
        },
    );
    add(
        "generic() in two dimensions is forgotten",
        |d, nth| depth(d, nth) > 1,
        |own| {
            own.iter_mut().for_each(|address| address["generic"] = false.into());
        },
    );
    add(
        "the highest byte of an address is the lowest",
        |_, _| true,
        |own| {
            for address in own.iter_mut().filter(|address| address["byte"] == 7) {
                address["byte"] = 0.into();
            }
        },
    );
    add("addresses behind the second are missing", |_, _| true, |own| own.truncate(2));
}

/// Adds faults that change sizes, alignments and state spaces.
fn layouts(faults: &mut Vec<Fault>) {
    let mut add = |name: &str, is, spoil: Spoil| faults.push(each("wrong-layout", name, is, spoil));
    fn length(variable: &mut Value, change: impl FnOnce(u64) -> u64) {
        let size = change(variable["size"].as_u64().unwrap_or_default());
        variable["size"] = size.into();
        if let Some(text) = variable["bytes"].as_str() {
            let mut text = text.to_owned();
            text.truncate(2 * size as usize);
            variable["bytes"] = format!("{text:0<width$}", width = 2 * size as usize).into();
        }
    }
    add(
        ".f64 is aligned to 4",
        |d, _| ty(d) == Type::F64 && d.align().is_none(),
        |_, _, variable| {
            variable["align"] = 4.into();
        },
    );
    add(
        ".v4 is aligned as an element",
        |d, _| d.vector() == Some(VectorLength::V4),
        |d, _, variable| {
            variable["align"] = size(d).into();
        },
    );
    add(".align is ignored", |d, _| d.align().is_some(), |d, _, variable| variable["align"] = size(d).into());
    add(
        "arrays of more than 64 bytes are not aligned",
        |_, _| true,
        |_, _, variable| {
            if variable["size"].as_u64().is_some_and(|size| size > 64) {
                variable["align"] = 1.into();
            }
        },
    );
    add(".b16 has 4 bytes", |d, _| ty(d) == Type::B16, |_, _, variable| length(variable, |size| 2 * size));
    add(
        "three dimensions lack an element",
        |d, nth| depth(d, nth) == 3,
        |d, _, variable| {
            length(variable, |own| own.saturating_sub(size(d) as u64));
        },
    );
    add(
        "arrays of .v2 have the length of scalars",
        |d, nth| d.vector() == Some(VectorLength::V2) && depth(d, nth) > 0,
        |_, _, variable| length(variable, |size| size / 2),
    );
    add(
        "arrays of .u8 have a multiple of 4 bytes",
        |d, nth| ty(d) == Type::U8 && depth(d, nth) > 0,
        |_, _, variable| length(variable, |size| size.div_ceil(4) * 4),
    );
    add(
        ".const is .global for .f64",
        |d, _| in_const(d) && ty(d) == Type::F64,
        |_, _, variable| variable["space"] = "global".into(),
    );
    faults.push(Fault::new("wrong-layout", "what has no value is not there", |asked, right| {
        for declaration in asked.declarations() {
            for declarator in declaration.declarators.iter().filter(|own| own.initializer.is_none()) {
                if let Some(variables) = right["variables"].as_object_mut() {
                    variables.remove(&*declarator.name.text);
                }
            }
        }
        Deed::Answers
    }));
    faults.push(Fault::new("wrong-layout", "numbered names lack the first", |asked, right| {
        for declarator in asked.declarations().flat_map(|own| &own.declarators) {
            if let (Some(_), Some(variables)) = (&declarator.count, right["variables"].as_object_mut()) {
                variables.remove(&format!("{}0", declarator.name.text));
            }
        }
        Deed::Answers
    }));
}
