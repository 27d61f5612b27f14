//! Diffraction over several knife edges in a row.
//!
//! Standard: ITU-R P.526-15 §4.4.2.

use crate::knife_edge::loss;
use fadeout_core::math::log10;
use fadeout_core::{Decibel, Edge};

/// Largest number of edges considered. If there are more, the deepest are used.
const MOST: usize = 16;

/// Distance in metres below which neighbouring edges are treated as one edge, the deepest of them.
/// Such edges belong to vehicles side by side, not one behind the other.
const NEAR_M: f64 = 2.0;

/// Distance of an edge from the first end, and its height above the straight line, metres.
type Height = (f64, f64);

/// Returns the loss by edges on a straight line of `length_m`. The edges must be sorted along the
/// line.
///
/// The main edges are those that a string stretched between the ends would touch. The loss of each
/// main edge is computed relative to its neighbours on the string. Between two neighbours, the
/// highest secondary edge adds its own loss. The last term is the spreading loss between main
/// edges, which is never negative.
///
/// With one edge the result is [`loss`]. The loss changes abruptly where a main edge and a
/// secondary edge exchange their roles, as in the standard.
///
/// If there are more than 16 edges, only the deepest 16 are used. If edges are less than 2 m apart,
/// only the deepest of these edges is used.
pub fn cascaded_loss(edges: &[Edge], length_m: f64, wavelength_m: f64) -> Decibel {
    debug_assert!(
        edges.is_sorted_by(|one, next| one.share <= next.share),
        "edges are out of order"
    );
    debug_assert!(
        edges.iter().all(|edge| (0.0..=1.0).contains(&edge.share)),
        "an edge stands beyond the ends"
    );
    let mut heights = [(0.0, 0.0); MOST + 2];
    let mut count = 1;
    let shallowest = nth_deepest(edges);
    let is_below_near_edge = |edge: &Edge| {
        let near = |other: &&Edge| (other.share - edge.share).abs() * length_m < NEAR_M;
        let deeper = |other: &Edge| other.depth > edge.depth;
        edges.iter().filter(near).any(deeper)
    };
    for edge in edges.iter().filter(|edge| edge.depth >= shallowest) {
        if count <= MOST && !is_below_near_edge(edge) {
            let scale = (2.0 / (length_m * edge.share * (1.0 - edge.share))).sqrt();
            heights[count] = (edge.share * length_m, edge.depth / scale);
            count += 1;
        }
    }
    heights[count] = (length_m, 0.0);
    cascade(&heights[..=count], wavelength_m)
}

/// Returns the smallest depth at which an edge is used.
fn nth_deepest(edges: &[Edge]) -> f64 {
    if edges.len() <= MOST {
        return f64::NEG_INFINITY;
    }
    let mut deepest = [f64::NEG_INFINITY; MOST];
    for edge in edges {
        let place = deepest.partition_point(|&known| known >= edge.depth);
        if place < MOST {
            deepest[place..].rotate_right(1);
            deepest[place] = edge.depth;
        }
    }
    deepest[MOST - 1]
}

/// Returns the loss over `points`, which are the first end, the edges and the last end.
fn cascade(points: &[Height], wavelength_m: f64) -> Decibel {
    let last = points.len() - 1;
    // Indexes of the main edges and of both ends.
    let mut main = [0; MOST + 2];
    let mut count = 1;
    while main[count - 1] != last {
        let from = points[main[count - 1]];
        let slope = |to: Height| (to.1 - from.1) / (to.0 - from.0).max(1e-6);
        let mut next = main[count - 1] + 1;
        for other in next + 1..=last {
            if slope(points[other]) > slope(points[next]) {
                next = other;
            }
        }
        main[count] = next;
        count += 1;
    }
    let main = &main[..count];
    let between = |from: usize, edge: usize, to: usize| {
        let (a, b, c) = (points[from], points[edge], points[to]);
        let (before, after) = ((b.0 - a.0).max(1e-3), (c.0 - b.0).max(1e-3));
        let line = a.1 + (c.1 - a.1) * before / (before + after);
        let v = (b.1 - line) * (2.0 / wavelength_m * (1.0 / before + 1.0 / after)).sqrt();
        loss(v).0
    };
    let mains = main.windows(3);
    let mut sum: f64 = mains
        .map(|three| between(three[0], three[1], three[2]))
        .sum();
    for pair in main.windows(2) {
        let seconds = (pair[0] + 1..pair[1]).map(|edge| between(pair[0], edge, pair[1]));
        sum += seconds.fold(0.0, f64::max);
    }
    let total = sum + spreading_db(points, main);
    debug_assert!(total.is_finite(), "edges take {total} dB");
    Decibel(total)
}

/// Returns the spreading loss between main edges, -10 log10 of the spreading factor. Zero with one
/// edge.
fn spreading_db(points: &[Height], main: &[usize]) -> f64 {
    if main.len() < 4 {
        return 0.0;
    }
    let distance = |index: usize| (points[main[index + 1]].0 - points[main[index]].0).max(1e-3);
    let count = main.len() - 1;
    let total: f64 = (0..count).map(distance).sum();
    // The sum of logarithms cannot overflow, unlike the product of many lengths.
    let upper = log10(total) + (0..count).map(|index| log10(distance(index))).sum::<f64>();
    let pairs = (1..count).map(|index| log10(distance(index - 1) + distance(index)));
    let lower = log10(distance(0)) + log10(distance(count - 1)) + pairs.sum::<f64>();
    10.0 * (lower - upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knife_edge::clear_beyond;
    use fadeout_core::Meters;
    use fadeout_core::math::pow;
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    const MM: f64 = 299_792_458.0 / 28e9;
    const CM: f64 = 299_792_458.0 / 5.9e9;

    /// Returns the loss by edges given as `(distance, height)`, between antennas at the heights
    /// `ends`.
    fn loss_db(ends: (f64, f64), length_m: f64, heights: &[Height], wavelength_m: f64) -> f64 {
        let edges: Vec<Edge> = heights
            .iter()
            .map(|&(at, height)| {
                let share = at / length_m;
                let line = ends.0 + (ends.1 - ends.0) * share;
                let scale = (2.0 / (length_m * share * (1.0 - share))).sqrt();
                let depth = (height - line) * scale;
                Edge { share, depth }
            })
            .collect();
        cascaded_loss(&edges, length_m, wavelength_m).0
    }

    /// Compares losses with the reference values `mke_*` and `ke_rsu_*` of the reference sheet.
    #[test]
    fn losses_are_those_of_the_reference() {
        let flat = [(3.0, 5.0), (7.0, 5.0)];
        let trucks = [(30.0, 3.0), (60.0, 3.0)];
        let car_behind = [(30.0, 3.0), (60.0, 1.6)];
        let roof = [(50.0, 3.0)];
        let both_ends = [(43.5, 3.0), (56.5, 3.0)];
        for (ends, length_m, heights, wavelength_m, expected) in [
            ((5.0, 5.0), 10.0, &flat[..], MM, 12.947_07),
            ((1.6, 1.6), 100.0, &trucks[..], MM, 41.204_67),
            ((1.6, 1.6), 100.0, &trucks[..], CM, 29.549_24),
            ((1.6, 1.6), 100.0, &car_behind[..], MM, 25.251_97),
            ((1.6, 1.6), 100.0, &roof[..], MM, 24.499_72),
            ((1.6, 1.6), 100.0, &both_ends[..], MM, 36.347),
            ((1.6, 1.6), 100.0, &roof[..], CM, 18.006_11),
            ((1.6, 1.6), 100.0, &both_ends[..], CM, 26.659_11),
            ((5.0, 1.5), 30.0, &[(26.0, 3.0)][..], MM, 30.443_19),
            ((5.0, 1.5), 30.0, &[(26.0, 3.0)][..], CM, 23.687_71),
        ] {
            let found = loss_db(ends, length_m, heights, wavelength_m);
            assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
        }
        let veins = loss_db((10.0, 8.0), 7.0, &[(3.0, 9.0)], 299_792_458.0 / 5.89e9);
        assert!((veins - 0.645_429_1).abs() < 1e-5, "{veins}");
    }

    #[test]
    fn what_is_far_below_changes_nothing_and_one_edge_comes_without_a_step() {
        let one = loss_db((5.0, 1.5), 100.0, &[(50.0, 4.0)], MM);
        let with_more = loss_db(
            (5.0, 1.5),
            100.0,
            &[(20.0, 0.5), (50.0, 4.0), (80.0, 0.2)],
            MM,
        );
        assert_eq!(one, with_more);
        let mut before = 0.0;
        for step in 0..4000 {
            let height = 1.0 + f64::from(step) * 0.001;
            let loss = loss_db((2.0, 2.0), 60.0, &[(20.0, height)], MM);
            assert!((loss - before).abs() < 0.1, "{height} m: {before} {loss}");
            before = loss;
        }
        assert!(before > 25.0);
    }

    /// Edges below the line by this clearance do not change the loss. So a caller may leave them
    /// out.
    #[test]
    fn what_the_line_passes_by_more_than_counts_changes_no_bit() {
        let (mut left_out, mut lost) = (0, 0);
        Cases::new(20_000).run(|seed| {
            let mut draw = Stream::new(seed, "test.edges", 0);
            let length_m = draw.uniform_in(5.0, 800.0);
            // The draws give wavelengths of 100 MHz to 100 GHz.
            let wavelength_m = 3.0 * pow(10.0, draw.uniform_in(-3.0, 0.0));
            let clear = clear_beyond(Meters(wavelength_m));
            let mut edges: Vec<Edge> = (0..draw.below(26))
                .map(|_| Edge {
                    share: draw.uniform_in(0.002, 0.998),
                    depth: clear * draw.uniform_in(-8.0, 6.0),
                })
                .collect();
            edges.sort_unstable_by(|one, other| one.share.total_cmp(&other.share));
            let all = cascaded_loss(&edges, length_m, wavelength_m).0;
            let before = edges.len();
            edges.retain(|edge| edge.depth > -clear);
            left_out += before - edges.len();
            lost += usize::from(all > 0.0);
            let some = cascaded_loss(&edges, length_m, wavelength_m).0;
            assert_eq!(all.to_bits(), some.to_bits(), "{all} {some}");
        });
        assert!(left_out > lost && lost > 0, "{left_out} {lost}");
    }

    #[test]
    fn vehicles_side_by_side_are_one_edge_and_a_long_queue_has_its_deepest() {
        let one = loss_db((2.0, 2.0), 100.0, &[(50.0, 3.0)], MM);
        assert_eq!(
            one,
            loss_db((2.0, 2.0), 100.0, &[(50.0, 3.0), (50.5, 2.5)], MM)
        );
        let queue = |number: usize| -> Vec<Height> {
            (1..=number).map(|n| (5.0 * n as f64, 2.1)).collect()
        };
        let long = loss_db((2.0, 2.0), 500.0, &queue(90), MM);
        let sixteen = loss_db((2.0, 2.0), 500.0, &queue(16), MM);
        assert!(long.is_finite() && long > 0.5 * sixteen, "{long} {sixteen}");
    }
}
