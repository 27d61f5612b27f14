//! The World: builds the layers from a scenario and routes events between them.
