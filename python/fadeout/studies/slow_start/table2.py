"""Comparison of Table 2 of the paper with the simulated stack."""

from collections.abc import Mapping

from fadeout.studies.slow_start import figures
from fadeout.studies.slow_start.delay import Delay, downlink_formula_tti, uplink_formula_tti
from fadeout.studies.slow_start.runs import BLERS
from fadeout.studies.slow_start.setups import SETTINGS, Setting
from fadeout.study import Section, Table

Delays = Mapping[tuple[Setting, float, str], Delay]

QUANTITIES = {"dl": "DL", "ul_sr": "UL, request", "ul_data": "UL, data", "ul_total": "UL, total"}


def compare(delays: Delays) -> list[dict[str, float | str | int]]:
    """Returns each cell of the table in ms: printed, by the appendix's formula, and simulated."""
    rows = []
    for setting in SETTINGS:
        printed = setting.published("table2")
        for bler in BLERS:
            suffix = "10" if bler else "free"
            down, up = (delays[setting, bler, d] for d in ("downlink", "uplink"))
            request, data = uplink_formula_tti(setting.period_tti, bler)
            formula = {
                "dl": downlink_formula_tti(bler),
                "ul_sr": request,
                "ul_data": data,
                "ul_total": request + data,
            }
            asked = up.request_ms(setting)
            ours = {
                "dl": down.total_ms,
                "ul_sr": asked,
                "ul_data": up.total_ms - asked,
                "ul_total": up.total_ms,
            }
            rows += [
                {
                    "tti_ms": setting.tti_ms,
                    "sr_tti": setting.period_tti,
                    "bler": bler,
                    "quantity": quantity,
                    "printed_ms": printed[f"{quantity}_{suffix}"],
                    "formula_ms": formula[quantity] * setting.tti_ms,
                    "ours_ms": ours[quantity],
                    "standard_error_ms": (down if quantity == "dl" else up).error_ms,
                    "packets": (down if quantity == "dl" else up).packets,
                    "deviation_pct": 100
                    * (ours[quantity] / (formula[quantity] * setting.tti_ms) - 1),
                }
                for quantity in QUANTITIES
            ]
    return rows


def table2(delays: Delays) -> Section:
    """Returns the section on Table 2."""
    rows = compare(delays)

    def cells(setting: Setting, bler: float) -> list[str]:
        mine = [
            row
            for row in rows
            if (row["tti_ms"], row["sr_tti"], row["bler"])
            == (setting.tti_ms, setting.period_tti, bler)
        ]
        return [
            f"{row['printed_ms']:.4g} / {row['formula_ms']:.4g} / {row['ours_ms']:.4g}"
            for row in mine
        ]

    worst = max(rows, key=lambda row: abs(float(row["deviation_pct"])))
    return Section(
        name="table2",
        title="Table 2: delay of the air interface",
        text=(
            "The table shows the mean delay in ms of single packets, which arrive in all phases "
            "of the frame with equal probability. Each cell has the paper's number, the value of "
            "the formula in its Appendix A, and our value. Appendix A includes half an interval "
            "of wait for the next opportunity. The printed rows with an SR period of 1 TTI omit "
            "this wait. Our values agree with the appendix."
        ),
        table=Table(
            columns=["TTI, SR period", "errors", *QUANTITIES.values()],
            rows=[
                [setting.name, f"{100 * bler:g} %", *cells(setting, bler)]
                for setting in SETTINGS
                for bler in BLERS
            ],
            data=rows,
        ),
        figures={
            "Parts of the mean delay of single packets, for each TTI and SR period, if 10 % of "
            "the first transmissions fail. Above: uplink. Below: downlink. *Queue* is the base "
            "station's processing and the wait for the next TTI. The number at each bar is the "
            "total.": figures.parts(delays)
        },
        conclusion=(
            f"The largest deviation from Appendix A is {abs(float(worst['deviation_pct'])):.2f} % "
            f"({worst['tti_ms']:g} ms, {worst['sr_tti']} TTI, {100 * float(worst['bler']):g} % "
            f"errors, {QUANTITIES[str(worst['quantity'])]}). With {worst['packets']} packets the "
            f"total has a standard error of {1e3 * float(worst['standard_error_ms']):.2g} us."
        ),
        is_headline=True,
    )
