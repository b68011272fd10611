//! Shows PTX to one implementation and reports what came out.
