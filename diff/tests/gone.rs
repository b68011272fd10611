//! Listed deviations that a release no longer shows.

mod common;

use common::{NVIDIA, fake, observe};
use ptxsmith_diff::known::{Known, listed_for};
use ptxsmith_diff::{Maker, gone};
use ptxsmith_oracle::Rules;
use ptxsmith_subject::{Description, FnSubject, Observation, Outcome, Request, Subject};

#[test]
fn a_listed_deviation_that_a_listed_release_does_not_show_is_gone_and_the_edit_is_named() {
    for known in listed_for(NVIDIA) {
        // Everything that is listed, but this.
        let others = listed_for(NVIDIA).filter(|other| other.id != known.id);
        let rules =
            Rules::default().with(|rules| others.filter_map(Known::change).for_each(|change| change(rules)));
        let mended = FnSubject::new("mended", move |request: &Request<'_>| {
            let observation = observe(Maker::default(), &rules, request);
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
        assert!(missed.is_some(), "{} is not missed", known.id);
        let edit = gone::edit(&format!("gone-{}", known.id), &["fake".to_owned()]).unwrap();
        assert!(edit.contains(known.id) && edit.contains("diff/src/known/"), "{edit}");
        let own = known.change().map_or_else(Rules::default, |change| Rules::default().with(change));
        let whole = fake(NVIDIA, own);
        assert_eq!(gone::check(&whole, known, "sm_80").unwrap(), None, "{}", known.id);
    }
}
