use ptxsmith_diff::known::KNOWN;
use ptxsmith_diff::{Class, Difference, Explanation, Header, Trial, TrialBody, TrialVerdict};
use ptxsmith_subject::Observation;

use super::*;

#[test]
fn a_line_of_verdicts_counts_what_a_subject_did_with_a_task() {
    let (trial, header) = (Trial::new(0, TrialBody::Items(Vec::new())), Header::default());
    let entry = |id, verdict| JudgedTrial {
        trial: &trial,
        header: &header,
        judged: TrialVerdict::new(id, verdict, None, Default::default()),
    };
    let deviates = |class, known: Vec<&'static str>| {
        let explanation = (!known.is_empty()).then_some(Explanation { readings: Vec::new(), known });
        Verdict::Deviates(Box::new(Difference {
            class,
            variable: None,
            expected: Default::default(),
            observed: Observation::default(),
            explanation,
            suspected: None,
        }))
    };
    let (one, other) = (KNOWN[0].id, KNOWN[1].id);
    let mut bulk = BulkVerdicts::default();
    (bulk.conform, bulk.unmodelled) = (40, 3);
    bulk.deviate.insert(one, 5);
    let mut entries = vec![
        entry(1, Verdict::Conforms),
        entry(2, Verdict::NotCompared(NotCompared::Unmodelled)),
        entry(3, Verdict::NotCompared(NotCompared::Unsupported)),
        entry(4, deviates(Class::WrongValue, vec![one])),
        entry(5, deviates(Class::WrongValue, vec![one, other])),
    ];
    let new = MOST_NEW as u64 + 2;
    entries.extend((0..new).map(|nth| entry(100 + nth, deviates(Class::Crash, Vec::new()))));
    let line = line(9, "mine", &entries, &bulk);
    assert_eq!((line.task, &*line.subject), (9, "mine"));
    assert_eq!((line.compared, line.conform), (40 + 5 + 3 + new, 41));
    let not_compared = [(NotCompared::Unmodelled, 4), (NotCompared::Unsupported, 1)];
    assert_eq!(line.not_compared, BTreeMap::from(not_compared));
    assert_eq!(line.known, BTreeMap::from([(one.to_owned(), 7), (other.to_owned(), 1)]));
    assert_eq!((line.new.len(), line.more_new), (MOST_NEW, 2));
    assert!(line.new.iter().zip(100..).all(|(new, id)| new.case == id && new.class == Class::Crash));
    // Counts of zero are omitted.
    let empty = super::line(0, "mine", &[], &BulkVerdicts::default());
    assert!(empty.not_compared.is_empty() && empty.known.is_empty() && empty.compared == 0);
}

#[test]
fn hashes_are_short_in_messages_and_other_words_are_whole() {
    let (hash, no_hash) = ("0123456789abcdef".repeat(4), "0123456789abcdeg".repeat(4));
    let text = format!("a@1 {hash}, {no_hash} {} 0123456789 {hash}", &hash[1..]);
    assert_eq!(with_short_hashes(&text), format!("a@1 {hash}, {no_hash} {} 0123456789 01234567", &hash[1..]));
}

#[test]
fn what_was_found_is_saved_now_and_then_and_not_each_time() {
    let (session, out) = (fake::session(), tempfile::tempdir().unwrap());
    let began = Instant::now();
    let out_of = Some(out.path().to_owned());
    let campaign =
        Campaign::new(&session, "run", "cases", Vec::new(), out_of, ExistingCampaign::Refuse).unwrap();
    let is_saved = || out.path().join(ptxsmith_report::folder::REPORT).exists();
    campaign.save_now_and_then().unwrap();
    assert!(!is_saved() || began.elapsed() >= SAVE_EVERY);
    *lock_of(&campaign.store.save_at) = Instant::now();
    campaign.save_now_and_then().unwrap();
    assert!(is_saved() && *lock_of(&campaign.store.save_at) > Instant::now());
}
