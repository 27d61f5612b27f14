//! Checks of bearers with header compression: some settings cannot be combined with it.

use super::*;
use crate::model::HandoverProcedure;
use fadeout_core::registry::Value;

/// Returns the value of a PDCP parameter. `None` if the scenario does not give it.
fn choice<'a>(pdcp: &'a Named, name: &str) -> Option<&'a str> {
    let mut given = pdcp.parameters.0.iter();
    given.find_map(|(known, value)| match value {
        Value::Choice(choice) if known == name => Some(choice.as_str()),
        _ => None,
    })
}

/// Returns the PDCP of a bearer if it compresses headers. `None` if it does not.
fn compressing(bearer: &Fields) -> Option<(&Item, &Named)> {
    let item = bearer.item("pdcp")?;
    match &item.content {
        Content::Named(pdcp) => {
            (choice(pdcp, "header-compression") == Some("rohc")).then_some((item, pdcp))
        }
        _ => None,
    }
}

/// Adds a mistake for each bearer whose settings exclude header compression.
///
/// Standard: TS 38.331 §6.3.2; TS 38.323 §5.7.1.
pub(super) fn check(
    builder: &mut Builder<'_, '_>,
    ues: &[(String, Fields)],
    mobility: Option<&MobilityManagement>,
    captures_radio: bool,
) {
    let is_dual = mobility.is_some_and(|it| it.procedure == HandoverProcedure::Daps);
    for (_, ue) in ues {
        let others = ue.map("drb").iter().map(|(_, drb)| drb);
        for bearer in std::iter::once(ue).chain(others) {
            let Some((item, pdcp)) = compressing(bearer) else {
                continue;
            };
            let is_tm =
                |rlc: &Item| matches!(&rlc.content, Content::Named(rlc) if rlc.name == "tm");
            let (message, expected) = if choice(pdcp, "delivery") == Some("out-of-order") {
                (
                    "`header-compression` with out-of-order delivery, where headers cannot be \
                     decompressed",
                    "another `delivery`, or `header-compression = \"not-used\"`",
                )
            } else if bearer.item("split").is_some() {
                (
                    "`header-compression` of a split bearer, which is not modelled",
                    "a bearer that is not split, or `header-compression = \"not-used\"`",
                )
            } else if bearer.item("rlc").is_some_and(is_tm) {
                (
                    "`header-compression` in transparent mode, which has no PDCP for data",
                    "`rlc` \"am\" or \"um\"",
                )
            } else if is_dual {
                (
                    "`header-compression` with `procedure = \"daps\"`, which is not modelled",
                    "another `procedure`, or `header-compression = \"not-used\"`",
                )
            } else if captures_radio {
                (
                    "`header-compression` with `radio-capture`: the bytes of compressed headers \
                     are not modelled",
                    "captures of nodes or links, or `header-compression = \"not-used\"`",
                )
            } else {
                continue;
            };
            builder.mistake(item.place, message, expected);
        }
    }
}
