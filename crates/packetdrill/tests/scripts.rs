//! Every script in `scripts/` passes; what is wrong or not supported is said, never fatal.

use fadeout_packetdrill::{Outcome, run};
use std::path::Path;

#[test]
fn every_script_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of scripts can be read")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 15, "the scripts are where they should be");
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a script can be read");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let report = run(&text, &name);
        if report.outcome != Outcome::Passed || !report.warnings.is_empty() {
            wrong.push(format!("{} {:?}", report.render(), report.warnings));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
