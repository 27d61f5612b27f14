//! Numbers of the standards, read from their data files at compile time. A missing row, or a cell
//! that is no number, is a compile error.

/// Returns the text of a cell in column `column`, counted from 0. Its row begins with `key` and a
/// comma. A key may consist of several cells.
///
/// # Panics
/// Panics if there is no such row or column.
pub const fn cell(table: &'static str, key: &str, column: usize) -> &'static str {
    field(table, next_row(table, key, 0), column)
}

/// Returns the number in a cell, see [`cell`].
///
/// # Panics
/// Panics if there is no such row or column, or if the cell is no decimal number of at most 15
/// digits.
pub const fn number(table: &'static str, key: &str, column: usize) -> f64 {
    parsed(cell(table, key, column))
}

/// Returns the numbers of all rows that begin with `key`, in their order, from column `first` to
/// the last.
///
/// # Panics
/// Panics if there are fewer rows, fewer or more columns, or a cell that is no number.
pub const fn numbers<const COLUMNS: usize, const ROWS: usize>(
    table: &'static str,
    key: &str,
    first: usize,
) -> [[f64; COLUMNS]; ROWS] {
    let mut numbers = [[0.0; COLUMNS]; ROWS];
    let (mut row, mut line) = (0, 0);
    while row < ROWS {
        line = next_row(table, key, line);
        let mut column = 0;
        while column < COLUMNS {
            numbers[row][column] = parsed(field(table, line, first + column));
            column += 1;
        }
        assert!(columns(table, line) == first + COLUMNS, "a long row");
        row += 1;
        line += 1;
    }
    numbers
}

/// Returns the cells of a column in all rows that begin with `key`, in their order.
///
/// # Panics
/// Panics if there are fewer rows, or if one of them lacks the column.
pub const fn cells<const ROWS: usize>(
    table: &'static str,
    key: &str,
    column: usize,
) -> [&'static str; ROWS] {
    let mut cells = [""; ROWS];
    let (mut row, mut line) = (0, 0);
    while row < ROWS {
        line = next_row(table, key, line);
        cells[row] = field(table, line, column);
        row += 1;
        line += 1;
    }
    cells
}

/// Declares functions like [`numbers`] for whole numbers, which must fit into their type.
macro_rules! whole {
    ($($(#[$doc:meta])* $name:ident: $number:ty;)*) => {$(
        $(#[$doc])*
        pub const fn $name<const COLUMNS: usize, const ROWS: usize>(
            table: &'static str,
            key: &str,
            first: usize,
        ) -> [[$number; COLUMNS]; ROWS] {
            let numbers: [[f64; COLUMNS]; ROWS] = numbers(table, key, first);
            let mut whole = [[0; COLUMNS]; ROWS];
            let mut index = 0;
            while index < ROWS * COLUMNS {
                let number = numbers[index / COLUMNS][index % COLUMNS];
                let one = number as $number;
                assert!(one as f64 == number, "a number that does not fit");
                whole[index / COLUMNS][index % COLUMNS] = one;
                index += 1;
            }
            whole
        }
    )*};
}

whole! {
    /// Returns numbers like [`numbers`], for whole numbers below 256.
    bytes: u8;
    /// Returns numbers like [`numbers`], for whole numbers below 2^32.
    words: u32;
    /// Returns numbers like [`numbers`], for whole numbers below 2^64.
    longs: u64;
}

/// Returns the start of the first row at or after `line` that begins with `key`.
const fn next_row(table: &str, key: &str, mut line: usize) -> usize {
    let text = table.as_bytes();
    while line < text.len() {
        if (line == 0 || text[line - 1] == b'\n') && begins(text, line, key.as_bytes()) {
            return line;
        }
        line += 1;
    }
    panic!("the table has no such row")
}

/// Returns the number of columns of the row that begins at `line`.
const fn columns(table: &str, line: usize) -> usize {
    let text = table.as_bytes();
    let (mut columns, mut at) = (1, line);
    while at < text.len() && text[at] != b'\n' {
        columns += (text[at] == b',') as usize;
        at += 1;
    }
    columns
}

/// Returns the number in a cell.
const fn parsed(cell: &str) -> f64 {
    let text = cell.as_bytes();
    assert!(
        !text.is_empty() && text.len() < 16,
        "an empty or a long cell"
    );
    // Digits and scale are exact, so the quotient is the number nearest to the text.
    let (mut digits, mut scale) = (0_u64, 1_u64);
    let (mut index, mut is_fraction) = (0, false);
    while index < text.len() {
        match text[index] {
            b'.' if !is_fraction => is_fraction = true,
            digit @ b'0'..=b'9' => {
                digits = digits * 10 + (digit - b'0') as u64;
                if is_fraction {
                    scale *= 10;
                }
            }
            _ => panic!("the cell is no number"),
        }
        index += 1;
    }
    digits as f64 / scale as f64
}

/// Joins constant texts into one, such as words with cells of a table.
///
/// ```
/// const TABLE: &str = "a,40 ms\n";
/// const DOC: &str = fadeout_core::const_text!("It takes ", fadeout_core::data::cell(TABLE, "a", 1), ".");
/// assert_eq!(DOC, "It takes 40 ms.");
/// ```
#[macro_export]
macro_rules! const_text {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&str] = &[$($part),+];
        const BYTES: [u8; $crate::data::length(PARTS)] = $crate::data::joined(PARTS);
        $crate::data::text(&BYTES)
    }};
}

/// Returns the length of all texts in bytes, for [`const_text!`](crate::const_text!).
pub const fn length(parts: &[&str]) -> usize {
    let (mut length, mut part) = (0, 0);
    while part < parts.len() {
        length += parts[part].len();
        part += 1;
    }
    length
}

/// Returns the bytes of all texts in sequence, for [`const_text!`](crate::const_text!).
pub const fn joined<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut bytes = [0; N];
    let (mut part, mut filled) = (0, 0);
    while part < parts.len() {
        let more = parts[part].as_bytes();
        let mut index = 0;
        while index < more.len() {
            bytes[filled] = more[index];
            filled += 1;
            index += 1;
        }
        part += 1;
    }
    bytes
}

/// Returns bytes as text, for [`const_text!`](crate::const_text!).
///
/// # Panics
/// Panics if the bytes are no text.
pub const fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("parts of texts are text"),
    }
}

/// Returns true if a row begins with `key` and a comma.
const fn begins(text: &[u8], line: usize, key: &[u8]) -> bool {
    let mut index = 0;
    while index < key.len() {
        if line + index >= text.len() || text[line + index] != key[index] {
            return false;
        }
        index += 1;
    }
    line + index < text.len() && text[line + index] == b','
}

/// Returns a cell of the row that begins at `line`.
const fn field(table: &'static str, line: usize, column: usize) -> &'static str {
    let text = table.as_bytes();
    let (mut start, mut before) = (line, column);
    while before > 0 {
        assert!(start < text.len() && text[start] != b'\n', "a short row");
        if text[start] == b',' {
            before -= 1;
        }
        start += 1;
    }
    let mut end = start;
    while end < text.len() && text[end] != b',' && text[end] != b'\n' {
        end += 1;
    }
    table.split_at(end).0.split_at(start).1
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &str =
        "# From a standard.\nkind,key,a,b\nx,0,1,20\ny,0,0.5,2.25\nxy,1,7,8\nx,1,3,4\n";

    #[test]
    fn rows_are_chosen_by_what_they_begin_with() {
        const X: [[u8; 2]; 2] = bytes(LISTS, "x", 2);
        assert_eq!(X, [[1, 20], [3, 4]]);
        assert_eq!(longs(LISTS, "xy,1", 2), [[7, 8]]);
        assert_eq!(numbers(LISTS, "y", 2), [[0.5, 2.25]]);
        assert_eq!(cells(LISTS, "x", 3), ["20", "4"]);
    }

    #[test]
    fn what_is_too_much_or_does_not_fit_is_told() {
        use std::hint::black_box;
        let panics = |read: fn()| std::panic::catch_unwind(read).is_err();
        assert!(
            panics(|| _ = black_box(words::<1, 1>(LISTS, "xy", 2))),
            "a long row"
        );
        assert!(
            panics(|| _ = black_box(words::<3, 1>(LISTS, "xy", 2))),
            "a short row"
        );
        assert!(
            panics(|| _ = black_box(words::<2, 2>(LISTS, "xy", 2))),
            "one row"
        );
        assert!(
            panics(|| _ = black_box(words::<2, 1>(LISTS, "y", 2))),
            "no whole number"
        );
        assert!(
            panics(|| _ = black_box(bytes::<1, 1>("x,256", "x", 1))),
            "no byte"
        );
    }

    const TABLE: &str = "# source\nname,part,x\na,b,7.82\na,bc,0.05\nab,b,120\n";

    #[test]
    fn a_cell_is_that_of_its_row_and_column() {
        assert_eq!(cell(TABLE, "a", 1), "b");
        assert_eq!(cell(TABLE, "ab", 2), "120");
        assert_eq!(cell(TABLE, "a,bc", 2), "0.05");
    }

    #[test]
    fn a_number_is_the_one_that_is_written() {
        assert_eq!(number(TABLE, "a,b", 2), 7.82);
        assert_eq!(number(TABLE, "a,bc", 2), 0.05);
        assert_eq!(number(TABLE, "ab,b", 2), 120.0);
    }

    #[test]
    #[should_panic(expected = "no such row")]
    fn a_row_that_is_missing_is_an_error() {
        number(TABLE, "b", 2);
    }

    #[test]
    #[should_panic(expected = "a short row")]
    fn a_column_that_is_missing_is_an_error() {
        number(TABLE, "a,b", 3);
    }

    #[test]
    #[should_panic(expected = "no number")]
    fn a_word_is_no_number() {
        number(TABLE, "ab", 1);
    }

    #[test]
    fn a_key_is_whole_cells_and_the_last_line_may_lack_its_end() {
        const OPEN: &str = "ab,1\na,2\nc,3";
        assert_eq!(cell(OPEN, "a", 1), "2");
        assert_eq!(cell(OPEN, "c", 1), "3");
        for key in ["d", "c,3", "c,3,4"] {
            let missing = std::panic::catch_unwind(|| cell(OPEN, key, 1));
            let what = missing.expect_err("no such row");
            assert_eq!(what.downcast_ref(), Some(&"the table has no such row"));
        }
    }

    #[test]
    #[should_panic(expected = "no number")]
    fn two_points_are_no_number() {
        number("a,1.2.3\n", "a", 1);
    }
}
