//! Tests of delays that change over time and of listed losses.

use super::errors::{link_with, only};
use super::*;

#[test]
fn steps_of_a_delay_increase_from_zero() {
    for (steps, expected) in [
        ("[[\"1 s\", \"1 ms\"]]", "6:21: the first step starts late"),
        (
            "[[\"0 s\", \"1 ms\"], [\"0 s\", \"2 ms\"]]",
            "6:38: this step does not start after the one at 0 s",
        ),
        (
            "[[\"0 s\", \"1 Mbit/s\"]]",
            "6:28: expected a time such as \"20 ms\", found \"1 Mbit/s\", which is a rate",
        ),
    ] {
        let text = link_with(&format!("delay = {{ steps = {steps} }}"));
        let first = &refused(&text)[0];
        assert_eq!(
            format!("{}:{}: {}", first.line, first.column, first.message),
            expected
        );
    }
}

#[test]
fn listed_arrivals_increase_from_one() {
    let mistake =
        |arrivals: &str| only(&link_with(&format!("loss = {{ arrivals = {arrivals} }}"))).0;
    assert_eq!(mistake("[3, 3]"), "7:25: 3 comes after 3");
    assert!(mistake("[0]").starts_with("7:22: expected a whole number from 1 to "));
    assert!(mistake("\"missing.txt\"").starts_with("7:21: cannot read the file `"));
    assert!(mistake("4").starts_with("7:21: expected a string or a list"));
}
