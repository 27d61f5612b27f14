//! Python bindings of fadeout.
