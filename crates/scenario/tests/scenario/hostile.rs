//! Tests that hostile input is rejected quickly and without a panic.

use super::*;
use proptest::prelude::*;

#[test]
fn a_text_beyond_the_limit_is_refused_unread() {
    let errors = refused(&" ".repeat(fadeout_scenario::MAX_TEXT + 1));
    assert_eq!(errors[0].message, "the scenario is larger than 4 MiB");
}

#[test]
fn depth_does_not_overflow_the_stack() {
    let deep = 1_000_000;
    refused(&format!("title = {}", "[".repeat(deep)));
    refused(&format!("title = {}", "{ a = ".repeat(deep / 4)));
    refused(&format!("a{} = 1", ".a".repeat(deep)));
    refused(&format!("[a{}]", ".a".repeat(deep)));
    let key = format!("link{}=1", ".a".repeat(deep / 100));
    assert!(read(LINK, &[&key]).is_err());
    assert!(read(LINK, &[&format!("title={}", "[".repeat(60_000))]).is_ok());
}

#[test]
fn a_flood_of_mistakes_is_cut_and_counted() {
    let text: String = (0..50_000)
        .map(|index| format!("unknown-{index} = 1\n"))
        .collect();
    let errors = read(&text, &[]).expect_err("refused");
    assert_eq!(errors.errors.len(), 100);
    assert_eq!(errors.omitted, 50_001 - 100);
    assert!(errors.to_string().ends_with("and 49901 more"));
    refused(&"=\n".repeat(1_000_000));
    refused(&"[[link]]\n".repeat(300_000));
    let unknown: String = (0..40_000)
        .map(|i| format!("[blockage.b{i}]\nlink = \"x{i}\"\nschedule = {{}}\n"))
        .collect();
    refused(&format!("{LINK}{unknown}"));
}

#[test]
fn many_flows_are_one_line_and_too_many_are_refused() {
    let text = format!("{LINK}{FLOW}count = 100000\n");
    assert_eq!(accepted(&text).flows.len(), 100_000);
    let errors = refused(&format!(
        "{text}[flow.more]\nfrom = \"server\"\nto = \"client\"\n"
    ));
    assert_eq!(errors[0].message, "more than 100000 flows");
    assert_eq!(
        refused(&format!("{LINK}{FLOW}count = 100001\n"))[0].line,
        10
    );
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let errors = refused("duration = \"10 s\"\n\"a\\u001b[31m\" = 1\n");
    assert!(!errors[0].render().contains('\u{1b}'));
    let error = read(LINK, &["title.\u{1b}[31m\u{7}=1"]).expect_err("refused");
    assert!(!error.to_string().contains(['\u{1b}', '\u{7}']), "{error}");
}

#[test]
fn a_long_line_is_shown_around_the_mistake() {
    let text = format!("duration = \"10 s\"\ntitle = \"{}\" x", "y".repeat(5000));
    let errors = refused(&text);
    assert!(
        errors[0].snippet.chars().count() < 300,
        "{}",
        errors[0].snippet
    );
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(500).proptest())]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = read(&text, &[&text]);
    }

    #[test]
    fn no_edit_of_a_scenario_makes_the_reader_panic(
        cuts in prop::collection::vec((0.0_f64..1.0, 0_usize..40, "[-a-z0-9\\[\\]{}=\".,# \n]{0,12}"), 1..4),
    ) {
        let mut text: Vec<char> = examples::EVERYTHING.chars().collect();
        for (at, length, insert) in cuts {
            let start = (at * text.len() as f64) as usize;
            let end = (start + length).min(text.len());
            text.splice(start..end, insert.chars());
        }
        let text: String = text.into_iter().collect();
        match read(&text, &[]) {
            Ok(scenario) => {
                let again = read(&fadeout_scenario::toml_from_json(&scenario.to_json()), &[]);
                prop_assert_eq!(again, Ok(scenario));
            }
            Err(errors) => prop_assert!(!errors.errors.is_empty() && !errors.to_string().is_empty()),
        }
    }

    #[test]
    fn no_override_makes_the_reader_panic(
        key in "(flow|link|blockage|probe|seed|x)(\\.[-a-z]{0,8}){0,3}",
        value in "\\PC{0,30}",
    ) {
        let _ = read(examples::EVERYTHING, &[&format!("{key}={value}")]);
    }
}
