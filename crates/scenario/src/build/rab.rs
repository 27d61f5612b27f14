//! Radio access bearers of 2G and 3G.

use super::*;

impl Builder<'_, '_> {
    pub(super) fn rab(&mut self, name: &str, fields: &Fields) -> Option<Rab> {
        let ends = self.ends(name, fields);
        let downlink = self.rab_direction(fields.fields("downlink"));
        let uplink = self.rab_direction(fields.fields("uplink"));
        let (from, to) = ends?;
        Some(Rab {
            name: name.to_owned(),
            from,
            to,
            technology: fields.named("technology")?,
            downlink: downlink?,
            uplink: uplink?,
        })
    }

    fn rab_direction(&mut self, fields: Option<&Fields>) -> Option<RabDirection> {
        let fields = fields?;
        let rate = match fields.item("rate") {
            Some(item) => Some(self.rate(item)?),
            None => None,
        };
        let queue = fields.fields("queue")?;
        let limit = match queue.item("limit") {
            Some(item) => Some(item.queue_limit()?),
            None => None,
        };
        let loss = match fields.fields("loss") {
            Some(loss) => self.loss(loss)?,
            None => Loss::None,
        };
        Some(RabDirection {
            rate,
            limit,
            discipline: queue.named("discipline")?,
            loss,
        })
    }
}
