//! libFuzzer targets over ptxsmith's libraries.
