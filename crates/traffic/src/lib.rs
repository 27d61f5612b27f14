//! Applications that drive transport connections.
