//! Comparison with reference values. A row has three fields with commas between them: a quantity,
//! its inputs and its expected values. Numbers within a field have spaces between them.

/// Compares the result of `evaluate` for each row of `table` with the row's values. The relative
/// error may be at most `tolerance(value)`. Returns the number of rows. The head, empty lines and
/// lines that start with `#` are no rows.
///
/// # Panics
/// Panics if an error is larger, or if a row does not have three fields. The message has the row.
pub fn check(
    table: &str,
    evaluate: impl Fn(&str, &[f64]) -> Vec<f64>,
    tolerance: impl Fn(f64) -> f64,
) -> usize {
    let mut count = 0;
    for line in table.lines() {
        if line.is_empty() || line.starts_with('#') || line.starts_with("quantity,") {
            continue;
        }
        let fields: Vec<&str> = line.split(',').collect();
        let [quantity, inputs, expected] = fields[..] else {
            panic!("expected three fields with commas between them, found {line:?}");
        };
        let expected = numbers(expected);
        let found = evaluate(quantity, &numbers(inputs));
        assert_eq!(found.len(), expected.len(), "{line}");
        for (found, &expected) in found.iter().zip(&expected) {
            let error = (found - expected).abs();
            let most = tolerance(expected) * expected.abs();
            assert!(error <= most, "{line}: {found}");
        }
        count += 1;
    }
    count
}

fn numbers(field: &str) -> Vec<f64> {
    let parse = |text: &str| text.parse().expect("a number");
    field.split_whitespace().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn head_comments_and_empty_lines_are_no_rows() {
        let table = "quantity,inputs,expected\n# twice\n\ntwice,1 2,2 4\n";
        let twice = |_: &str, inputs: &[f64]| inputs.iter().map(|it| 2.0 * it).collect();
        assert_eq!(check(table, twice, |_| 0.0), 1);
    }

    #[test]
    #[should_panic(expected = "expected three fields")]
    fn a_row_of_two_fields_is_not_skipped() {
        check("twice,1", |_, inputs| inputs.to_vec(), |_| 0.0);
    }
}
