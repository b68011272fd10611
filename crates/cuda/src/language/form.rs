//! The table of all forms of use. In its C++ fragments, `$V` stands for the variable, `$T` for its type, `$C`
//! for its type with qualifiers, `$H` for the annotation of helpers that both host and device may call, and
//! `$A` for the annotation of the place.

/// One step that C++ applies to the expression that names the variable. Steps are listed from the inside out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseStep {
    /// Keeps denoting the variable: parentheses, the right operand of a comma, or an operand of `?:` if both
    /// operands have the same type and value category.
    Same,
    /// Names a member of the object.
    Member,
    /// Names an element of the array by a subscript.
    Element,
    /// Reads the value: the lvalue-to-rvalue conversion.
    Read,
    /// Copies the object with a constructor, which binds a reference to it.
    Copy,
    /// Discards the value, without reading it unless it is volatile.
    Discard,
    /// Binds a reference to the object.
    Bind,
    /// Casts the expression to a reference type, without declaring a reference.
    CastReference,
    /// Takes the address with `&`.
    AddressOf,
    /// Dereferences the pointer with `*`.
    Dereference,
    /// Converts the array to a pointer to its first element.
    Decay,
    /// Calls a member function on the object.
    Call,
}

/// The types of variables that a form is well-formed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRequirement {
    /// Any type.
    Any,
    /// Any type but classes, unions and arrays.
    Scalar,
    /// An integral or floating-point type.
    Arithmetic,
    /// An integral type.
    Integral,
    /// An integral type or an unscoped enumeration.
    IntegralOrEnumeration,
    /// An integral type other than `bool`.
    Integer,
    /// An integral type of 32 bits.
    Word,
    /// An enumeration.
    Enumeration,
    /// A pointer to an object or to a function.
    Pointer,
    /// A pointer to an object.
    ObjectPointer,
    /// A pointer to a member.
    MemberPointer,
    /// The class `P`, [`VariableType::Class`](super::VariableType::Class).
    Class,
    /// The class `P` or the union `U`.
    ClassOrUnion,
    /// The array of `int`, [`VariableType::Array`](super::VariableType::Array).
    Array,
    /// Any array.
    AnyArray,
}

/// The kind of value that the function with the use returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The value of the variable, converted to its type.
    Value,
    /// Something else.
    Other,
}

/// One way to use a variable.
#[derive(Debug, PartialEq, Eq)]
pub struct UseForm {
    /// Unique name, printed in reports.
    pub name: &'static str,
    /// Helper declarations before the function; may be empty.
    pub before: &'static str,
    /// Statements before the `return`; may be empty.
    pub setup: &'static str,
    /// The expression that the function returns.
    pub expression: &'static str,
    /// The return type.
    pub result: &'static str,
    /// The steps that C++ applies to the variable's name, from the inside out.
    pub steps: &'static [UseStep],
    /// Whether the use is in an unevaluated operand.
    pub unevaluated: bool,
    /// The types that the form is well-formed for.
    pub needs: TypeRequirement,
    /// Whether the form is well-formed only if the variable can be read in a constant expression.
    pub constant: bool,
    /// The least and the greatest value that the form is well-formed for; `None` if any value is.
    pub values: Option<(i128, i128)>,
    /// Whether the form is well-formed for a volatile variable.
    pub volatile: bool,
    /// The kind of value that the function returns.
    pub yields: Yield,
    /// Whether the form needs C++20.
    pub cxx20: bool,
}

impl UseForm {
    const fn new(
        name: &'static str,
        needs: TypeRequirement,
        steps: &'static [UseStep],
        expression: &'static str,
    ) -> UseForm {
        UseForm {
            name,
            before: "",
            setup: "",
            expression,
            result: "$T",
            steps,
            unevaluated: false,
            needs,
            constant: false,
            values: None,
            volatile: true,
            yields: Yield::Other,
            cxx20: false,
        }
    }

    const fn cxx20(self) -> UseForm {
        UseForm { cxx20: true, ..self }
    }

    const fn before(self, before: &'static str) -> UseForm {
        UseForm { before, ..self }
    }

    const fn setup(self, setup: &'static str) -> UseForm {
        UseForm { setup, ..self }
    }

    const fn result(self, result: &'static str) -> UseForm {
        UseForm { result, ..self }
    }

    const fn yields(self) -> UseForm {
        UseForm { yields: Yield::Value, ..self }
    }

    const fn constant(self) -> UseForm {
        UseForm { constant: true, ..self }
    }

    const fn values(self, least: i128, most: i128) -> UseForm {
        UseForm { values: Some((least, most)), ..self }
    }

    const fn not_volatile(self) -> UseForm {
        UseForm { volatile: false, ..self }
    }

    const fn unevaluated(self) -> UseForm {
        UseForm { unevaluated: true, ..self }
    }

    /// Returns the form with this name.
    pub fn find(name: &str) -> Option<&'static UseForm> {
        FORMS.iter().find(|form| form.name == name)
    }

    /// Whether the use is in a helper before the function.
    pub fn is_in_helper(&self) -> bool {
        self.before.contains("$V")
    }
}

/// All forms of use.
#[rustfmt::skip]
pub const FORMS: &[UseForm] = {
    use TypeRequirement::{
        Any, AnyArray, Arithmetic, Array, Class, ClassOrUnion, Enumeration, Integer, Integral, IntegralOrEnumeration, MemberPointer,
        ObjectPointer, Pointer, Scalar, Word,
    };
    use UseStep::{
        AddressOf, Bind, Call, CastReference, Copy, Decay, Dereference, Discard, Element, Member, Read, Same,
    };

&[
    // Reads of the value.
    UseForm::new("value", Scalar, &[Read], "$V").yields(),
    UseForm::new("parentheses", Scalar, &[Same, Read], "($V)").yields(),
    UseForm::new("plus", Arithmetic, &[Read], "+$V").yields(),
    UseForm::new("sum", Arithmetic, &[Read], "$V + 0").yields(),
    UseForm::new("product", Arithmetic, &[Read], "1 * $V").yields(),
    UseForm::new("not", Arithmetic, &[Read], "!$V").result("bool"),
    UseForm::new("equal", Arithmetic, &[Read], "$V == 3").result("bool"),
    UseForm::new("condition", Arithmetic, &[Read], "$V ? 1 : 2").result("int"),
    UseForm::new("and", Arithmetic, &[Read], "true && $V").result("bool"),
    UseForm::new("conditional-same", Scalar, &[Same, Read], "b ? $V : o").setup("$C o{}; bool b = true;").yields(),
    UseForm::new("conditional-prvalue", Scalar, &[Read], "true ? $V : ($T)0").yields(),
    UseForm::new("comma-right", Scalar, &[Same, Read], "(0, $V)").yields(),
    UseForm::new("static-cast", Scalar, &[Read], "static_cast<$T>($V)").yields(),
    UseForm::new("cast", Arithmetic, &[Read], "(long long)$V").result("long long"),
    UseForm::new("functional-cast", Arithmetic, &[Read], "double($V)").result("double"),
    UseForm::new("local", Scalar, &[Read], "x").setup("$T x = $V;").yields(),
    UseForm::new("local-const", Scalar, &[Read], "x").setup("const $T x = $V;").yields(),
    UseForm::new("local-auto", Scalar, &[Read], "x").setup("auto x = $V;").yields(),
    UseForm::new("local-braces", Scalar, &[Read], "x").setup("$T x{$V};").yields(),
    UseForm::new("local-parentheses", Scalar, &[Read], "x").setup("$T x($V);").yields(),
    UseForm::new("assignment", Scalar, &[Read], "x").setup("$T x{}; x = $V;").yields(),
    UseForm::new("compound-assignment", Integer, &[Read], "x").setup("$T x{}; x += $V;").yields(),
    UseForm::new("array-element", Scalar, &[Read], "x[0]").setup("$T x[] = {$V};").yields(),
    UseForm::new("aggregate-member", Scalar, &[Read], "l.a").setup("struct L { $T a; } l = {$V};").yields(),
    UseForm::new("argument", Scalar, &[Read], "f($V)").before("$H inline $T f($T a) { return a; }").yields(),
    UseForm::new("argument-deduced", Scalar, &[Read], "f($V)").before("template <class X> $H X f(X a) { return a; }").yields(),
    UseForm::new("argument-converted", Arithmetic, &[Read], "f($V)").before("$H inline double f(double a) { return a; }").result("double"),
    UseForm::new("subscript", Integral, &[Read], "p[$V & 1]").setup("int p[2] = {3, 3};").result("int"),
    UseForm::new("shift", Integral, &[Read], "1 << ($V & 7)").result("int"),
    UseForm::new("switch", IntegralOrEnumeration, &[Read], "r").setup("int r = 0; switch ($V) { default: r = 1; }").result("int"),
    UseForm::new("loop-bound", Integral, &[Read], "n").setup("int n = 0; while (n < 3 && n < (int)$V) ++n;").result("int"),
    UseForm::new("return-value", Scalar, &[Read], "h()").before("$A inline $T h() { return $V; }").yields(),
    UseForm::new("return-auto", Scalar, &[Read], "h()").before("$A inline auto h() { return $V; }").yields(),
    UseForm::new("return-decltype-auto", Scalar, &[Read], "h()").before("$A inline decltype(auto) h() { return $V; }").yields(),
    UseForm::new("assembly", Word, &[Read], "x").setup("int x; asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"r\"($V));").result("int"),
    // Reads of the value in a constant expression.
    UseForm::new("array-bound", Integer, &[Read], "(int)sizeof(x)").setup("char x[$V];").result("int").constant().values(1, 4096),
    UseForm::new("shared-array-bound", Integer, &[Read], "(int)sizeof(x)").setup("__shared__ char x[$V];").result("int").constant().values(1, 4096),
    UseForm::new("template-argument", Integral, &[Read], "B<$V>::get()").before("template <$T N> struct B { static $H $T get() { return N; } };").constant().yields(),
    UseForm::new("template-argument-auto", Integral, &[Read], "B<$V>::get()").before("template <auto N> struct B { static $H auto get() { return N; } };").constant().yields(),
    UseForm::new("template-argument-function", Integral, &[Read], "f<$V>()").before("template <$T N> $H $T f() { return N; }").constant().yields(),
    UseForm::new("static-assertion", Integral, &[Read], "0").setup("static_assert($V || true, \"\");").result("int").constant(),
    UseForm::new("case-label", Integer, &[Read], "r").setup("int n = 3, r = 0; switch (n) { case $V: r = 1; }").result("int").constant().values(0, 127),
    UseForm::new("enumerator", Integer, &[Read], "($T)q").setup("enum { q = $V };").constant().yields(),
    UseForm::new("bit-field", Integer, &[Read], "l.b").setup("struct L { int b : $V; } l = {1};").result("int").constant().values(2, 32),
    UseForm::new("local-constexpr", Scalar, &[Read], "x").setup("constexpr $T x = $V;").constant().yields(),
    UseForm::new("if-constexpr", Integral, &[Read], "r").setup("int r = 0; if constexpr ($V != 0) r = 1;").result("int").constant(),
    // Lambdas and captures.
    UseForm::new("lambda-body", Scalar, &[Read], "l()").setup("auto l = [] { return $V; };").yields(),
    UseForm::new("lambda-copy-default", Scalar, &[Read], "l()").setup("auto l = [=] { return $V; };").yields(),
    UseForm::new("lambda-reference-default", Scalar, &[Read], "l()").setup("auto l = [&] { return $V; };").yields(),
    UseForm::new("lambda-capture", Scalar, &[Read], "l()").setup("auto l = [x = $V] { return x; };").yields(),
    UseForm::new("lambda-capture-reference", Any, &[Bind], "l()").setup("auto l = [&x = $V] { return &x; };").result("const volatile void *"),
    UseForm::new("lambda-returns-reference", Any, &[Bind], "&l()").setup("auto l = []() -> $C & { return $V; };").result("const volatile void *"),
    UseForm::new("generic-lambda-argument", Scalar, &[Read], "l($V)").setup("auto l = [](auto x) { return x; };").yields(),
    UseForm::new("generic-lambda-reference", Any, &[Bind], "l($V)").setup("auto l = [](auto &x) -> const volatile void * { return &x; };").result("const volatile void *"),
    // Discarded-value expressions.
    UseForm::new("statement", Any, &[Discard], "0").setup("$V;").result("int"),
    UseForm::new("void-cast", Any, &[Discard], "0").setup("(void)$V;").result("int"),
    UseForm::new("comma-left", Any, &[Discard], "($V, 1)").result("int"),
    // References bound to a temporary with a copy of the value.
    UseForm::new("temporary-of-other-type", Integral, &[Read], "r").setup("const double &r = $V;").result("double"),
    UseForm::new("rvalue-reference-of-other-type", Integral, &[Read], "r").setup("double &&r = $V;").result("double"),
    UseForm::new("reference-to-plus", Arithmetic, &[Read], "($T)r").setup("const auto &r = +$V;").yields(),
    UseForm::new("reference-to-cast", Scalar, &[Read], "r").setup("const $T &r = static_cast<$T>($V);").yields(),
    UseForm::new("reference-to-conditional-prvalue", Scalar, &[Read], "r").setup("const $T &r = true ? $V : ($T)0;").yields(),
    UseForm::new("argument-by-reference-of-other-type", Integral, &[Read], "f($V)").before("$H inline double f(const double &a) { return a; }").result("double"),
    // References.
    UseForm::new("reference", Any, &[Bind], "&r").setup("$C &r = $V;").result("const volatile void *"),
    UseForm::new("reference-read", Scalar, &[Bind], "r").setup("$C &r = $V;"),
    UseForm::new("reference-parentheses", Any, &[Same, Bind], "&r").setup("$C &r = ($V);").result("const volatile void *"),
    UseForm::new("reference-auto", Any, &[Bind], "&r").setup("auto &r = $V;").result("const volatile void *"),
    UseForm::new("reference-forwarding", Any, &[Bind], "&r").setup("auto &&r = $V;").result("const volatile void *"),
    UseForm::new("reference-conditional", Any, &[Same, Bind], "&r").setup("$C o{}; bool b = true; $C &r = b ? $V : o;").result("const volatile void *"),
    UseForm::new("reference-comma", Any, &[Same, Bind], "&r").setup("$C &r = (0, $V);").result("const volatile void *"),
    UseForm::new("reference-member", Any, &[Bind], "&l.a").setup("struct L { $C &a; } l = {$V};").result("const volatile void *"),
    UseForm::new("argument-by-reference", Any, &[Bind], "f($V)").before("$H inline const volatile void *f($C &a) { return &a; }").result("const volatile void *"),
    UseForm::new("argument-by-reference-read", Scalar, &[Bind], "f($V)").before("$H inline $T f($C &a) { return a; }"),
    UseForm::new("argument-by-deduced-reference", Any, &[Bind], "f($V)").before("template <class X> $H const volatile void *f(const X &a) { return &a; }").result("const volatile void *"),
    UseForm::new("argument-by-forwarding-reference", Any, &[Bind], "f($V)").before("template <class X> $H const volatile void *f(X &&a) { return &a; }").result("const volatile void *"),
    UseForm::new("return-reference", Any, &[Bind], "&h()").before("$A inline $C &h() { return $V; }").result("const volatile void *"),
    UseForm::new("return-auto-reference", Any, &[Bind], "&h()").before("$A inline auto &h() { return $V; }").result("const volatile void *"),
    UseForm::new("return-decltype-auto-parentheses", Any, &[Same, Bind], "&h()").before("$A inline decltype(auto) h() { return ($V); }").result("const volatile void *"),
    UseForm::new("template-reference-argument", Any, &[Bind], "B<$V>::get()").before("template <$C &X> struct B { static $A const volatile void *get() { return &X; } };").result("const volatile void *"),
    UseForm::new("template-auto-reference-argument", Any, &[Bind], "B<$V>::get()").before("template <auto &X> struct B { static $A const volatile void *get() { return &X; } };").result("const volatile void *"),
    UseForm::new("cast-to-reference", Scalar, &[CastReference, Read], "static_cast<$C &>($V)"),
    UseForm::new("const-cast", Scalar, &[CastReference, Read], "const_cast<$T &>($V)"),
    UseForm::new("reinterpret-cast", Scalar, &[CastReference, Read], "reinterpret_cast<const volatile char &>($V)").result("int"),
    // Addresses.
    UseForm::new("address", Any, &[AddressOf], "p").setup("$C *p = &$V;").result("const volatile void *"),
    UseForm::new("address-read", Scalar, &[AddressOf], "*p").setup("$C *p = &$V;"),
    UseForm::new("address-returned", Any, &[AddressOf], "&$V").result("$C *"),
    UseForm::new("address-parentheses", Any, &[Same, AddressOf], "&($V)").result("const volatile void *"),
    UseForm::new("address-comma", Any, &[Same, AddressOf], "&(0, $V)").result("const volatile void *"),
    UseForm::new("address-conditional", Any, &[Same, AddressOf], "&(b ? $V : o)").setup("$C o{}; bool b = true;").result("const volatile void *"),
    UseForm::new("address-as-integer", Any, &[AddressOf], "(unsigned long long)&$V").result("unsigned long long"),
    UseForm::new("address-as-void", Any, &[AddressOf], "p").setup("const volatile void *p = &$V;").result("const volatile void *"),
    UseForm::new("address-dereferenced", Scalar, &[AddressOf, Dereference, Read], "*&$V"),
    UseForm::new("address-in-array", Any, &[AddressOf], "p[0]").setup("$C *p[] = {&$V};").result("const volatile void *"),
    UseForm::new("address-argument", Any, &[AddressOf], "f(&$V)").before("$H inline const volatile void *f($C *a) { return a; }").result("const volatile void *"),
    UseForm::new("address-captured", Any, &[AddressOf], "l()").setup("auto l = [p = &$V] { return p; };").result("const volatile void *"),
    UseForm::new("template-pointer-argument", Any, &[AddressOf], "B<&$V>::get()").before("template <$C *X> struct B { static $A const volatile void *get() { return X; } };").result("const volatile void *"),
    UseForm::new("addressof-builtin", Any, &[AddressOf], "__builtin_addressof($V)").result("const volatile void *"),
    UseForm::new("address-compared", Any, &[AddressOf], "&$V != nullptr").result("bool"),
    UseForm::new("reference-compared", Any, &[Bind], "&r != nullptr").setup("$C &r = $V;").result("bool"),
    UseForm::new("template-reference-argument-unused", Any, &[Bind], "B<$V>::get()").before("template <$C &X> struct B { static $A int get() { return 1; } };").result("int"),
    // Unevaluated operands.
    UseForm::new("sizeof", Any, &[], "(int)sizeof($V)").result("int").unevaluated(),
    UseForm::new("sizeof-value", Arithmetic, &[Read], "(int)sizeof($V + 1)").result("int").unevaluated(),
    UseForm::new("sizeof-address", Any, &[AddressOf], "(int)sizeof(&$V)").result("int").unevaluated(),
    UseForm::new("decltype", Scalar, &[], "x").setup("decltype($V) x = ($T)0;").unevaluated(),
    UseForm::new("decltype-parentheses", Any, &[Same], "(int)sizeof(decltype(($V)))").result("int").unevaluated(),
    UseForm::new("noexcept", Any, &[Discard], "noexcept($V)").result("bool").unevaluated(),
    // Classes and unions.
    UseForm::new("member-value", ClassOrUnion, &[Member, Read], "$V.x").result("int"),
    UseForm::new("member-reference", ClassOrUnion, &[Member, Bind], "&r").setup("const volatile int &r = $V.x;").result("const volatile void *"),
    UseForm::new("member-address", ClassOrUnion, &[Member, AddressOf], "&$V.x").result("const volatile void *"),
    UseForm::new("member-through-pointer", ClassOrUnion, &[AddressOf, Dereference, Member, Read], "(&$V)->x").result("int"),
    UseForm::new("member-function", Class, &[Call], "$V.get()").result("int").not_volatile(),
    UseForm::new("copy", ClassOrUnion, &[Copy], "q.x").setup("$T q = $V;").result("int").not_volatile(),
    UseForm::new("copy-argument", ClassOrUnion, &[Copy], "f($V)").before("$H inline int f($T a) { return a.x; }").result("int").not_volatile(),
    UseForm::new("copy-return", ClassOrUnion, &[Copy], "h().x").before("$A inline $T h() { return $V; }").result("int").not_volatile(),
    UseForm::new("structured-binding", Class, &[Copy], "s").setup("auto [s, t] = $V;").result("int").not_volatile(),
    UseForm::new("structured-binding-reference", Class, &[Bind], "&s").setup("auto &[s, t] = $V;").result("const volatile void *"),
    // Arrays.
    UseForm::new("element-value", AnyArray, &[Element, Read], "$V[1]").result("int"),
    UseForm::new("element-address", AnyArray, &[Element, AddressOf], "&$V[1]").result("const volatile void *"),
    UseForm::new("element-reference", AnyArray, &[Element, Bind], "&r").setup("auto &r = $V[1];").result("const volatile void *"),
    UseForm::new("array-decay", AnyArray, &[Decay], "p").setup("auto p = $V;").result("const volatile void *"),
    UseForm::new("array-dereferenced", AnyArray, &[Decay, Dereference, Read], "*$V").result("int"),
    UseForm::new("array-sum", AnyArray, &[Decay], "$V + 1").result("const volatile void *"),
    UseForm::new("array-argument", AnyArray, &[Decay], "f($V)").before("$H inline const volatile void *f(const volatile void *a) { return a; }").result("const volatile void *"),
    UseForm::new("array-loop", Array, &[Bind], "n").setup("int n = 0; for (auto e : $V) n += e;").result("int"),
    // Pointers.
    UseForm::new("pointer-compared", Pointer, &[Read], "$V == nullptr").result("bool"),
    UseForm::new("pointer-dereferenced", ObjectPointer, &[Read], "*$V").result("int"),
    UseForm::new("pointer-element", ObjectPointer, &[Read], "$V[2]").result("int"),
    // More reads, copies, references and addresses.
    UseForm::new("bit-not", Integer, &[Read], "~$V").result("long long"),
    UseForm::new("less", Arithmetic, &[Read], "$V < 3").result("bool"),
    UseForm::new("or", Arithmetic, &[Read], "false || $V").result("bool"),
    UseForm::new("conditional-omitted", Arithmetic, &[Read], "$V ?: 1").result("double"),
    UseForm::new("brace-cast", Scalar, &[Read], "W{$V}").setup("using W = $T;").yields(),
    UseForm::new("return-braces", Scalar, &[Read], "h()").before("$A inline $T h() { return {$V}; }").yields(),
    UseForm::new("nested-braces", Scalar, &[Read], "x[0][0]").setup("$T x[1][1] = {{$V}};").yields(),
    UseForm::new("if-initializer", Arithmetic, &[Read], "r").setup("int r = 0; if (auto q = $V; q != 0) r = 1;").result("int"),
    UseForm::new("switch-initializer", Arithmetic, &[Read], "r").setup("int r = 0; switch (auto q = $V; (int)q) { default: r = 1; }").result("int"),
    UseForm::new("condition-declaration", Arithmetic, &[Read], "r").setup("int r = 0; if (auto q = $V) r = 1;").result("int"),
    UseForm::new("for-parts", Integral, &[Read], "r").setup("int r = 0; for (int i = (int)$V; i < 3 && r < 3; ++i) ++r;").result("int"),
    UseForm::new("do-while", Integral, &[Read], "r").setup("int r = 0; do ++r; while (r < 3 && r < (int)$V);").result("int"),
    UseForm::new("range-for-body", Arithmetic, &[Read], "r").setup("int y[2] = {1, 2}; double r = 0; for (int e : y) r += e + (double)$V;").result("double"),
    UseForm::new("statement-expression", Scalar, &[Read], "x").setup("$T x = ({ $T y = $V; y; });").yields(),
    UseForm::new("static-local", Scalar, &[Read], "x").setup("static const $T x = $V;").constant().yields(),
    UseForm::new("local-member-initializer", Scalar, &[Read], "l.a").setup("struct L { $T a = $V; }; L l;").yields(),
    UseForm::new("lambda-default-argument", Scalar, &[Read], "l()").setup("auto l = []($T a = $V) { return a; };").yields(),
    UseForm::new("lambda-capture-class", Class, &[Copy], "l()").setup("auto l = [q = $V] { return q.x; };").result("int").not_volatile(),
    UseForm::new("new-value", Scalar, &[Read], "*q").setup("$T *q = new $T($V);"),
    UseForm::new("new-address", Any, &[AddressOf], "*q").setup("auto q = new $C *(&$V);").result("const volatile void *"),
    UseForm::new("new-array-bound", Integer, &[Read], "q != nullptr").setup("char *q = new char[(int)$V & 7];").result("bool"),
    UseForm::new("builtin-expect", Integral, &[Read], "__builtin_expect((long)$V, 1L)").result("long"),
    UseForm::new("builtin-constant-p", Arithmetic, &[Read], "__builtin_constant_p($V)").result("int").unevaluated(),
    UseForm::new("class-by-value-constructor", Scalar, &[Read], "H($V).v").before("struct H { $T v; $H H($T x) : v(x) {} };").yields(),
    UseForm::new("class-by-reference-constructor", Any, &[Bind], "H($V).p").before("struct H { const volatile void *p; $H H($C &x) : p(&x) {} };").result("const volatile void *"),
    UseForm::new("converted-to-class", Scalar, &[Read], "f($V)").before("struct H { $T v; $H H($T x) : v(x) {} }; $H inline $T f(H h) { return h.v; }").yields(),
    UseForm::new("operator-by-value", Integral, &[Read], "H() + $V").before("struct H {}; $H inline $T operator+(H, $T x) { return x; }").yields(),
    UseForm::new("operator-by-reference", Any, &[Bind], "H() + $V").before("struct H {}; $H inline const volatile void *operator+(H, $C &x) { return &x; }").result("const volatile void *"),
    UseForm::new("variadic-by-value", Scalar, &[Read], "f($V)").before("template <class... X> $H $T f(X... a) { return (..., a); }").yields(),
    UseForm::new("variadic-forwarding", Any, &[Bind], "f($V)").before("template <class... X> $H const volatile void *f(X &&...a) { return (..., &a); }").result("const volatile void *"),
    UseForm::new("cast-to-reference-c", Scalar, &[CastReference, Read], "($C &)$V"),
    UseForm::new("assembly-immediate", Word, &[Read], "x").setup("int x; asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"n\"($V));").result("int").constant(),
    UseForm::new("assembly-address", Any, &[AddressOf], "x").setup("int x; asm(\"ld.u32 %0, [%1];\" : \"=r\"(x) : \"l\"(&$V));").result("int"),
    // More constant expressions.
    UseForm::new("pragma-unroll", Integer, &[Read], "n").setup("int n = 0; _Pragma(\"unroll ($V + 0)\") for (int i = 0; i < 3; ++i) ++n;").result("int").constant().values(1, 64),
    UseForm::new("alignas", Integral, &[Read], "(int)sizeof(x)").setup("alignas($V ? 8 : 16) char x[8] = {};").result("int").constant(),
    UseForm::new("noexcept-specifier", Integral, &[Read], "f()").before("$A inline int f() noexcept($V != 0) { return 1; }").result("int").constant(),
    UseForm::new("template-default-argument", Integral, &[Read], "B<>::get()").before("template <$T N = $V> struct B { static $H $T get() { return N; } };").constant().yields(),
    UseForm::new("template-argument-type", Any, &[], "(int)sizeof(B<decltype($V)>)").before("template <class X> struct B { char c; };").result("int").unevaluated(),
    UseForm::new("template-argument-enumeration", Enumeration, &[Read], "B<$V>::get()").before("template <E N> struct B { static $H int get() { return (int)N; } };").result("int").constant(),
    UseForm::new("template-argument-converted", Integral, &[Read], "B<($V != 0)>::get()").before("template <bool N> struct B { static $H int get() { return N; } };").result("int").constant(),
    UseForm::new("template-auto-pointer-argument", Any, &[AddressOf], "B<&$V>::get()").before("template <auto X> struct B { static $A const volatile void *get() { return X; } };").result("const volatile void *"),
    UseForm::new("bound-through-function", Integer, &[Read], "(int)sizeof(x)").before("$H constexpr $T f($T a) { return a; }").setup("char x[f($V)];").result("int").constant().values(1, 4096),
    UseForm::new("bound-through-reference", Integer, &[Bind], "(int)sizeof(x)").before("$H constexpr $T f($C &a) { return a; }").setup("char x[f($V)];").result("int").constant().values(1, 4096),
    UseForm::new("bound-through-address", Integer, &[AddressOf], "(int)sizeof(x)").before("$H constexpr $T f($C *a) { return *a; }").setup("char x[f(&$V)];").result("int").constant().values(1, 4096),
    UseForm::new("template-argument-through-reference", Integral, &[Bind], "B<f($V)>::get()").before("$H constexpr $T f($C &a) { return a; } template <$T N> struct B { static $H $T get() { return N; } };").constant(),
    UseForm::new("static-assertion-through-reference", Integral, &[Bind], "0").before("$H constexpr bool f($C &a) { return true || a; }").setup("static_assert(f($V), \"\");").result("int").constant(),
    UseForm::new("local-constexpr-through-function", Scalar, &[Read], "x").before("$H constexpr $T f($T a) { return a; }").setup("constexpr $T x = f($V);").constant().yields(),
    UseForm::new("bound-by-member-function", Class, &[Call], "(int)sizeof(x)").setup("char x[$V.get() ? 3 : 4];").result("int").constant(),
    UseForm::new("bound-by-member", Class, &[Member, Read], "(int)sizeof(x)").setup("char x[$V.x ? 3 : 4];").result("int").constant(),
    UseForm::new("bound-by-element", Array, &[Element, Read], "(int)sizeof(x)").setup("char x[$V[1] ? 3 : 4];").result("int").constant(),
    // More uses of classes and arrays.
    UseForm::new("structured-binding-array", Array, &[Element, Read], "s").setup("auto [s, t, w] = $V;").result("int").not_volatile(),
    UseForm::new("structured-binding-array-reference", Array, &[Bind], "&s").setup("auto &[s, t, w] = $V;").result("const volatile void *"),
    UseForm::new("array-by-reference", AnyArray, &[Bind], "f($V)").before("template <class X, int N> $H int f(const volatile X (&)[N]) { return N; }").result("int"),
    UseForm::new("member-through-comma", ClassOrUnion, &[Same, Member, Read], "(0, $V).x").result("int"),
    UseForm::new("member-by-pointer", Class, &[Member, Read], "$V.*m").setup("int P::*m = &P::x;").result("int"),
    UseForm::new("aggregate-of-class", Class, &[Copy], "l.a.x").setup("struct L { P a; } l = {$V};").result("int").not_volatile(),
    // More unevaluated operands.
    UseForm::new("alignof", Any, &[], "(int)__alignof__($V)").result("int").unevaluated(),
    UseForm::new("sizeof-call", Any, &[Bind], "(int)sizeof(f($V))").before("$H int f($C &);").result("int").unevaluated(),
    UseForm::new("decltype-call", Any, &[Bind], "x").before("$H int f($C &);").setup("decltype(f($V)) x = 1;").result("int").unevaluated(),
    UseForm::new("noexcept-call", Any, &[Bind], "noexcept(f($V))").before("$H int f($C &) noexcept;").result("bool").unevaluated(),
    // C++20.
    UseForm::new("designated", Scalar, &[Read], "l.a").setup("struct L { $T a; } l = {.a = $V};").yields().cxx20(),
    UseForm::new("designated-reference", Any, &[Bind], "&l.a").setup("struct L { $C &a; } l = {.a = $V};").result("const volatile void *").cxx20(),
    UseForm::new("requires-expression", Arithmetic, &[Read], "requires { $V + 1; }").result("bool").unevaluated().cxx20(),
    UseForm::new("requires-address", Any, &[AddressOf], "requires { &$V; }").result("bool").unevaluated().cxx20(),
    UseForm::new("nested-requirement", Integral, &[Read], "requires { requires ($V != 0 || true); }").result("bool").constant().cxx20(),
    UseForm::new("requires-clause", Integral, &[Read], "f<int>()").before("template <class X> requires ($V != 0 || true) $A int f() { return 1; }").result("int").constant().cxx20(),
    UseForm::new("concept", Integral, &[Read], "f(1)").before("template <class X> concept K = ($V != 0 || true); $A int f(K auto a) { return a; }").result("int").constant().cxx20(),
    UseForm::new("template-lambda", Scalar, &[Read], "l($V)").setup("auto l = []<class Y>(Y x) { return x; };").yields().cxx20(),
    UseForm::new("template-lambda-reference", Any, &[Bind], "l($V)").setup("auto l = []<class Y>(Y &x) -> const volatile void * { return &x; };").result("const volatile void *").cxx20(),
    UseForm::new("template-lambda-argument", Integral, &[Read], "l.template operator()<$V>()").setup("auto l = []<$T N>() { return N; };").constant().yields().cxx20(),
    UseForm::new("abbreviated-by-value", Scalar, &[Read], "f($V)").before("$H inline auto f(auto a) { return a; }").yields().cxx20(),
    UseForm::new("abbreviated-by-reference", Any, &[Bind], "f($V)").before("$H inline const volatile void *f(const volatile auto &a) { return &a; }").result("const volatile void *").cxx20(),
    UseForm::new("consteval-by-value", Integral, &[Read], "f($V)").before("$H consteval $T f($T a) { return a; }").constant().yields().cxx20(),
    UseForm::new("consteval-by-reference", Integral, &[Bind], "f($V)").before("$H consteval $T f($C &a) { return a; }").constant().cxx20(),
    UseForm::new("range-for-initializer", Scalar, &[Read], "r").setup("int y[2] = {1, 2}; $T r{}; for (auto q = $V; int e : y) { (void)e; r = q; }").yields().cxx20(),
    UseForm::new("class-template-argument", Class, &[Copy], "B<$V>::get()").before("template <P N> struct B { static $H int get() { return N.x; } };").result("int").constant().cxx20(),
    UseForm::new("explicit-specifier", Integral, &[Read], "H(3).v").before("struct H { int v; explicit($V != 0) $H H(int x) : v(x) {} };").result("int").constant().cxx20(),    UseForm::new("member-pointer-applied", MemberPointer, &[Read], "m.*$V").setup("M0 m = {1};").result("int"),
]
};
