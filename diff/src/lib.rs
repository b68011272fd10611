//! Compares expectation and observation: batches, verdicts, triage.
