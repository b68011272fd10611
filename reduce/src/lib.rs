//! The least PTX program that still answers yes to a question.
