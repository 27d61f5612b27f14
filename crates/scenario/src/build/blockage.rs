//! Construction of blockages.

use super::*;

impl Builder<'_, '_> {
    /// Builds a blockage. `media` contains every link and bearer of the file by name. `links`
    /// contains the links without mistakes. `None` if the blockage has a mistake.
    pub(super) fn blockage(
        &mut self,
        name: &str,
        fields: &Fields,
        media: &BTreeMap<&str, Medium>,
        links: &[Option<Link>],
    ) -> Option<Blockage> {
        let medium = fields
            .item("link")
            .and_then(|item| self.medium(item, media));
        let own = medium.map(|medium| (name.to_owned(), medium));
        let blockage = Blockage::read(fields, own, self)?;
        let mistakes = &mut self.reader.mistakes;
        match blockage.medium {
            Medium::Link(link) => {
                // A mistake in the link itself has been reported already.
                if let Some(link) = &links[link] {
                    check_radio(mistakes, fields, link, blockage.direction, &blockage.depth);
                }
            }
            Medium::Rab(_) | Medium::RadioBearer(_) => {
                check_bearer(mistakes, fields, &blockage.depth);
            }
        }
        Some(blockage)
    }

    /// Returns the link or bearer among `media` that `item` names. `None` after a mistake.
    pub(super) fn medium(&mut self, item: &Item, media: &BTreeMap<&str, Medium>) -> Option<Medium> {
        let Content::Text(name) = &item.content else {
            return None;
        };
        let medium = media.get(name.as_str()).copied();
        if medium.is_none() {
            let mistakes = &mut self.reader.mistakes;
            refer_to_nothing(mistakes, item, "link", media.keys().copied());
        }
        medium
    }
}

fn check_bearer(mistakes: &mut Mistakes, fields: &Fields, depth: &BlockageDepth) {
    if matches!(
        depth,
        BlockageDepth::Loss { .. } | BlockageDepth::Geometry { .. }
    ) {
        let message = "a blockage by loss or geometry of a radio access bearer, which has no link \
            budget";
        let expected = "`depth = \"total\"`, or a `rate`";
        mistakes.add(fields.place_of("depth"), message, expected);
    }
}

/// Checks that the blocked directions have a link budget. Loss and geometry change only a link
/// budget.
fn check_radio(
    mistakes: &mut Mistakes,
    fields: &Fields,
    link: &Link,
    direction: Directions,
    depth: &BlockageDepth,
) {
    let sort = match depth {
        BlockageDepth::Loss { .. } => "loss",
        BlockageDepth::Geometry { .. } => "geometry",
        BlockageDepth::Total | BlockageDepth::Rate { .. } => return,
    };
    let sides = [
        (direction.has_forward(), "forward", &link.forward),
        (direction.has_reverse(), "reverse", &link.reverse),
    ];
    let place = fields.place_of("depth");
    let radios: Vec<&Radio> = sides
        .iter()
        .filter(|(is_blocked, ..)| *is_blocked)
        .filter_map(|(_, _, side)| side.rate.radio())
        .collect();
    for (_, side, _) in sides
        .iter()
        .filter(|side| side.0 && side.2.rate.radio().is_none())
    {
        // A return direction of unlimited rate carries only ACKs, so it may stay without blockage.
        if direction == Directions::Both && !radios.is_empty() {
            continue;
        }
        let message = format!(
            "a blockage by {sort} needs a `radio` rate, which `{}` lacks in its {side} direction",
            link.name
        );
        mistakes.add(
            place,
            message,
            "a link with `rate = { radio = … }`, or another depth",
        );
    }
    if let BlockageDepth::Geometry { geometry } = depth
        && radios
            .iter()
            .any(|radio| geometry.distance.far >= radio.distance)
    {
        let message = "the blocker is not between transmitter and receiver";
        mistakes.add(
            place,
            message,
            "a blocker that is nearer to the receiver than the transmitter",
        );
    }
}
