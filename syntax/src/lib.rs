//! PTX as a tree that keeps every spelling: lexer, parser with spans, printer.
