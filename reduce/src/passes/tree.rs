//! Declarations and expressions of a module by number, wherever they stand.

use ptxsmith_syntax::{
    Declaration, Declarator, Expr, Initializer, Instruction, Item, Module, Specifier, Statement,
};

/// Calls `each` with every declaration, those of parameters and in functions included, in the order written.
pub(super) fn each_declaration(module: &mut Module, each: &mut dyn FnMut(&mut Declaration)) {
    for item in &mut module.items {
        match item {
            Item::Variables(declaration) => each(declaration),
            Item::Function(function) => {
                function.results.iter_mut().flatten().for_each(&mut *each);
                function.parameters.iter_mut().flatten().for_each(&mut *each);
                in_statements(function.body.as_deref_mut().unwrap_or(&mut []), each);
            }
            _ => {}
        }
    }
}

fn in_statements(statements: &mut [Statement], each: &mut dyn FnMut(&mut Declaration)) {
    for statement in statements {
        match statement {
            Statement::Variables(declaration) => each(declaration),
            // Blocks nest no deeper than the parser lets them.
            Statement::Block(inner) => in_statements(inner, each),
            Statement::Label(_)
            | Statement::Instruction(_)
            | Statement::BranchTargets(_)
            | Statement::Tokens(_) => {}
        }
    }
}

/// Calls `each` with every instruction, in the order written.
pub(super) fn each_instruction(module: &mut Module, each: &mut dyn FnMut(&mut Instruction)) {
    fn visit(statements: &mut [Statement], each: &mut dyn FnMut(&mut Instruction)) {
        for statement in statements {
            match statement {
                Statement::Instruction(instruction) => each(instruction),
                Statement::Block(inner) => visit(inner, each),
                Statement::Variables(_)
                | Statement::Label(_)
                | Statement::BranchTargets(_)
                | Statement::Tokens(_) => {}
            }
        }
    }
    for item in &mut module.items {
        if let Item::Function(function) = item {
            visit(function.body.as_deref_mut().unwrap_or(&mut []), each);
        }
    }
}

/// Copies of all declarations, in the order of [`each_declaration`].
pub(super) fn declarations(module: &Module) -> Vec<Declaration> {
    let mut found = Vec::new();
    each_declaration(&mut module.clone(), &mut |declaration| found.push(declaration.clone()));
    found
}

/// Changes the declaration of this number.
pub(super) fn change_declaration(
    module: &mut Module,
    number: usize,
    change: impl Fn(&mut Declaration) -> Option<()>,
) -> Option<()> {
    let mut at = 0;
    let mut changed = None;
    each_declaration(module, &mut |declaration| {
        if at == number {
            changed = change(declaration);
        }
        at += 1;
    });
    changed
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

/// Calls `each` with every expression: those of declarations in the order written, but for those of specifiers, which
/// come first; then those of instructions.
pub(super) fn each_expr(module: &mut Module, each: &mut dyn FnMut(&mut Expr)) {
    each_declaration(module, &mut |declaration| {
        each_of_specifiers(declaration, each);
        for declarator in &mut declaration.declarators {
            each_of_type(declarator, each);
            if let Some(initializer) = &mut declarator.initializer {
                in_initializer(initializer, each);
            }
        }
    });
    each_instruction(module, &mut |instruction| instruction.expressions_mut(&mut |operand| each(operand)));
}

fn each_of_specifiers(declaration: &mut Declaration, each: &mut dyn FnMut(&mut Expr)) {
    for specifier in &mut declaration.specifiers {
        match specifier {
            Specifier::Space(_, Some(expr)) | Specifier::Align(expr) => each(expr),
            Specifier::Attributes(attributes) => {
                attributes.iter_mut().flat_map(|a| &mut a.arguments).for_each(&mut *each);
            }
            _ => {}
        }
    }
}

fn each_of_type(declarator: &mut Declarator, each: &mut dyn FnMut(&mut Expr)) {
    let of_type = declarator.count.iter_mut().chain(declarator.dimensions.iter_mut().flatten());
    of_type.for_each(each);
}

fn in_initializer(initializer: &mut Initializer, each: &mut dyn FnMut(&mut Expr)) {
    match initializer {
        Initializer::Value(expr) => each(expr),
        Initializer::List(list) => list.items.iter_mut().for_each(|item| in_initializer(item, each)),
        Initializer::Property(property) => each(&mut property.value),
    }
}

/// Copies of all expressions, in the order of [`each_expr`].
pub(super) fn exprs(module: &Module) -> Vec<Expr> {
    let mut found = Vec::new();
    each_expr(&mut module.clone(), &mut |expr| found.push(expr.clone()));
    found
}

/// Copies of the initial values, each with its number in the order of [`each_expr`] and the number of its declaration.
pub(super) fn exprs_of_declarations(module: &Module) -> Vec<(usize, Expr, usize)> {
    let mut found = Vec::new();
    let mut module = module.clone();
    let (mut number, mut of_declaration) = (0, 0);
    // As each_expr goes.
    each_declaration(&mut module, &mut |declaration| {
        each_of_specifiers(declaration, &mut |_| number += 1);
        for declarator in &mut declaration.declarators {
            each_of_type(declarator, &mut |_| number += 1);
            if let Some(initializer) = &mut declarator.initializer {
                in_initializer(initializer, &mut |expr| {
                    found.push((number, expr.clone(), of_declaration));
                    number += 1;
                });
            }
        }
        of_declaration += 1;
    });
    found
}

/// Replaces the expression of this number.
pub(super) fn replace_expr(module: &mut Module, number: usize, with: &Expr) -> Option<()> {
    let mut at = 0;
    let mut replaced = None;
    each_expr(module, &mut |expr| {
        if at == number && expr != with {
            *expr = with.clone();
            replaced = Some(());
        }
        at += 1;
    });
    replaced
}
