//! UEs that are idle at the start.

use super::*;

/// Whether a UE that is idle at the start is one that can attach.
pub(super) fn check(builder: &mut Builder<'_, '_>, fields: &Fields) -> bool {
    if fields.item("attach-at").is_none() {
        // A wrong `attach-at` has its own mistake.
        if fields.item("attach-within").is_some() && !fields.is_given("attach-at") {
            let message = "`attach-within` of a UE that is connected from the start";
            let expected = "`attach-at`, such as \"0 s\", or without it";
            builder.mistake(fields.place_of("attach-within"), message, expected);
            return false;
        }
        return true;
    }
    if !builder.is_managed {
        let message = "`attach-at` of a UE whose cells nobody manages";
        let expected =
            "a table [mobility-management], or without it: the UE is connected from the start";
        builder.mistake(fields.place_of("attach-at"), message, expected);
        return false;
    }
    let others = [
        ("pscell", "no `pscell`: it has no cell at the start"),
        (
            "secondary-cells",
            "`max-secondary-cells`, as it has no cell at the start",
        ),
        ("cell", "no `cell`: an idle UE selects one itself"),
        (
            "split",
            "one of the two: bearers of a UE that attaches are of one cell",
        ),
        (
            "downlink-sinr",
            "a channel instead of a given SINR: an idle UE measures the cells",
        ),
        (
            "rrc-states",
            "one of the two: `rrc-states` is of UEs that stay in a cell",
        ),
    ];
    let wrong = others.iter().find(|(key, _)| fields.item(key).is_some());
    if let Some((key, expected)) = wrong {
        let message = format!("`{key}` of a UE that is idle at the start (`attach-at`)");
        builder.mistake(fields.place_of(key), message, expected);
    }
    wrong.is_none()
}
