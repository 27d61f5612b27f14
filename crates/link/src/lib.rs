//! Links that queue, lose, delay and fade, sans-IO.
