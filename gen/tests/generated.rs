//! Properties of every generated program, and how much of the language a given number of programs covers.

use arbitrary::{Arbitrary, Unstructured};
use ptxsmith_gen::{
    Body, Case, Config, Coverage, Focus, Generator, Header, Nonterminal, Odds, Production, grammar, stream,
};
use ptxsmith_syntax::{Declaration, Expr, Initializer, Item, NodeKind, ScalarType, Spacing, parse, print};

fn cases(generator: &Generator, focus: Focus, count: u64) -> (Vec<Case>, Coverage) {
    let mut coverage = Coverage::new();
    let cases = (0..count).map(|index| generator.case(focus, 1, index, &mut coverage)).collect();
    (cases, coverage)
}

fn declaration_text(declaration: &Declaration) -> String {
    let module = Header::default().module([Item::Variables(declaration.clone())]);
    print(&module).lines().skip(3).collect::<Vec<_>>().join("\n")
}

fn assert_round_trip(case: &Case) {
    let module = case.module(&Header::default());
    let text = case.spacing.print(&module);
    match parse(&text) {
        Ok(parsed) => assert_eq!(parsed, module, "case {}: {text}", case.id),
        Err(error) => panic!("case {}: {error:?}\n{text}", case.id),
    }
}

#[test]
fn every_case_prints_and_parses_back_to_the_same_tree() {
    let generator = Generator::default();
    for (focus, count) in [
        (Focus::Expressions, 20_000),
        (Focus::Initializers, 3_000),
        (Focus::Addresses, 3_000),
        (Focus::Contexts, 1_000),
    ] {
        let (cases, _) = cases(&generator, focus, count);
        assert_eq!(cases.len() as u64, count);
        cases.iter().for_each(assert_round_trip);
    }
}

#[test]
fn cases_of_drawn_configurations_print_and_parse_back_too() {
    for seed in 0..300 {
        let mut bytes = [0; 512];
        stream::case_bytes(seed, 0, &mut bytes);
        let config = Config::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        let (cases, _) = cases(&Generator::new(config), Focus::Mixed, 44);
        let valid = cases.iter().filter(|case| !matches!(case.body, Body::Negative(_)));
        valid.for_each(assert_round_trip);
    }
}

#[test]
fn twenty_thousand_mixed_cases_reach_nearly_every_production_and_most_pairs() {
    let generator = Generator::default();
    let (_, coverage) = cases(&generator, Focus::Mixed, 20_000);
    let (reached, all) = coverage.productions(&generator);
    let missing: Vec<_> = coverage.missing(&generator).map(|p| p.name).collect();
    assert!(reached * 100 >= all * 95, "{missing:?}");
    let (reached, all) = coverage.pairs(&generator);
    assert!(reached * 100 >= all * 80, "{reached} of {all} pairs");
}

#[test]
fn two_hundred_thousand_cases_reach_every_production_and_95_percent_of_pairs() {
    let (_, coverage) = {
        let generator = Generator::default();
        let mut coverage = Coverage::new();
        for index in 0..200_000 {
            generator.case(Focus::Mixed, 1, index, &mut coverage);
        }
        ((), coverage)
    };
    let missing: Vec<_> = coverage.missing(&Generator::default()).map(|p| p.name).collect();
    assert_eq!(missing, [""; 0]);
    let (reached, all) = coverage.pairs(&Generator::default());
    let missing: Vec<_> = coverage
        .missing_pairs(&Generator::default())
        .map(|(p, c)| format!("{} > {}", p.name, c.name))
        .collect();
    assert!(reached * 100 >= all * 95, "{reached} of {all} pairs; missing: {missing:#?}");
}

#[test]
fn no_bytes_give_the_smallest_program_of_each_kind() {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let empty = || Unstructured::new(&[]);
    assert_eq!(generator.integer(&mut empty(), &mut coverage).to_string(), "0");
    assert_eq!(generator.float(&mut empty(), &mut coverage).to_string(), "0.0");
    for ty in ScalarType::ALL {
        let zero = match ty {
            ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128 | ScalarType::Pred => continue,
            ScalarType::F32 | ScalarType::F64 => "0.0",
            _ => "0",
        };
        assert_eq!(generator.expression(ty, &mut empty(), &mut coverage).to_string(), zero);
    }
    let declaration = generator.declaration(&mut empty(), &mut coverage);
    assert_eq!(declaration_text(&declaration), ".global .s64 v0;");
}

#[test]
fn all_other_bytes_are_accepted_too() {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    for byte in 0..=255 {
        for length in [1, 2, 3, 5, 8, 40, 4000] {
            let bytes = vec![byte; length];
            generator.integer(&mut Unstructured::new(&bytes), &mut coverage);
            generator.float(&mut Unstructured::new(&bytes), &mut coverage);
            generator.declaration(&mut Unstructured::new(&bytes), &mut coverage);
        }
    }
}

#[test]
fn a_case_is_the_same_whatever_was_made_before_it() {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let forwards: Vec<_> = (0..500).map(|i| generator.case(Focus::Mixed, 9, i, &mut coverage)).collect();
    for i in (0..500).rev() {
        assert_eq!(forwards[i as usize], generator.case(Focus::Mixed, 9, i, &mut coverage));
    }
    assert_eq!(forwards[77], ptxsmith_gen::case(&Config::default(), Focus::Mixed, 9, 77));
}

#[test]
fn expressions_stay_within_their_size_and_depth() {
    let config = Config { max_nodes: 9, max_depth: 4, ..Config::default() };
    let (cases, _) = cases(&Generator::new(config), Focus::Expressions, 5_000);
    let mut largest = 0;
    for case in &cases {
        let Body::Expression { expr, .. } = &case.body else { panic!("an expression was asked for") };
        let counted = expr.nodes().iter().filter(|node| !matches!(node.kind, NodeKind::Paren(_)));
        largest = largest.max(counted.count());
        assert!(depth(expr) <= 4 + 3, "{expr}");
    }
    assert!((5..=9).contains(&largest), "{largest}");
}

fn depth(expr: &Expr) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(expr.nodes().len());
    for node in expr.nodes() {
        let below = |id: u32| depths[id as usize];
        let depth = match node.kind {
            NodeKind::Paren(a) => below(a),
            NodeKind::Unary(_, a) | NodeKind::Cast(_, a) | NodeKind::Generic(a) => 1 + below(a),
            NodeKind::Mask(_, a) => 1 + below(a),
            NodeKind::Binary(_, a, b) => 1 + below(a).max(below(b)),
            NodeKind::Ternary(a, b, c) => 1 + below(a).max(below(b)).max(below(c)),
            _ => 1,
        };
        depths.push(depth);
    }
    depths[depths.len() - 1]
}

#[test]
fn single_bits_stand_alone() {
    let (cases, _) = cases(&Generator::default(), Focus::Expressions, 20_000);
    let mut found = 0;
    for case in &cases {
        let Body::Expression { expr, ty, .. } = &case.body else { panic!("an expression was asked for") };
        let single = |text: &str| text.len() == 10 && (text.starts_with("0f") || text.starts_with("0F"));
        let any =
            expr.nodes().iter().any(|node| matches!(&node.kind, NodeKind::Number(text) if single(text)));
        if any {
            found += 1;
            assert_eq!(expr.nodes().len(), 1, "{expr}");
            assert!(matches!(ty, ScalarType::F32 | ScalarType::F64 | ScalarType::B32 | ScalarType::B64));
        }
    }
    assert!(found > 200, "{found}");
}

/// Returns how many of 200,000 expressions satisfy a predicate on the expression and its type.
fn count_of_expressions(holds: impl Fn(&Expr, ScalarType) -> bool) -> usize {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let cases = (0..200_000).map(|i| generator.case(Focus::Expressions, 1, i, &mut coverage));
    cases
        .filter(|case| match &case.body {
            Body::Expression { expr, ty, .. } => holds(expr, *ty),
            Body::Items(_) | Body::Contexts(_) | Body::Kernel(_) | Body::Negative(_) => false,
        })
        .count()
}

fn inner(expr: &Expr, mut id: u32) -> u32 {
    while let NodeKind::Paren(operand) = *expr.kind(id) {
        id = operand;
    }
    id
}

#[test]
fn many_ternaries_with_a_signed_and_an_unsigned_arm_stand_where_it_matters() {
    use ptxsmith_syntax::{BinaryOp::*, Cast, UnaryOp};
    // Count only obvious cases: a negated literal as the signed arm; a literal with the suffix, a cast or `~` as the unsigned arm.
    let negative = |expr: &Expr, id: u32| match *expr.kind(inner(expr, id)) {
        NodeKind::Unary(UnaryOp::Minus, operand) => {
            matches!(expr.kind(operand), NodeKind::Number(text) if !text.ends_with('U'))
        }
        _ => false,
    };
    let unsigned = |expr: &Expr, id: u32| match expr.kind(inner(expr, id)) {
        NodeKind::Number(text) => text.ends_with('U'),
        NodeKind::Cast(Cast::U64, _) | NodeKind::Unary(UnaryOp::Complement, _) => true,
        _ => false,
    };
    let mixed = |expr: &Expr, id: u32| match *expr.kind(inner(expr, id)) {
        NodeKind::Ternary(_, a, b) => {
            negative(expr, a) && unsigned(expr, b) || unsigned(expr, a) && negative(expr, b)
        }
        _ => false,
    };
    let count = count_of_expressions(|expr, _| {
        expr.nodes().iter().any(|node| match node.kind {
            NodeKind::Binary(Div | Lt | Gt | Le | Ge, a, b) => mixed(expr, a) || mixed(expr, b),
            NodeKind::Binary(Shr, a, _) => mixed(expr, a),
            _ => false,
        })
    });
    assert!(count >= 500, "{count}");
}

#[test]
fn many_doubles_are_given_as_single_bits() {
    let single = |expr: &Expr| matches!(expr.kind(0), NodeKind::Number(t) if t.starts_with("0f") || t.starts_with("0F"));
    let count = count_of_expressions(|expr, ty| ty == ScalarType::F64 && single(expr));
    assert!(count >= 500, "{count}");
}

#[test]
fn the_least_number_is_divided_by_minus_one_in_several_spellings() {
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    for i in 0..200_000 {
        generator.case(Focus::Expressions, 1, i, &mut coverage);
    }
    let by_name = |name| Production::by_name(name).unwrap();
    let overflow = by_name("integer/overflow");
    assert!(coverage.count(overflow) >= 30, "{}", coverage.count(overflow));
    for name in ["least/difference", "least/shift", "least/cast", "minus-one/minus", "minus-one/cast"] {
        let below = [by_name("overflow/quotient"), by_name("overflow/remainder")];
        assert!(below.iter().any(|&pair| coverage.has_pair(pair, by_name(name))), "{name}");
    }
}

#[test]
fn many_aggregates_have_incomplete_inner_rows_that_are_not_the_last() {
    let (cases, _) = cases(&Generator::default(), Focus::Initializers, 20_000);
    let short_row = |row: &Initializer, extent: usize| matches!(row, Initializer::List(list) if (1..extent).contains(&list.items.len()));
    let extent =
        |dimension: &Option<Expr>| dimension.as_ref().and_then(|e| e.to_string().parse::<usize>().ok());
    let (mut any, mut two_by_two) = (0, 0);
    for case in &cases {
        let items = case.items();
        let [Item::Variables(declaration)] = &items[..] else { panic!("a declaration was asked for") };
        for variable in &declaration.declarators {
            let [outer, Some(_)] = &variable.dimensions[..] else { continue };
            let (Some(inner), Some(Initializer::List(rows))) =
                (extent(&variable.dimensions[1]), &variable.initializer)
            else {
                continue;
            };
            let before_last = &rows.items[..rows.items.len().saturating_sub(1)];
            if before_last.iter().any(|row| short_row(row, inner)) {
                any += 1;
                two_by_two += usize::from(inner == 2 && extent(outer) == Some(2));
            }
        }
    }
    assert!(any >= 1000 && two_by_two >= 20, "{any}, {two_by_two} of them [2][2]");
}

#[test]
fn risky_constructs_that_are_switched_off_are_not_made() {
    let (_, coverage) = cases(&Generator::new(Config::calm()), Focus::Mixed, 20_000);
    for name in [
        "divisor/zero",
        "divisor/any",
        "float-divisor/zero",
        "integer/overflow",
        "integer/huge",
        "float/ternary",
        "float/out-of-range",
        "extent/expression",
        "lanes/short",
    ] {
        assert_eq!(coverage.count(Production::by_name(name).unwrap()), 0, "{name}");
    }
}

#[test]
fn odds_of_a_risky_construct_are_those_of_the_knob() {
    let config = Config { division_by_zero: Odds::new(1, 10), ..Config::default() };
    let (_, coverage) = cases(&Generator::new(config), Focus::Expressions, 30_000);
    let divisors = grammar::productions().filter(|id| id.get().of == Nonterminal::Divisor);
    let all: u64 = divisors.map(|id| coverage.count(id)).sum();
    let zeros = coverage.count(Production::by_name("divisor/zero").unwrap());
    let share = zeros as f64 / all as f64;
    assert!((0.08..0.12).contains(&share), "{zeros} of {all}");
}

#[test]
fn no_variable_exceeds_the_limits_of_its_configuration() {
    let config = Config { max_elements: 12, max_extent: 3, max_dimensions: 2, ..Config::default() };
    let (cases, _) = cases(&Generator::new(config), Focus::Initializers, 5_000);
    for case in &cases {
        let items = case.items();
        let [Item::Variables(declaration)] = &items[..] else { panic!("a declaration was asked for") };
        for variable in &declaration.declarators {
            assert!(variable.dimensions.len() <= 2);
            assert!(variable.values().count() <= 12);
        }
    }
}

#[test]
fn no_name_is_declared_twice_in_a_case() {
    let (cases, _) = cases(&Generator::default(), Focus::Addresses, 3_000);
    for case in &cases {
        let module = case.module(&Header::default());
        let mut names: Vec<_> = module.declarators().map(|d| &d.name.text).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "case {}", case.id);
    }
}

#[test]
fn most_groups_of_addresses_hold_addresses_of_each_form() {
    let (cases, _) = cases(&Generator::default(), Focus::Addresses, 2_000);
    let (mut names, mut generic, mut masked) = (0, 0, 0);
    for case in &cases {
        let text = print(&case.module(&Header::default()));
        let initialized = text.lines().filter_map(|line| line.split_once(" = "));
        for (_, value) in initialized {
            names += usize::from(value.contains('v'));
            generic += usize::from(value.contains("generic("));
            masked += usize::from(value.contains("0xFF") || value.contains("0xff"));
        }
    }
    assert!(names > 1_000 && generic > 500 && masked > 200, "{names}, {generic}, {masked}");
}

#[test]
fn odd_spacing_is_as_frequent_as_the_knob_says() {
    let (cases, _) = cases(&Generator::default(), Focus::Expressions, 20_000);
    let odd = cases.iter().filter(|case| case.spacing != Spacing::Canonical).count();
    assert!((700..970).contains(&odd), "{odd} of 20000, where 1 of 24 was asked for");
}

#[test]
fn a_mixture_has_some_of_each_kind() {
    let count = |focus: Focus| (0..1320).filter(|&i| Focus::Mixed.for_case(i) == focus).count();
    assert_eq!(count(Focus::Initializers), 120);
    assert_eq!([Focus::Addresses, Focus::Contexts, Focus::Negatives].map(count), [20, 20, 10]);
    assert_eq!(count(Focus::Expressions), 1150);
}

fn with_operands() -> Generator {
    Generator::new(Config { operands: true, ..Config::default() })
}

#[test]
fn every_kernel_prints_and_parses_back_to_the_same_tree() {
    let (cases, _) = cases(&with_operands(), Focus::Operands, 2_000);
    cases.iter().for_each(assert_round_trip);
}

#[test]
fn two_thousand_kernels_reach_every_production_of_operands() {
    let (_, coverage) = cases(&with_operands(), Focus::Operands, 2_000);
    let of_operands = |of: Nonterminal| {
        use Nonterminal::{Access, Kernel, Place, Probe, Storage};
        matches!(of, Access | Kernel | Place | Probe | Storage)
    };
    let missing: Vec<_> =
        coverage.missing(&with_operands()).filter(|p| of_operands(p.of)).map(|p| p.name).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_kernel_has_one_parameter_and_follows_its_declarations() {
    for case in cases(&with_operands(), Focus::Operands, 500).0 {
        let Body::Kernel(items) = &case.body else { panic!("a kernel was asked for") };
        let Some(Item::Function(kernel)) = items.last() else { panic!("{items:?}") };
        assert_eq!(kernel.name.text, "k0");
        assert_eq!(kernel.parameters.as_ref().map(Vec::len), Some(1));
    }
}
