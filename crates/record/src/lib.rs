//! Recorder: rows to Parquet and Arrow, packets to pcapng.
