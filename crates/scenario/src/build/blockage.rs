//! Blockages.

use super::*;
use crate::table::KeyValue;

impl Builder<'_, '_> {
    /// `media` has every link and bearer of the file, `links` what could be built of the links.
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
        let direction = Directions::read(fields.item("direction"));
        let schedule = fields
            .fields("schedule")
            .and_then(|schedule| self.schedule(schedule));
        let effect = self.effect(fields);
        let depth = fields.item("depth").and_then(|item| self.depth(item));
        if let (Some(medium), Some(direction), Some(depth)) = (medium, direction, &depth) {
            match medium {
                Medium::Link(link) => {
                    // One that is not there has mistakes of its own.
                    if let Some(link) = &links[link] {
                        self.check_radio(fields, link, direction, depth);
                    }
                }
                Medium::Rab(_) | Medium::RadioBearer(_) => {
                    self.check_bearer(fields, depth);
                }
            }
        }
        Some(Blockage {
            name: name.to_owned(),
            medium: medium?,
            direction: direction?,
            schedule: schedule?,
            effect: effect?,
            depth: depth?,
        })
    }

    /// The link or bearer that `item` names among `media`.
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

    fn effect(&mut self, fields: &Fields) -> Option<BlockageEffect> {
        let limit = match fields.item("hold-limit").map(|item| &item.content) {
            Some(Content::Quantity(Dimension::Packets, packets)) => {
                Some(HoldLimit::Packets(*packets as u64))
            }
            Some(Content::Quantity(_, bytes)) => Some(HoldLimit::Bytes(Bytes(*bytes as u64))),
            _ => None,
        };
        let effect = match fields.text("effect")? {
            "held" => return Some(BlockageEffect::Held { limit }),
            "lost" => BlockageEffect::Lost,
            _ => BlockageEffect::DroppedOnArrival,
        };
        if limit.is_some() {
            let message = "a `hold-limit` without packets that are held";
            self.mistake(
                fields.place_of("hold-limit"),
                message,
                "`effect = \"held\"` with it",
            );
        }
        Some(effect)
    }

    fn depth(&mut self, item: &Item) -> Option<BlockageDepth> {
        let Content::Fields(fields) = &item.content else {
            return Some(BlockageDepth::Total);
        };
        match fields.variant {
            "loss" => fields.decibel("loss").map(BlockageDepth::Loss),
            "rate" => fields.rate("rate").map(BlockageDepth::Rate),
            _ => self
                .blocker(fields.fields("geometry")?)
                .map(BlockageDepth::Geometry),
        }
    }

    fn blocker(&mut self, fields: &Fields) -> Option<Blocker> {
        let item = fields.item("blocker-distance")?;
        let distance = match item.pair() {
            Some((near, far)) => (near.meters()?, far.meters()?),
            None => (item.meters()?, item.meters()?),
        };
        if distance.0 > distance.1 {
            let message = "the nearest distance is beyond the farthest";
            self.mistake(item.place, message, "[nearest, farthest]");
            return None;
        }
        Blocker::read(fields, (distance,))
    }

    fn check_bearer(&mut self, fields: &Fields, depth: &BlockageDepth) {
        if matches!(depth, BlockageDepth::Loss(_) | BlockageDepth::Geometry(_)) {
            let message = "a blockage by loss or geometry of a bearer, which has no link budget";
            let expected = "`depth = \"total\"` or a `rate` that is left";
            self.mistake(fields.place_of("depth"), message, expected);
        }
    }

    /// Loss and geometry act on a link budget, so the blocked directions need one.
    fn check_radio(
        &mut self,
        fields: &Fields,
        link: &Link,
        direction: Directions,
        depth: &BlockageDepth,
    ) {
        let sort = match depth {
            BlockageDepth::Loss(_) => "loss",
            BlockageDepth::Geometry(_) => "geometry",
            BlockageDepth::Total | BlockageDepth::Rate(_) => return,
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
            // A return path of unlimited rate carries only ACKs; it may stay clear.
            if direction == Directions::Both && !radios.is_empty() {
                continue;
            }
            let message = format!(
                "a blockage by {sort} needs a `radio` rate, which `{}` has not in its {side} \
                 direction",
                link.name
            );
            self.mistake(
                place,
                message,
                "a link with `rate = { radio = … }`, or another depth",
            );
        }
        if let BlockageDepth::Geometry(blocker) = depth
            && radios
                .iter()
                .any(|radio| blocker.distance.1.0 >= radio.distance.0)
        {
            let message = "the blocker does not stand between transmitter and receiver";
            self.mistake(
                place,
                message,
                "a blocker nearer to the receiver than the transmitter",
            );
        }
    }
}

impl Item {
    pub(super) fn meters(&self) -> Option<Meters> {
        match self.content {
            Content::Quantity(Dimension::Length, meters) => Some(Meters(meters)),
            _ => None,
        }
    }
}
