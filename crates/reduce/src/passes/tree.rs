//! Access to the declarations, instructions and expressions of a module by number, in source order.

use ptxsmith_syntax::{Declaration, Declarator, Expr, Initializer, Instruction, Module, Visit, VisitMut};

/// A visitor that collects all parts of one type.
struct Collector<T>(Vec<T>);

impl<'m> VisitMut<'m> for Collector<&'m mut Declaration> {
    fn declaration(&mut self, declaration: &'m mut Declaration) {
        self.0.push(declaration);
    }
}

impl<'m> VisitMut<'m> for Collector<&'m mut Instruction> {
    fn instruction(&mut self, instruction: &'m mut Instruction) {
        self.0.push(instruction);
    }
}

impl<'m> VisitMut<'m> for Collector<&'m mut Expr> {
    fn expr(&mut self, expr: &'m mut Expr) {
        self.0.push(expr);
    }
}

fn collect<'m, T>(module: &'m mut Module) -> Vec<T>
where
    Collector<T>: VisitMut<'m>,
{
    let mut collector = Collector(Vec::new());
    collector.module(module);
    collector.0
}

/// Returns every declaration, including parameters and declarations in functions.
pub(super) fn declarations_mut(module: &mut Module) -> Vec<&mut Declaration> {
    collect(module)
}

/// Returns copies of all declarations.
pub(super) fn declarations(module: &Module) -> Vec<Declaration> {
    declarations_mut(&mut module.clone()).into_iter().map(|declaration| declaration.clone()).collect()
}

/// Changes the declaration with this number.
pub(super) fn change_declaration(
    module: &mut Module,
    number: usize,
    change: impl Fn(&mut Declaration) -> Option<()>,
) -> Option<()> {
    change(declarations_mut(module).into_iter().nth(number)?)
}

/// Changes one variable of a declaration.
pub(super) fn change_declarator(
    module: &mut Module,
    (declaration, declarator): (usize, usize),
    change: impl Fn(&mut Declarator) -> Option<()>,
) -> Option<()> {
    change_declaration(module, declaration, |declaration| {
        change(declaration.declarators.get_mut(declarator)?)
    })
}

/// Returns every instruction of the common form.
pub(super) fn instructions_mut(module: &mut Module) -> Vec<&mut Instruction> {
    collect(module)
}

/// Returns copies of all expressions.
pub(super) fn exprs(module: &Module) -> Vec<Expr> {
    exprs_mut(&mut module.clone()).into_iter().map(|expr| expr.clone()).collect()
}

/// Returns every expression.
pub(super) fn exprs_mut(module: &mut Module) -> Vec<&mut Expr> {
    collect(module)
}

/// Replaces the expression with this number.
pub(super) fn replace_expr(module: &mut Module, number: usize, with: &Expr) -> Option<()> {
    let expr = exprs_mut(module).into_iter().nth(number).filter(|expr| *expr != with)?;
    *expr = with.clone();
    Some(())
}

/// Returns copies of the initial values, each with its number among all expressions and the number of its
/// declaration.
pub(super) fn initial_values(module: &Module) -> Vec<(usize, Expr, usize)> {
    #[derive(Default)]
    struct InitialValues {
        exprs: usize,
        declarations: usize,
        found: Vec<(usize, Expr, usize)>,
    }
    impl<'m> Visit<'m> for InitialValues {
        fn declaration(&mut self, declaration: &'m Declaration) {
            declaration.specifiers.iter().for_each(|specifier| self.specifier(specifier));
            declaration.declarators.iter().for_each(|declarator| self.declarator(declarator));
            self.declarations += 1;
        }

        fn initializer(&mut self, initializer: &'m Initializer) {
            for value in initializer.values() {
                self.found.push((self.exprs, value.clone(), self.declarations));
                self.exprs += 1;
            }
        }

        fn expr(&mut self, _: &'m Expr) {
            self.exprs += 1;
        }
    }
    let mut values = InitialValues::default();
    values.module(module);
    values.found
}
