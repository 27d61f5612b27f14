//! Reference values: rows of a quantity, its inputs and its values, numbers apart by spaces.

/// Compares what `evaluate` finds for each row of `table` with the row's values, within
/// `tolerance(value)` of each, relative to it. Returns the number of rows.
///
/// # Panics
/// When a value is further away, with the row.
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
