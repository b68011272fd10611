//! The same declarations in other statements, and statements in another order.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::{Declaration, Declarator, Item, Module, Role, Specifier, Statement, Text, Visit};

/// What may be a declaration statement.
trait MayDeclare: Sized {
    fn declaration(&self) -> Option<&Declaration>;
    fn of(declaration: Declaration) -> Self;
}

impl MayDeclare for Item {
    fn declaration(&self) -> Option<&Declaration> {
        if let Item::Variables(declaration) = self { Some(declaration) } else { None }
    }
    fn of(declaration: Declaration) -> Item {
        Item::Variables(declaration)
    }
}

impl MayDeclare for Statement {
    fn declaration(&self) -> Option<&Declaration> {
        if let Statement::Variables(declaration) = self { Some(declaration) } else { None }
    }
    fn of(declaration: Declaration) -> Statement {
        Statement::Variables(declaration)
    }
}

/// Divides declaration statements, and joins them with those before them.
pub(super) fn divide(module: &mut Module, ways: &BTreeMap<u32, u64>) -> u32 {
    let mut place = 0;
    divide_list(&mut module.items, &mut place, ways);
    for item in &mut module.items {
        if let Item::Function(function) = item
            && let Some(body) = &mut function.body
        {
            divide_body(body, &mut place, ways);
        }
    }
    place
}

fn divide_body(body: &mut Vec<Statement>, place: &mut u32, ways: &BTreeMap<u32, u64>) {
    divide_list(body, place, ways);
    for statement in body {
        if let Statement::Block(inner) = statement {
            divide_body(inner, place, ways);
        }
    }
}

fn divide_list<T: MayDeclare>(list: &mut Vec<T>, place: &mut u32, ways: &BTreeMap<u32, u64>) {
    let mut divided: Vec<T> = Vec::with_capacity(list.len());
    for statement in list.drain(..) {
        let Some(declaration) = statement.declaration().filter(|one| is_simple(one)) else {
            divided.push(statement);
            continue;
        };
        if let Some(&way) = ways.get(place) {
            let count = declaration.declarators.len();
            let before = divided.last().and_then(T::declaration).filter(|before| joins(before, declaration));
            if count > 1 {
                let (left, right) = declaration.declarators.split_at(1 + way as usize % (count - 1));
                let with = |declarators: &[Declarator]| {
                    T::of(Declaration { declarators: declarators.to_vec(), ..declaration.clone() })
                };
                divided.extend([with(left), with(right)]);
            } else if let Some(before) = before {
                let mut joined = before.clone();
                joined.declarators.extend(declaration.declarators.iter().cloned());
                divided.pop();
                divided.push(T::of(joined));
            } else {
                divided.push(statement);
            }
        } else {
            divided.push(statement);
        }
        *place += 1;
    }
    *list = divided;
}

/// Whether a statement may be divided: an attribute may be one of a single variable, and whether a declarator knows those before it
/// in its statement is an open question.
fn is_simple(declaration: &Declaration) -> bool {
    let attributes =
        |specifier: &Specifier| matches!(specifier, Specifier::Attributes(_) | Specifier::Word(_));
    !declaration.specifiers.iter().any(attributes)
        && declaration.declarators.iter().all(|declarator| uses(declarator).is_empty())
}

fn joins(before: &Declaration, next: &Declaration) -> bool {
    let counts = |one: &Declaration| one.declarators.iter().any(|declarator| declarator.count.is_some());
    before.specifiers == next.specifiers && is_simple(before) && !counts(before) && !counts(next)
}

#[derive(Default)]
struct Used(BTreeSet<Text>);

impl Visit<'_> for Used {
    fn name(&mut self, name: &Text, role: Role) {
        if role == Role::Use {
            self.0.insert(name.clone());
        }
    }
}

fn uses(declarator: &Declarator) -> BTreeSet<Text> {
    let mut used = Used::default();
    used.declarator(declarator);
    used.0
}

/// Moves statements before those before them, as far as neither depends on the other.
pub(super) fn exchange(module: &mut Module, ways: &BTreeMap<u32, u64>) -> u32 {
    let count = module.items.len() as u32;
    if ways.is_empty() {
        let movable = module.items.windows(2).any(|pair| is_movable(&pair[0]) && is_movable(&pair[1]));
        return if movable { count } else { 0 };
    }
    for (&place, &way) in ways {
        let from = place as usize;
        let most = 1 + way as usize % 64;
        let mut at = from;
        while at > 0
            && at < module.items.len()
            && from - at < most
            && independent(&module.items[at - 1], &module.items[at])
        {
            module.items.swap(at - 1, at);
            at -= 1;
        }
    }
    count
}

fn is_movable(item: &Item) -> bool {
    matches!(item, Item::Variables(_) | Item::Function(_))
}

fn independent(one: &Item, other: &Item) -> bool {
    let depends = |one: &Item, other: &Item| {
        let mut used = Used::default();
        used.item(one);
        used.0.iter().any(|name| other.may_declare(name))
            || one.declared().any(|(name, _)| other.may_declare(name))
    };
    is_movable(one) && is_movable(other) && !depends(one, other) && !depends(other, one)
}
