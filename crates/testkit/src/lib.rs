//! Test tools: segment DSL, ideal pipe, oracles, allocation counter.
