//! Bytes to PTX programs worth trying, driven by one grammar table.
