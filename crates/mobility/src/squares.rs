//! Spatial index of objects near a straight line, in squares of the ground.

use fadeout_core::Point;

/// Largest number of squares along an axis. In a larger area the squares become larger.
const MOST_ALONG: usize = 512;

/// Extent of an object. The first pair is its middle. The second is the largest distance of any
/// part from the middle along x and y, in metres.
pub(crate) type Extent = ((f64, f64), (f64, f64));

/// Squares of the ground, with the indexes of the objects in each square.
#[derive(Debug, Clone, Default)]
pub(crate) struct Squares {
    low: (f64, f64),
    side: f64,
    columns: usize,
    rows: usize,
    /// Position in `inside` at which each square's objects start, and the end of the last square's
    /// objects.
    begins: Vec<u32>,
    inside: Vec<u32>,
    /// For each object, the number of the last line that found it. Then the number of the current
    /// line.
    found_for: (Vec<u64>, u64),
}

impl Squares {
    /// Builds the index of `count` objects. `extent` returns the extent of an object. The side of a
    /// square is at least `least_side` metres.
    pub(crate) fn lay_out(
        &mut self,
        (count, least_side): (usize, f64),
        extent: impl Fn(usize) -> Extent,
    ) {
        self.found_for.0.resize(count, 0);
        self.inside.clear();
        // Capacity is reserved, so that allocations during a run are rare.
        self.inside.reserve(4 * count);
        if count == 0 {
            (self.columns, self.rows) = (0, 0);
            return;
        }
        let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
        for ((x, y), reach) in (0..count).map(&extent) {
            low = (low.0.min(x - reach.0), low.1.min(y - reach.1));
            high = (high.0.max(x + reach.0), high.1.max(y + reach.1));
        }
        let longest = (high.0 - low.0).max(high.1 - low.1);
        self.side = least_side.max(longest / MOST_ALONG as f64);
        self.low = low;
        let along = |from: f64, to: f64| ((to - from) / self.side).floor() as usize + 1;
        (self.columns, self.rows) = (along(low.0, high.0), along(low.1, high.1));
        self.fill(count, extent);
    }

    fn fill(&mut self, count: usize, extent: impl Fn(usize) -> Extent) {
        let squares = self.columns * self.rows;
        self.begins.clear();
        self.begins.resize(squares + 1, 0);
        for number in 0..count {
            for square in self.squares(extent(number)) {
                self.begins[square + 1] += 1;
            }
        }
        for square in 0..squares {
            self.begins[square + 1] += self.begins[square];
        }
        let total = self.begins[squares] as usize;
        self.inside.clear();
        self.inside.resize(total, 0);
        // `begins` serves as the write position in each square, and is restored afterwards.
        for number in 0..count {
            for square in self.squares(extent(number)) {
                self.inside[self.begins[square] as usize] = number as u32;
                self.begins[square] += 1;
            }
        }
        for square in (1..=squares).rev() {
            self.begins[square] = self.begins[square - 1];
        }
        self.begins[0] = 0;
    }

    fn column(&self, x: f64) -> usize {
        (((x - self.low.0) / self.side).max(0.0) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f64) -> usize {
        (((y - self.low.1) / self.side).max(0.0) as usize).min(self.rows - 1)
    }

    fn squares(&self, ((x, y), reach): Extent) -> impl Iterator<Item = usize> + use<> {
        let columns = self.column(x - reach.0)..=self.column(x + reach.0);
        let rows = self.row(y - reach.1)..=self.row(y + reach.1);
        let all = self.columns;
        rows.flat_map(move |row| columns.clone().map(move |column| row * all + column))
    }

    /// Calls `visit` once for each object that may be within `margin` metres of a straight line on
    /// the ground. May call it for other objects as well.
    pub(crate) fn along(
        &mut self,
        (from, to): (Point, Point),
        margin: f64,
        mut visit: impl FnMut(usize),
    ) {
        if self.columns == 0 {
            return;
        }
        self.found_for.1 += 1;
        let line = self.found_for.1;
        let (first, last) = if from.x <= to.x {
            (from, to)
        } else {
            (to, from)
        };
        let far_east = self.low.0 + self.side * self.columns as f64;
        let far_north = self.low.1 + self.side * self.rows as f64;
        if last.x + margin < self.low.0 || first.x - margin > far_east {
            return;
        }
        let slope = match last.x - first.x {
            width if width > 1e-9 => Some((last.y - first.y) / width),
            _ => None,
        };
        for column in self.column(first.x - margin)..=self.column(last.x + margin) {
            let west = self.low.0 + self.side * column as f64;
            // Part of the line within this column of squares, extended by the margin.
            let (y0, y1) = match slope {
                None => (first.y, last.y),
                Some(slope) => {
                    let y_at = |x: f64| first.y + slope * (x.clamp(first.x, last.x) - first.x);
                    (y_at(west - margin), y_at(west + self.side + margin))
                }
            };
            let (south, north) = (y0.min(y1) - margin, y0.max(y1) + margin);
            if north < self.low.1 || south > far_north {
                continue;
            }
            for row in self.row(south)..=self.row(north) {
                let square = row * self.columns + column;
                let (begin, end) = (self.begins[square], self.begins[square + 1]);
                for &number in &self.inside[begin as usize..end as usize] {
                    let found_for = &mut self.found_for.0[number as usize];
                    // An object that extends over several squares is visited only once.
                    if std::mem::replace(found_for, line) != line {
                        visit(number as usize);
                    }
                }
            }
        }
    }
}
