//! Listed deviations that a release no longer shows.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptxsmith_diff::known::{KnownDeviation, listed_for};
use ptxsmith_diff::{Header, Implementation, gone};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Description, FnSubject, Observation, Outcome, Request, Subject};
use ptxsmith_syntax::{Module, parse};
use ptxsmith_testing::{NVIDIA, fake, observe, showing_code};

#[test]
fn a_listed_deviation_that_a_listed_release_does_not_show_is_gone_and_the_edit_is_named() {
    for known in listed_for(NVIDIA) {
        // Everything that is listed, but this.
        let others = listed_for(NVIDIA).filter(|other| other.id != known.id);
        let rules = Rules::default()
            .with(|rules| others.filter_map(KnownDeviation::change).for_each(|change| change(rules)));
        let mended = FnSubject::new("mended", move |request: &Request<'_>| {
            let observation = observe(Implementation::default(), &rules, request);
            // It takes what there is no rule for.
            match observation.outcome {
                Outcome::Unsupported => Observation::new(Outcome::Accepted),
                _ => observation,
            }
        });
        let description = Description {
            lineage: NVIDIA.lineage.map(str::to_owned),
            version: NVIDIA.version.map(str::to_owned),
            ..mended.description().clone()
        };
        let mended = mended.described(description);
        let missed = gone::check(&mended, known, "sm_80").expect("nothing of ours fails");
        // One that shows no code shows nothing of what kernels compute.
        if known.id.starts_with("arithmetic-wrong-value") {
            assert_eq!(missed, None, "{}", known.id);
            continue;
        }
        assert!(missed.is_some(), "{} is not missed", known.id);
        assert!(together(&mended, &[known]).is_empty(), "{} is not missed beside others", known.id);
        let edit = gone::edit(known.id, &["fake".to_owned()]).unwrap();
        assert!(edit.contains(known.id) && edit.contains("corpus/deviations/"), "{edit}");
        let own = known.change().map_or_else(Rules::default, |change| Rules::default().with(change));
        let whole = fake(NVIDIA, own);
        assert_eq!(gone::check(&whole, known, "sm_80").unwrap(), None, "{}", known.id);
    }
}

fn together(subject: &dyn Subject, listed: &[&'static KnownDeviation]) -> BTreeSet<&'static str> {
    gone::shown_together(subject, listed, |_| "sm_80".to_owned()).expect("nothing of ours fails")
}

#[test]
fn what_kernels_show_of_several_listed_deviations_costs_one_module() {
    let listed: Vec<&'static KnownDeviation> = listed_for(NVIDIA).collect();
    let rules = Rules::default()
        .with(|rules| listed.iter().filter_map(|known| known.change()).for_each(|change| change(rules)));
    let modules = AtomicUsize::new(0);
    let headers = Mutex::new(BTreeSet::new());
    let whole = FnSubject::new("whole", |request: &Request<'_>| {
        modules.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.target, "sm_120");
        headers
            .lock()
            .unwrap()
            .insert(Header::of_module(&parse(request.ptx).expect("modules that are shown parse")));
        observe(Implementation::default(), &rules, request)
    });
    let description = Description {
        lineage: NVIDIA.lineage.map(str::to_owned),
        version: NVIDIA.version.map(str::to_owned),
        ..whole.description().clone()
    };
    let shown = gone::shown_together(&whole.described(description), &listed, |_| "sm_120".to_owned());
    let shown = shown.expect("nothing of ours fails");
    assert!(
        shown.contains("negative-index-unsigned") && shown.contains("wide-predicate-in-comparison"),
        "{shown:?}"
    );
    let modules = modules.into_inner();
    let headers = headers.into_inner().unwrap();
    assert_eq!(modules, headers.len(), "of {} deviations", shown.len());
    // Each is shown under the header of its own reproducer.
    let of_shown = listed.iter().filter(|known| shown.contains(known.id));
    let of_shown = of_shown.map(|known| Header::of_module(&parse(known.example).unwrap()));
    assert!(headers.is_superset(&of_shown.collect()), "{headers:?}");
}

#[test]
fn wrong_code_of_several_listed_deviations_shows_in_shared_modules() {
    let Some(subject) = showing_code("ptxas@13.5") else { return };
    let implementation = Implementation::from_description(subject.description());
    let is_of_code = |known: &&KnownDeviation| known.id.starts_with("arithmetic-wrong-value");
    let listed: Vec<&'static KnownDeviation> = listed_for(implementation).filter(is_of_code).collect();
    let target = |module: &Module| module.targets().next().expect("a reproducer has a target").to_owned();
    let shown = gone::shown_together(&*subject, &listed, target).expect("nothing of ours fails");
    let missing: Vec<&str> = listed.iter().map(|known| known.id).filter(|id| !shown.contains(id)).collect();
    assert!(shown.len() >= 15 && missing.is_empty(), "{missing:?}");
}
