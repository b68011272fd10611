//! Tests the results of reductions for invented questions, so that no subject is needed.

use std::cell::RefCell;
use std::collections::BTreeSet;

use ptxsmith_reduce::{
    Answer, Each, Event, NotReducible, Program, Question, ReduceOptions, SearchEnd, SearchResult, check,
    neighbours, reduce,
};
use ptxsmith_syntax::{
    BinaryOp, Declarator, Expr, Function, Initializer, Instruction, Module, NodeKind, Opcode, Operand,
    Statement,
};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

fn program(text: &str) -> Program {
    Program::parse(&format!("{HEADER}{text}\n")).unwrap()
}

fn reduced(text: &str, question: &mut dyn Question) -> SearchResult {
    let reduced = reduce(program(text), question, &ReduceOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(reduced.ended, SearchEnd::Least);
    assert_eq!(check(&reduced.program, question), Ok(()));
    for neighbour in neighbours(&reduced.program) {
        assert!(neighbour.is_smaller_than(&reduced.program));
        let answers = question.ask(std::slice::from_ref(&neighbour));
        assert!(answers[0] != Answer::Yes, "{} is smaller than {}", neighbour.text(), reduced.program.text());
    }
    reduced
}

/// Asserts that a program reduces to another, with the same header.
fn reduces_to(text: &str, least: &str, yes: impl Fn(&Module) -> bool) {
    let mut question = Each(|program: &Program| yes(program.module().unwrap()).into());
    let reduced = reduced(text, &mut question);
    assert_eq!(
        reduced.program.text(),
        format!("{HEADER}{least}{}", if least.is_empty() { "" } else { "\n" })
    );
}

fn values(module: &Module) -> impl Iterator<Item = &Expr> {
    module.declarators().flat_map(Declarator::values)
}

fn holds(module: &Module, is: impl Fn(&NodeKind) -> bool) -> bool {
    values(module).flat_map(|expr| expr.nodes()).any(|node| is(&node.kind))
}

fn divides(module: &Module) -> bool {
    holds(module, |kind| matches!(kind, NodeKind::Binary(BinaryOp::Div, ..)))
}

/// Builds a program with many declarations. One of them divides, and some depend on others.
fn haystack(lines: usize) -> String {
    let mut text = String::new();
    for line in 0..lines {
        text += &match line {
            _ if line == lines * 2 / 3 => {
                ".visible .const .align 16 .v2 .s64 needle[3][2] = {{{1, 2}, {3, (4 + 5) * (6 - 7 / (8 ^ 9))}}};\n".into()
            }
            _ if line % 5 == 3 => format!(".global .u64 v{line}[2] = {{v{}, generic(v{}) + 4}};\n", line - 3, line - 1),
            _ if line % 7 == 5 => format!(".visible .func f{line}() {{ .reg .b32 %r<2>; mov.u32 %r1, v{}; ret; }}\n", line - 3),
            _ => format!(".global .align 4 .b32 v{line}[4] = {{{line}, 0x{line:x}U, -{line}}};\n"),
        };
    }
    text
}

#[test]
fn a_program_that_needs_nothing_reduces_to_its_header() {
    reduces_to(".global .b8 a = 1;\n.func f() { ret; }\n.file 1 \"a\"", "", |_| true);
}

#[test]
fn one_declaration_is_found_among_thousands_with_few_questions() {
    let asked = RefCell::new(0);
    let mut question = Each(|program: &Program| {
        *asked.borrow_mut() += 1;
        divides(program.module().unwrap()).into()
    });
    let program = program(&haystack(2000));
    let reduced = reduce(program, &mut question, &ReduceOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(reduced.program.text(), format!("{HEADER}.global .s32 a = 0 / 0;\n"));
    assert!(*asked.borrow() < 300, "{}", asked.borrow());
}

#[test]
fn an_expression_reduces_to_the_operator_that_is_asked_for() {
    let text = ".global .s64 x = 1 + (2 ? ~(3 << 4U) - 07 / (-(5 % 6) | WARP_SZ) : 8);";
    reduces_to(text, ".global .s32 a = 0 / 0;", divides);
    reduces_to(text, ".global .s32 a = ~0;", |module| {
        holds(module, |kind| matches!(kind, NodeKind::Unary(op, _) if op.symbol() == "~"))
    });
    reduces_to(text, ".global .s32 a = 0 ? 0 : 0;", |module| {
        holds(module, |kind| matches!(kind, NodeKind::Ternary(..)))
    });
    reduces_to(text, ".global .s32 a = WARP_SZ;", |module| holds(module, |kind| *kind == NodeKind::WarpSize));
    reduces_to(text, ".global .s32 a = (0);", |module| {
        holds(module, |kind| matches!(kind, NodeKind::Paren(_)))
    });
}

#[test]
fn nested_operators_keep_their_order_and_lose_the_rest() {
    let nested = |module: &Module| {
        values(module).any(|expr| {
            expr.nodes().iter().any(|node| match &node.kind {
                NodeKind::Binary(BinaryOp::Mul, left, _) => {
                    let part = expr.part(*left);
                    part.nodes().iter().any(|node| matches!(node.kind, NodeKind::Binary(BinaryOp::Add, ..)))
                }
                _ => false,
            })
        })
    };
    reduces_to(".global .s32 x = 7 - ((3 + (8 - 1)) * 4 << 2);", ".global .s32 a = (0 + 0) * 0;", nested);
}

#[test]
fn an_array_keeps_the_rows_and_columns_that_matter() {
    let rows = |module: &Module| {
        module.declarations().flat_map(|declaration| &declaration.declarators).any(|declarator| {
            let Some(Initializer::List(list)) = &declarator.initializer else { return false };
            declarator.dimensions.len() == 2 && list.items.len() >= 2
        })
    };
    reduces_to(
        ".visible .global .align 8 .s32 x[5][7], y[4][3] = {{1, 2, 3}, {4}, {5, 6}, {7}};",
        ".global .s32 a[][0] = {{}, {}};",
        rows,
    );
}

#[test]
fn a_dimension_of_many_digits_comes_to_the_least_that_is_asked_for() {
    let asked = RefCell::new(0);
    reduces_to(".global .u32 x[1125899906842624];", ".global .s32 a[0x5f5e107];", |module| {
        *asked.borrow_mut() += 1;
        let mut dimensions = module.declarations().flat_map(|d| &d.declarators).flat_map(|d| &d.dimensions);
        dimensions.any(|n| n.as_ref().and_then(Expr::as_integer).is_some_and(|n| n >= 100_000_007))
    });
    assert!(*asked.borrow() < 1_000, "{}", asked.borrow());
}

#[test]
fn a_value_is_found_in_an_array() {
    let zeros = vec!["0"; 40].join(", ");
    let row = format!("{{{zeros}}}, {{{zeros}, 1.5}}, {{{zeros}}}");
    reduces_to(&format!(".global .v4 .f32 x[3][41] = {{{row}}};"), ".global .s32 a = 1.5;", |module| {
        holds(module, |kind| matches!(kind, NodeKind::Number(text) if text == "1.5"))
    });
}

#[test]
fn the_elements_that_belong_together_stay_together() {
    // Two elements at a distance, for example when one element overwrites another.
    let text =
        format!(".global .u8 x[64] = {{{}}};", (0..64).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    reduces_to(&text, ".global .s32 a[] = {7, 50};", |module| {
        let numbers: Vec<String> = values(module)
            .filter_map(|expr| match expr.kind(expr.root()) {
                NodeKind::Number(text) => Some(text.to_string()),
                _ => None,
            })
            .collect();
        let at = |number: &str| numbers.iter().position(|text| text == number);
        at("7").is_some_and(|seven| at("50").is_some_and(|fifty| seven < fifty))
    });
}

#[test]
fn declarations_keep_what_is_asked_for_and_lose_the_other_words() {
    let text = ".visible .global .attribute(.managed, .unified(1, 2)) .align 32 .v4 .u16 x[2] = {{1, 2, 3, 4}}, y, z;";
    let any =
        |module: &Module, is: &dyn Fn(&ptxsmith_syntax::Declaration) -> bool| module.declarations().any(is);
    reduces_to(text, ".global .align 0 .s32 a;", |module| any(module, &|d| d.align().is_some()));
    reduces_to(text, ".global .v2 .s32 a;", |module| any(module, &|d| d.vector().is_some()));
    reduces_to(text, ".global .attribute(.unified) .s32 a;", |module| {
        any(module, &|d| d.attributes().next().is_some())
    });
    reduces_to(text, ".visible .global .s32 a;", |module| any(module, &|d| d.linkage().next().is_some()));
}

#[test]
fn a_literal_becomes_the_least_that_will_do() {
    let number = |is: &dyn Fn(u64) -> bool, module: &Module| {
        holds(module, |kind| match kind {
            NodeKind::Number(text) => match ptxsmith_syntax::read_number(text) {
                Some(ptxsmith_syntax::Number::Integer { wrapped, .. }) => is(wrapped),
                _ => false,
            },
            _ => false,
        })
    };
    let text = ".global .u64 x = 0xFEDCBA9876543210U;";
    reduces_to(text, ".global .s32 a = 100;", |module| number(&|value| value >= 100, module));
    reduces_to(text, ".global .s32 a = 0x8000000000000000;", |module| {
        number(&|value| value >> 63 == 1, module)
    });
    let float = |is: &dyn Fn(f64) -> bool, module: &Module| {
        holds(module, |kind| match kind {
            NodeKind::Number(text) => {
                matches!(ptxsmith_syntax::read_number(text), Some(ptxsmith_syntax::Number::Float(value)) if is(value))
            }
            _ => false,
        })
    };
    reduces_to(".global .f64 x = 123.456e-20;", ".global .s32 a = 0.;", |module| float(&|_| true, module));
    reduces_to(".global .f64 x = 123.456e-320;", ".global .s32 a = 1e-308;", |module| {
        float(&|v| v.is_subnormal(), module)
    });
}

#[test]
fn functions_lose_what_is_not_asked_for() {
    let text = ".visible .entry k(.param .u64 p, .param .u32 q) .maxntid 8, 1, 1\n{ .reg .b32 %r<3>;\n a: { mov.u32 %r1, 5; bar.sync 0; }\n ret; }";
    let says = |word: &'static str| move |module: &Module| ptxsmith_syntax::print(module).contains(word);
    reduces_to(text, ".entry a\n{\n    bar.sync 0;\n}", says("bar.sync"));
    reduces_to(text, ".entry a;", says(".entry"));
    reduces_to(text, ".entry a\n.maxntid 8, 1, 1;", says(".maxntid"));
}

const KERNEL: &str = ".global .align 8 .u32 g[4];
.visible .entry kernel(.param .u64 out)
{
    .reg .b64 %rd<5>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    { mov.u64 %rd2, g+12; }
    add.u64 %rd3, %rd1, 0x1F;
    @%p1 st.global.u64 [%rd3+8], %rd2;
    mov.b64 {%rd3, %rd4}, g[2];
    ret;
}";

/// Whether a function contains an instruction with this property.
fn executes(module: &Module, is: impl Fn(&Instruction) -> bool) -> bool {
    let mut statements = module.functions().flat_map(Function::statements);
    statements.any(|statement| matches!(statement, Statement::Instruction(instruction) if is(instruction)))
}

#[test]
fn a_kernel_keeps_the_instruction_that_is_asked_for_and_its_simplest_operands() {
    let stores = |of: fn(&Expr) -> bool| {
        move |module: &Module| {
            executes(module, |instruction| {
                let store = instruction.opcode == Opcode::St && instruction.operands.len() == 2;
                store && matches!(&instruction.operands[0], Operand::Address(address) if of(address))
            })
        }
    };
    let sum = |expr: &Expr| matches!(expr.kind(expr.root()), NodeKind::Binary(BinaryOp::Add, ..));
    reduces_to(KERNEL, ".entry a\n{\n    st [0 + 0], 0;\n}", stores(sum));
    let indexes = |module: &Module| {
        executes(module, |i| i.operands.iter().any(|operand| matches!(operand, Operand::Element(..))))
    };
    // The name can be any declared one, here that of the kernel itself.
    reduces_to(KERNEL, ".entry a\n{\n    mov a[0];\n}", indexes);
    let splits = |module: &Module| {
        executes(module, |i| matches!(&i.operands[..], [Operand::Vector(parts), ..] if parts.len() == 2))
    };
    reduces_to(KERNEL, ".entry a\n{\n    mov {0, 0};\n}", splits);
}

#[test]
fn registers_are_joined_and_those_that_are_left_get_short_names() {
    let declared = |module: &Module| -> BTreeSet<String> {
        let registers = |declaration: &ptxsmith_syntax::Declaration| {
            declaration.space() == Some(ptxsmith_syntax::StateSpace::Reg)
        };
        module
            .functions()
            .flat_map(Function::statements)
            .filter_map(|statement| match statement {
                Statement::Variables(declaration) if registers(declaration) => Some(declaration),
                _ => None,
            })
            .flat_map(|declaration| &declaration.declarators)
            .filter(|declarator| declarator.count.is_none())
            .map(|declarator| declarator.name.text.to_string())
            .collect()
    };
    let adds = |module: &Module, wanted: usize| {
        let plain = declared(module);
        let declares = |prefix: &str| ptxsmith_syntax::print(module).contains(prefix);
        executes(module, |instruction| {
            let known = |name: &&ptxsmith_syntax::Text| {
                plain.contains(name.as_str()) || declares("%rd<") && name.starts_with("%rd")
            };
            let operands = instruction.operands.iter().filter_map(|operand| match operand {
                Operand::Value(value) => Some(value),
                _ => None,
            });
            let names: BTreeSet<_> = operands.flat_map(Expr::names).filter(known).collect();
            instruction.opcode == Opcode::Add && names.len() >= wanted
        })
    };
    reduces_to(KERNEL, ".entry a\n{\n    .reg .b8 b;\n    add b;\n}", |module| adds(module, 1));
    reduces_to(KERNEL, ".entry a\n{\n    .reg .b8 b, c;\n    add b, c;\n}", |module| adds(module, 2));
}

#[test]
fn names_that_are_mentioned_stay_declared() {
    let text = ".global .b8 first; .global .b8 pad; .global .u64 second[2] = {0, generic(first) + 12};";
    let mentions = |module: &Module| holds(module, |kind| matches!(kind, NodeKind::Generic(_)));
    // The name of a variable may appear in its own initializer, so one declaration is enough.
    reduces_to(text, ".global .s32 a = generic(0);", mentions);
    let names = |module: &Module| holds(module, |kind| matches!(kind, NodeKind::Name(_)));
    reduces_to(text, ".global .s32 a = a;", names);
    let other = |module: &Module| {
        module.declarators().any(|d| d.values().flat_map(Expr::names).any(|name| *name != d.name.text))
    };
    reduces_to(text, ".global .s32 a;\n.global .s32 b = a;", other);
}

#[test]
fn two_programs_with_one_cause_end_as_one_text() {
    let mut results = BTreeSet::new();
    for text in [
        ".visible .global .align 8 .s64 x[2][3] = {{1, 2}, {5 % (4 / 3 + 1)}};",
        ".const .f64 q, y = 1 ? 07 << (9U / 0x8U) : 3; .global .u64 z = generic(y);",
        ".global .v4 .u32 w = {1, 2, -(6 / 2), 4};",
        ".func f() { .reg .b32 %r<2>; ret; } .global .u64 p = f; .global .b8 m = 3 * (1 / 2) / 5;",
    ] {
        let mut question = Each(|program: &Program| divides(program.module().unwrap()).into());
        results.insert(reduced(text, &mut question).program.text().to_owned());
    }
    assert_eq!(results, BTreeSet::from([format!("{HEADER}.global .s32 a = 0 / 0;\n")]));
}

/// A question that answers for a limited number of programs at a time, or omits answers after the first yes.
struct Batches {
    size: usize,
    lazy: bool,
}

impl Question for Batches {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        let mut answers: Vec<Answer> =
            programs.iter().map(|program| divides(program.module().unwrap()).into()).collect();
        if self.lazy {
            answers.truncate(
                answers.iter().position(|answer| *answer == Answer::Yes).map_or(usize::MAX, |at| at + 1),
            );
        }
        answers
    }

    fn at_once(&self) -> usize {
        self.size
    }
}

#[test]
fn the_result_does_not_depend_on_how_many_are_asked_at_once() {
    let text = haystack(60);
    let results: BTreeSet<String> = [(1, false), (2, true), (3, false), (16, false), (1000, true)]
        .map(|(size, lazy)| {
            let mut steps = String::new();
            let mut on_event = |event: Event<'_>| {
                if let Event::Better(better, pass) = event {
                    steps += &format!("{pass}\n{}", better.text());
                }
            };
            reduce(program(&text), &mut Batches { size, lazy }, &ReduceOptions::default(), &mut on_event)
                .unwrap();
            steps
        })
        .into();
    assert_eq!(results.len(), 1);
}

#[test]
fn an_unknown_answer_is_never_treated_as_yes() {
    // Every program shorter than 70 bytes times out.
    let mut question = Each(|program: &Program| match program.text().len() {
        0..70 => Answer::CannotTell("no answer in time".to_owned()),
        _ => Answer::Yes,
    });
    let reduced =
        reduce(program(&haystack(10)), &mut question, &ReduceOptions::default(), &mut |_| ()).unwrap();
    assert!(reduced.program.text().len() >= 70, "{}", reduced.program.text());
    assert!(reduced.could_not_tell > 0);
    assert_eq!(reduced.doubt.as_deref(), Some("no answer in time"));
}

#[test]
fn a_program_that_is_not_interesting_is_not_reduced() {
    let asked = |answers: &[Answer]| {
        let mut answers = answers.iter().cloned();
        let mut question = Each(|_: &Program| answers.next().unwrap());
        reduce(program(".global .b8 a;"), &mut question, &ReduceOptions::default(), &mut |_| ()).unwrap_err()
    };
    assert_eq!(asked(&[Answer::No]), NotReducible::NotInteresting);
    assert_eq!(asked(&[Answer::Yes, Answer::No]), NotReducible::NotReproducible);
    let full = || Answer::CannotTell("the disk is full".to_owned());
    assert_eq!(asked(&[full()]), NotReducible::CannotTell("the disk is full".to_owned()));
    assert_eq!(asked(&[Answer::Yes, full()]), NotReducible::CannotTell("the disk is full".to_owned()));
}

#[test]
fn an_answer_by_chance_is_noticed_and_the_last_steady_program_kept() {
    // Without its second variable, the program answers yes the first time only.
    let mut lucky = BTreeSet::new();
    let mut question = Each(|program: &Program| {
        let whole = program.text().contains("second");
        (whole || lucky.insert(program.text().to_owned())).into()
    });
    let program = program(".global .b8 first = 1;\n.global .b8 second = 2;");
    let reduced = reduce(program, &mut question, &ReduceOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(reduced.ended, SearchEnd::NotReproducible);
    assert!(reduced.program.text().contains("second"), "{}", reduced.program.text());
}

#[test]
fn a_search_can_be_stopped_and_keeps_what_it_has() {
    struct Limited(u32);
    impl Question for Limited {
        fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
            self.0 = self.0.saturating_sub(1);
            programs.iter().map(|program| divides(program.module().unwrap()).into()).collect()
        }
        fn at_once(&self) -> usize {
            1
        }
        fn is_over(&self) -> bool {
            self.0 == 0
        }
    }
    let mut best = String::new();
    let mut on_event = |event: Event<'_>| {
        if let Event::Better(program, _) = event {
            best = program.text().to_owned();
        }
    };
    let reduced =
        reduce(program(&haystack(100)), &mut Limited(12), &ReduceOptions::default(), &mut on_event).unwrap();
    assert_eq!(reduced.ended, SearchEnd::Stopped);
    assert_eq!(reduced.program.text(), best);
    assert!(divides(reduced.program.module().unwrap()) && reduced.program.module().unwrap().items.len() < 60);
}

#[test]
fn text_that_is_no_ptx_reduces_to_the_characters_that_matter() {
    let text = format!("{HEADER}{}.global .b8 odd = 0x1_\u{e9}#{{; // comment\n", haystack(40));
    assert!(ptxsmith_syntax::parse(&text).is_err());
    for (needle, least) in
        [("\u{e9}#", "\u{e9}#"), ("1_", "1_"), ("// comment", "// comment"), (".b8", ".b8")]
    {
        let mut question = Each(|program: &Program| program.text().contains(needle).into());
        let reduced =
            reduce(Program::from_text(text.as_str()), &mut question, &ReduceOptions::default(), &mut |_| ())
                .unwrap();
        assert_eq!(reduced.program.text(), least);
        for neighbour in neighbours(&reduced.program) {
            assert!(!neighbour.text().contains(needle));
        }
    }
}

#[test]
fn text_keeps_tokens_apart_that_must_not_touch() {
    let mut question = Each(|program: &Program| {
        let words: Vec<&str> = program.text().split_whitespace().collect();
        (words.contains(&".b8") && words.contains(&"odd")).into()
    });
    let text = Program::from_text(".global   .b8\t odd /* x */ ; # @");
    let reduced = reduce(text, &mut question, &ReduceOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(reduced.program.text(), ".b8\nodd");
}
