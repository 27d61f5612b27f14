//! Bearers of 2G and 3G.

use super::*;

impl Builder<'_, '_> {
    pub(super) fn plain_bearer(&mut self, name: &str, fields: &Fields) -> Option<PlainBearer> {
        let ends = self.ends(name, fields);
        let downlink = self.plain_bearer_direction(fields.fields("downlink"));
        let uplink = self.plain_bearer_direction(fields.fields("uplink"));
        let (from, to) = ends?;
        Some(PlainBearer {
            name: name.to_owned(),
            from,
            to,
            technology: fields.named("technology")?,
            downlink: downlink?,
            uplink: uplink?,
        })
    }

    fn plain_bearer_direction(&mut self, fields: Option<&Fields>) -> Option<PlainBearerDirection> {
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
        Some(PlainBearerDirection {
            rate,
            limit,
            discipline: queue.named("discipline")?,
            loss,
        })
    }
}
