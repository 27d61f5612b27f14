//! Comparison with reference values. A row has three fields with commas between them: a quantity,
//! its inputs and its expected values. Numbers within a field have spaces between them.

/// Compares the result of `evaluate` for each row of `table` with the row's values. The relative
/// error may be at most `tolerance(value)`. Returns the number of rows.
///
/// # Panics
/// Panics if an error is larger. The message has the row.
pub fn check(
    table: &str,
    evaluate: impl Fn(&str, &[f64]) -> Vec<f64>,
    tolerance: impl Fn(f64) -> f64,
) -> usize {
    let mut count = 0;
    for line in table.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let [quantity, inputs, expected] = fields[..] else {
            continue;
        };
        if quantity == "quantity" || quantity.starts_with('#') {
            continue;
        }
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
