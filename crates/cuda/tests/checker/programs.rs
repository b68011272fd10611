//! Regression tests of the checker: programs that it once misjudged, with the exact places and variables to
//! report.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use ptxsmith_cuda::check::{CheckOptions, FileReport, ReportFilter, check, find_clang};
use ptxsmith_cuda::reading::{RuleInterpretations, RuleQuestion};

/// A program and the expected reports (line, column and variable), derived by hand from the rule's text.
struct Program {
    name: &'static str,
    source: &'static str,
    reported: &'static [(u32, u32, &'static str)],
    /// Whether the checker must report some code of the program as undecided.
    is_undecided: bool,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "what nvcc declares without an #include: assertions, and arithmetic in each direction of rounding",
        source: "\
const float k = 4;
__global__ void f(float *o, double *d) {
  assert(o);
  *o = __frcp_rd(k) + __fsqrt_rd(o[1]) + nanf(\"\");
  *d = __fma_ru(d[0], d[1], d[2]) + __dsqrt_rz(d[3]) + nan(\"\") + *&k;
}
",
        reported: &[(5, 68, "k")],
        is_undecided: false,
    },
    Program {
        name: "a template names a member of a class that is declared behind it, and each instance has it before",
        source: "\
template <class T> __device__ int load(int *p) {
  if constexpr (!T::even) return p[T::late]; else return T().size + p[*&T::late];
}
template <bool even_> struct Traits { static constexpr bool even = even_; static constexpr int late = 2, size = 3; };
template <class T> __global__ void f(int *o) { o[0] = load<T>(o); }
void launch(int *o) { f<Traits<true>><<<1, 1>>>(o); f<Traits<false>><<<1, 1>>>(o); }
",
        reported: &[(2, 73, "late")],
        is_undecided: false,
    },
    Program {
        name: "inline assembly may name a register with one percent sign, and host code what is of the device elsewhere",
        source: "\
const int k = 4;
__global__ void f(unsigned *o) {
  asm volatile(\"mov.u32 %0, %smid; \" \"add.u32 %0, %0, %laneid;\" : \"+r\"(o[0]) : \"r\"(*&k));
  asm(\"{ .reg .b32 t%=; add.u32 t%=, %1, %[x]; mov.b32 %0, t%=; }\" : \"=r\"(o[1]) : \"r\"(k), [x] \"r\"(k));
}
int main(int count, char **) { unsigned n = count; if (count > 9) __trap(); return max(1, count) + min(n, 32u); }
",
        reported: &[(3, 86, "k")],
        is_undecided: false,
    },
    Program {
        name: "the stand-in runtime has whole families: conversions, halves, bytes of words, levels of textures, graphs, pools",
        source: "\
#include <cuda_bf16.h>
const int k = 4;
__global__ void f(int *p, half2 *h, __nv_bfloat16 *b, cudaTextureObject_t t, double *d) {
  p[0] = __ll2float_ru(p[1]) + __double2uint_rd(d[0]) + __vabsdiffs2(p[1], k) + __vcmpgeu4(p[1], p[2]) + __vimax3_s16x2_relu(p[1], p[2], p[3]);
  p[1] = __hadd(p[1], k) + __funnelshift_lc(p[1], p[2], k) + tex2DLayeredLod<float4>(t, 0, 0, 1, 0.f).x + texCubemapLod<int>(t, 0, 0, 0, k);
  h[0] = __hfma2_sat(h[1], h[2], __hgeu2(h[1], h[2])); h[1] = h2exp10(__lows2half2(h[0], h[1]));
  b[0] = __float2bfloat16_rz(__bfloat162float(b[1])); if (__hbltu2(h[0], h[1])) b[1] = hrint(__high2bfloat16(__bfloat162bfloat162(b[2])));
  d[0] = norm3d(d[0], d[1], k) + jn(2, d[1]) + remquo(d[1], d[2], p) + __half2int_rd(h[0].x);
  const int &r = k;
}
int main() {
  cudaMemPoolProps properties = {}; properties.allocType = cudaMemAllocationTypePinned; properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool; cudaMemPoolCreate(&pool, &properties);
  cudaKernelNodeParams node = {}; node.gridDim = dim3(1); cudaGraph_t graph; cudaGraphNode_t one;
  cudaGraphCreate(&graph, 0); cudaGraphAddKernelNode(&one, graph, nullptr, 0, &node); return cudaGraphUpload(nullptr, 0);
}
",
        reported: &[(9, 18, "k")],
        is_undecided: false,
    },
    Program {
        name: "device code uses what the runtime's header brings of the C++ library, and what throws elsewhere",
        source: "\
#include <array>
const int k = 4;
struct S { int a; __device__ S(int a) : a(a) {} };
__global__ void f(int *p, float x) {
  new (p) S(k);
  S *s = new S(std::move(k));
  for (int i : {k, 2}) *p += i + s->a;
  const std::array<int, 2> a{1, 2};
  *p += a.at(1) + __isnanf(x) + __isinff(x);
  delete s;
}
",
        reported: &[(6, 26, "k")],
        is_undecided: false,
    },
    Program {
        name: "a member that is defined outside of its class template uses what stands before its definition",
        source: "\
template <class T> struct S { __device__ int m(); template <class U> __device__ int n(U u); };
const int k = 7;
extern const int late;
template <class T> __device__ int S<T>::m() { return k + late; }
template <class T> template <class U> __device__ int S<T>::n(U u) { return k + u; }
__global__ void f(int *o) { *o = S<int>().m() + S<int>().n(1); }
const int late = 8;
",
        reported: &[(4, 58, "late")],
        is_undecided: false,
    },
    Program {
        name: "a constant whose type is deduced is judged in the instances of its template",
        source: "\
template <int N> struct Tile { int a[N]; };
struct S { static constexpr int n = 4; };
struct E { enum K { one }; static constexpr K n = one; };
template <class T> struct Ref {
  static constexpr auto n = T::n;
  __device__ int f() { Tile<n> t; int a[n + 1]; return sizeof t + sizeof a; }
  __device__ int g(Tile<n> const &t) { return t.a[0]; }
  template <class K> __device__ int h(Tile<n> const &t, K k) { return t.a[0] + k; }
};
template <class T> struct Ref2 {
  static constexpr auto n = T::n;
  __device__ int f() { int a[n + 1]; return sizeof a; }
};
template <class T> struct Ref3 {
  static constexpr auto n = T::n;
  __device__ int f() { int a[n]; return sizeof a; }
};
__global__ void k(int *o) { Ref<S> r; Tile<4> t; o[0] = r.f() + r.g(t) + r.h(t, 1) + Ref2<E>().f() + Ref3<S>().f(); }
",
        reported: &[(12, 30, "n")],
        is_undecided: false,
    },
    Program {
        name: "an index is read, in templates too, and only what binds a reference is reported",
        source: "\
const int k = 32;
template <class T> struct V { T *p; __device__ T &operator[](int i) { return p[i]; } };
template <class T> __device__ void a1(T *s) { s[k] = 1; s[k + 1] = s[k]; T &r = s[k]; T *p = &s[k]; *p = r; }
template <class T> __device__ T a6(T x) { const T &y = k; return y; }
template <class T> __device__ void a10(V<T> v) { v[k] = 1; auto &r = v[k]; T *p = &v[k]; r = *p; }
template <int N> __device__ int a16(int (*s)[N]) { int *p = &s[k][N]; int &q = s[k][0]; return *p + q; }
template <class T> __device__ T *a21(T *o) { return o ? &o[k] : nullptr; }
",
        reported: &[(4, 56, "k")],
        is_undecided: true,
    },
    Program {
        name: "overload resolution chooses the template that an argument is for",
        source: "\
const int c1 = 3;
template <int V> __device__ int ti() { return V; }
template <const int &V> __device__ int tr() { return V; }
template <int V> __device__ int t(int) { return V; }
template <const int &V> __device__ int t(float *) { return V; }
template <int V> struct B { int a; };
template <const int &V> struct R { int a; };
__global__ void f2(int *o) { o[0] = ti<c1>(); B<c1> b; o[1] = t<c1>(0) + sizeof b; }
__global__ void f5(int *o) { o[0] = tr<c1>(); }
__global__ void f6(int *o) { R<c1> r; o[0] = sizeof r; }
__global__ void f7(int *o, float *p) { o[0] = t<c1>(p); }
",
        reported: &[(9, 40, "c1"), (10, 32, "c1"), (11, 49, "c1")],
        is_undecided: false,
    },
    Program {
        name: "a macro brings the element of an array that is a bound",
        source: "\
constexpr int arr[3] = {1, 2, 3};
#define MBAD arr[1]
__global__ void x3(int *o) { int a[MBAD]; o[0] = sizeof a; }
",
        reported: &[(3, 36, "arr")],
        is_undecided: false,
    },
    Program {
        name: "comments are no code",
        source: "\
constexpr int arr[3] = {1, 2, 3};
__global__ void x11(int *o) { int a[/* sizeof( */ arr[0]]; o[0] = sizeof a; }
__global__ void x12(int *o) { int a[/* see sizeof(T) */ arr[0]]; o[0] = sizeof a; }
__global__ void x13(int *o) {
  int a[// sizeof( the tile
    arr[0]]; o[0] = sizeof a; }
",
        reported: &[(2, 51, "arr"), (3, 57, "arr"), (6, 5, "arr")],
        is_undecided: false,
    },
    Program {
        name: "a macro declares a constant",
        source: "\
struct P { int a; };
#define DECLS(n) constexpr P n{1}
DECLS(ms);
template <int N> struct Box { int a[N]; };
__global__ void v1(int *o) { int a[ms.a]; Box<ms.a> b; o[0] = sizeof a + sizeof b; }
__global__ void v2(int *o) { o[0] = ms.a; }
",
        reported: &[(5, 36, "ms"), (5, 47, "ms"), (6, 37, "ms")],
        is_undecided: false,
    },
    Program {
        name: "a line directive changes no place",
        source: "\
constexpr int arr[3] = {1, 2, 3};
#line 700
__global__ void y(int *o) { int a[arr[1]]; o[0] = sizeof a + arr[2]; }
#line 10 \"grammar.y\"
__global__ void z(int *o) { o[0] = arr[2]; }
",
        reported: &[(3, 35, "arr"), (3, 62, "arr"), (5, 36, "arr")],
        is_undecided: false,
    },
];

fn reported(report: &FileReport) -> Vec<(u32, u32, &str)> {
    report.findings.iter().map(|found| (found.line, found.column, &found.variable[..])).collect()
}

/// Writes a header that is long enough to be compiled beforehand, and returns the flags that include it first.
fn include_long_header(directory: &Path) -> Vec<OsString> {
    let long = directory.join("long");
    fs::create_dir(&long).unwrap();
    let functions = (0..8_000).map(|n| format!("inline int long_{n}(int x) {{ return x + {n}; }}\n"));
    fs::write(long.join("long.h"), functions.collect::<String>()).unwrap();
    vec!["-isystem".into(), long.into_os_string(), "-include".into(), "long.h".into()]
}

#[test]
fn programs_are_judged_as_the_text_says_also_behind_headers_that_are_compiled_beforehand() {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the checker on programs: clang is not in PATH");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let long = include_long_header(directory.path());
    for (program, flags) in PROGRAMS.iter().flat_map(|program| [(program, &[][..]), (program, &long)]) {
        let path = directory.path().join("program.cu");
        fs::write(&path, program.source).unwrap();
        let options = CheckOptions { flags: flags.to_vec(), ..CheckOptions::new(clang.clone()) };
        let report = check(&path, &options).unwrap();
        assert_eq!(reported(&report), program.reported, "{}", program.name);
        assert_eq!(
            !report.not_analysed.is_empty(),
            program.is_undecided,
            "{}: {:?}",
            program.name,
            report.not_analysed
        );
    }
}

/// Of the lines with violations, nvcc 13.5 rejects those in `refused` and accepts the others (2026-11-27).
#[test]
fn uses_that_nvcc_accepts_against_the_letter_are_marked() {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the severity of what the checker finds: clang is not in PATH");
        return;
    };
    let source = "\
enum Op { A, Bq };
enum class Oc { x, y };
const Op plain = Bq;
const Oc pc = Oc::y;
constexpr unsigned start[4] = {0, 96, 320, 672};
struct P { int a; int b[2]; };
constexpr P pp{1, {2, 3}};
const int *const ptr = nullptr;
template <int N> struct Box { int a[N]; };
__global__ void a0(unsigned *o, int i) { o[0] = start[3]; }
__global__ void a1(unsigned *o, int i) { o[0] = start[i]; }
__global__ void a2(unsigned *o, int i) { o[0] = i ? plain : A; }
__global__ void a3(unsigned *o, int i) { o[0] = pc == Oc::x; }
__global__ void a4(unsigned *o, int i) { o[0] = pp.a; }
__global__ void a5(unsigned *o, int i) { o[0] = pp.b[1]; }
__global__ void a6(unsigned *o, int i) { int a[start[1]]; o[0] = sizeof a; }
__global__ void a7(unsigned *o, int i) { constexpr unsigned c = start[1]; o[0] = c; }
__global__ void a8(unsigned *o, int i) { o[0] = ptr == nullptr; }
__global__ void a9(unsigned *o, int i) { P q = pp; o[0] = q.a; }
__global__ void b0(unsigned *o, int i) { for (unsigned s : start) o[0] += s; }
__global__ void b1(unsigned *o, int i) { switch (i) { case start[1]: o[0] = 2; } }
__global__ void b2(unsigned *o, int i) { Box<pp.a> b; o[0] = sizeof b; }
";
    let (all, refused): (Vec<u32>, [u32; 4]) = ((10..=22).collect(), [10, 11, 15, 20]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.cu");
    fs::write(&path, source).unwrap();
    let report = check(&path, &CheckOptions::new(clang.clone())).unwrap();
    let lines: Vec<u32> = report.findings.iter().map(|found| found.line).collect();
    assert_eq!((lines, &report.not_analysed[..]), (all, &[][..]));
    let kept: Vec<u32> =
        report.findings.iter().filter(|found| !found.is_accepted).map(|found| found.line).collect();
    assert_eq!(kept, refused);
    let mut options = CheckOptions::new(clang);
    options.interpretations = options.interpretations.with(RuleQuestion::Enumeration);
    let report = check(&path, &options).unwrap();
    assert!(!report.findings.iter().any(|found| [12, 13].contains(&found.line)));
    options.interpretations = RuleInterpretations::default().with(RuleQuestion::ConstexprVariable);
    let report = check(&path, &options).unwrap();
    assert_eq!(report.findings.iter().map(|found| found.line).collect::<Vec<_>>(), [12, 13, 18]);
}

#[test]
fn constants_of_system_headers_are_known_and_the_code_there_is_not_examined() {
    judge_constants_of_system_headers(|_| Vec::new());
    judge_constants_of_system_headers(include_long_header);
}

/// Judges uses of constants of a system header, with the flags that `before` returns for a directory.
fn judge_constants_of_system_headers(before: impl Fn(&Path) -> Vec<OsString>) {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the checker with a system header: clang is not in PATH");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let before = before(directory.path());
    let sys = directory.path().join("sys");
    fs::create_dir(&sys).unwrap();
    let header = "\
#pragma once
namespace lib { const int kLimit = 3; extern const int kLate; struct Cfg { int n; }; constexpr Cfg cfg{4}; constexpr double pi = 3.14; }
__device__ inline const int *own() { return &lib::kLimit; }
";
    let source = "\
#include \"lib.h\"
template <class T> __device__ const T &mx(const T &a, const T &b) { return a < b ? b : a; }
__global__ void f(int *o) { o[0] = mx(o[0], lib::kLimit); }
__global__ void g(int *o) { const int *p = &lib::kLimit; o[0] = *p + int(lib::pi); }
__global__ void h(int *o) { o[0] = lib::kLate; }
__global__ void i(int *o) { o[0] = lib::cfg.n; }
";
    let path = directory.path().join("use.cu");
    fs::write(&path, source).unwrap();
    fs::write(sys.join("lib.h"), header).unwrap();
    let in_source = [(3, 45, "kLimit"), (4, 45, "kLimit"), (5, 36, "kLate"), (6, 36, "cfg")];
    let checked = |filter: ReportFilter| {
        let mut options = CheckOptions::new(clang.clone());
        options.flags = [&before[..], &["-isystem".into(), sys.clone().into_os_string()]].concat();
        options.filter = filter;
        check(Path::new(&path), &options).unwrap()
    };
    assert_eq!(reported(&checked(ReportFilter::Project)), in_source);
    let all = checked(ReportFilter::matching("lib.h").unwrap());
    assert_eq!(reported(&all), [&[(3, 46, "kLimit")], &in_source[..]].concat());
}
