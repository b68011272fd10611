//! Verdicts on PTX that is known, and on that of compilers, on machines that have them.

use std::time::Duration;

use ptxsmith_cuda::subjects::{SubjectOptions, open, parse_spec};
use ptxsmith_emit::generate::GlobalGenerator;
use ptxsmith_emit::host::Host;
use ptxsmith_emit::judge::{GlobalVerdict, judge};
use ptxsmith_emit::judged::{GlobalResult, TestedCompiler, Tester as _};
use ptxsmith_emit::source::print::declaration;
use ptxsmith_emit::source::{
    CxxClass, CxxGlobal, CxxLiteral, CxxPointer, CxxType, GlobalSpecifier, Initialization, Member,
    MemorySpace, Scalar,
};
use ptxsmith_emit::witness::read;
use ptxsmith_model::Class as Deviation;
use ptxsmith_subject::{Cancel, toolchain::Toolchains};

/// `struct { const int *; __int128; }`, the second member at 16.
fn padded() -> CxxGlobal {
    let members = vec![
        Member::new(1, CxxType::Pointer(CxxPointer::Object)),
        Member::new(2, CxxType::Scalar(Scalar::Int128, CxxLiteral::Integer(5))),
    ];
    let class = CxxClass::new(0, members);
    CxxGlobal {
        number: 0,
        space: MemorySpace::Device,
        form: GlobalSpecifier::Plain,
        initialization: Initialization::Listed,
        ty: CxxType::Class(class),
    }
}

/// The PTX of that class with this initializer, as nvcc prints it otherwise.
fn ptx(values: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 target = 1;\n\
         .visible .global .align 16 .u64 g0[4] = {{{values}}};\n\
         .visible .global .align 8 .b8 w0[32] = {{32, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16}};\n\
         .visible .entry k0(.param .u64 k0_param_0)\n{{\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [k0_param_0];\n\
         cvta.to.global.u64 %rd2, %rd1;\nld.global.u64 %rd3, [g0];\nst.global.u64 [%rd2], %rd3;\n\
         ld.global.v2.u64 {{%rd4, %rd5}}, [g0+16];\nst.global.v2.u64 [%rd2+16], {{%rd4, %rd5}};\nret;\n}}\n"
    )
}

fn verdict(values: &str) -> GlobalVerdict {
    let told = read(&ptx(values), [0].into_iter());
    judge(&padded(), &told[&0], None)
}

#[test]
fn a_lost_padding_is_contradicted_by_the_kernel_beside_it() {
    let right = verdict("generic(target), 0, 5, 0");
    assert!(right.is_judged && right.difference.is_none(), "{right:?}");
    let lost = verdict("generic(target), 5, 0, 0").difference.unwrap();
    assert_eq!((lost.class, &*lost.place), (Deviation::WrongValue, "g0.m2"));
    assert_eq!(lost.symptom, "the kernel reads another value");
    let elsewhere = verdict("generic(target)+4, 0, 5, 0").difference.unwrap();
    assert_eq!((elsewhere.class, &*elsewhere.actual), (Deviation::WrongAddress, "target+4"));
}

#[test]
fn cicc_prints_most_globals_as_the_host_lays_them_out() {
    let toolchains = Toolchains::for_user().unwrap_or_else(|_| Toolchains::at("/nonexistent"));
    let cancel = Cancel::new();
    let options = SubjectOptions {
        toolchains: &toolchains,
        install: false,
        timeout: Duration::from_secs(60),
        workers: None,
        cancel: &cancel,
        progress: &|_| (),
    };
    let (Ok(compilers), Some(host)) =
        (open(&parse_spec("cicc@13.5").unwrap(), &options), Host::find(&cancel))
    else {
        return eprintln!("NOT TESTED: cicc 13.5, g++ or clang++ is missing");
    };
    let pair = TestedCompiler { compiler: &*compilers[0], host: Some(&host) };
    let generated = (1..100).map(|number| GlobalGenerator::new(1).global(number));
    let globals: Vec<CxxGlobal> = generated.chain([padded()]).collect();
    let judged = pair.judge(&globals.iter().collect::<Vec<_>>(), None).unwrap();
    let is_right = |judged: &&GlobalResult| matches!(judged, GlobalResult::Compared(verdict) if verdict.difference.is_none());
    assert!(judged.values().filter(is_right).count() >= 85, "{judged:#?}");
    assert_eq!(judged[&0].difference().unwrap().class, Deviation::WrongValue, "{}", declaration(&padded()));
}
