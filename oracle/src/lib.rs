//! What the PTX specification alone says a program holds, clause by clause.
