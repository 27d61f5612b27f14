//! Bearers of 2G and 3G.

use super::link::loss_model;
use super::*;

impl Builder<'_, '_> {
    pub(super) fn bearer(&mut self, name: &str, fields: &Fields) -> Option<Bearer> {
        let ends = self.ends(name, fields);
        let downlink = self.bearer_direction(fields.fields("downlink"));
        let uplink = self.bearer_direction(fields.fields("uplink"));
        let (from, to) = ends?;
        Some(Bearer {
            name: name.to_owned(),
            from,
            to,
            technology: fields.named("technology")?,
            downlink: downlink?,
            uplink: uplink?,
        })
    }

    fn bearer_direction(&mut self, fields: Option<&Fields>) -> Option<BearerDirection> {
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
            Some(loss) => loss_model(loss)?,
            None => Loss::None,
        };
        Some(BearerDirection {
            rate,
            limit,
            discipline: queue.named("discipline")?,
            loss,
        })
    }
}
