//! Two endpoints and a path between them that an adversary owns, watched by an independent model.

pub(crate) mod model;
pub(crate) mod pair;
