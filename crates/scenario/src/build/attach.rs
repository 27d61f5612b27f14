//! Checks of UEs that are idle at the start.

use super::*;

/// Returns true unless the UE is idle at the start and cannot attach. A mistake is added in that
/// case.
pub(super) fn check(builder: &mut Builder<'_, '_>, fields: &Fields) -> bool {
    if fields.item("attach-at").is_none() {
        // A wrong value of `attach-at` has been reported already.
        if fields.item("attach-within").is_some() && !fields.is_given("attach-at") {
            let message = "`attach-within` of a UE that is connected from the start";
            let expected = "`attach-at`, such as \"0 s\", or no `attach-within`";
            builder.mistake(fields.place_of("attach-within"), message, expected);
            return false;
        }
        return true;
    }
    if !builder.is_managed {
        let message = "`attach-at` of a UE without mobility management";
        let expected = "a table [mobility-management], or no `attach-at`: the UE is then connected from the \
             start";
        builder.mistake(fields.place_of("attach-at"), message, expected);
        return false;
    }
    let others = [
        ("pscell", "no `pscell`: the UE has no cell at the start"),
        (
            "secondary-cells",
            "`max-secondary-cells`: the UE has no cell at the start",
        ),
        ("cell", "no `cell`: an idle UE selects its cell itself"),
        (
            "split",
            "no `split`: the bearers of a UE that attaches have one cell",
        ),
        (
            "downlink-sinr",
            "no given SINR: an idle UE measures the cells",
        ),
        ("rrc-states", "one of `rrc-states` and `attach-at`"),
    ];
    let wrong = others.iter().find(|(key, _)| fields.item(key).is_some());
    if let Some((key, expected)) = wrong {
        let message = format!("`{key}` of a UE that is idle at the start (`attach-at`)");
        builder.mistake(fields.place_of(key), message, expected);
    }
    wrong.is_none()
}
