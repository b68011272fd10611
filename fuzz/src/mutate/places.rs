//! Finds the parts of a program that can be mutated.

use ptxsmith_syntax::{Declaration, Expr, Initializer, Item, Module, VisitMut};

/// Returns the declarations at module scope.
pub(super) fn declarations(module: &mut Module) -> Vec<&mut Declaration> {
    fn declaration(item: &mut Item) -> Option<&mut Declaration> {
        if let Item::Variables(declaration) = item { Some(declaration) } else { None }
    }
    module.items.iter_mut().filter_map(declaration).collect()
}

/// Returns the expressions of the declarations at module scope: values in initializers, dimensions, counts, alignments and
/// arguments of attributes.
pub(super) fn expressions(module: &mut Module) -> Vec<&mut Expr> {
    struct Expressions<'m>(Vec<&'m mut Expr>);
    impl<'m> VisitMut<'m> for Expressions<'m> {
        fn expr(&mut self, expr: &'m mut Expr) {
            self.0.push(expr);
        }
    }
    let mut found = Expressions(Vec::new());
    declarations(module).into_iter().for_each(|declaration| found.declaration(declaration));
    found.0
}

/// Returns the initializer lists at module scope that contain no further lists.
pub(super) fn lists(module: &mut Module) -> Vec<&mut Vec<Initializer>> {
    let mut found = Vec::new();
    for declaration in declarations(module) {
        for initializer in declaration.declarators.iter_mut().filter_map(|d| d.initializer.as_mut()) {
            innermost(initializer, &mut found);
        }
    }
    found
}

fn innermost<'m>(initializer: &'m mut Initializer, found: &mut Vec<&'m mut Vec<Initializer>>) {
    let Initializer::List(list) = initializer else { return };
    if list.items.iter().any(|item| matches!(item, Initializer::List(_))) {
        list.items.iter_mut().for_each(|item| innermost(item, found));
    } else {
        found.push(&mut list.items);
    }
}
