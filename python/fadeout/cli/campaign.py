"""`fadeout campaign`: run, show and compare many runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fadeout import ResultError, ScenarioError
from fadeout.cli import complete
from fadeout.cli.console import out
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import ClusterFile, Jobs, cluster_of, examples
from fadeout.cli.progress import count_progress

if TYPE_CHECKING:
    # Loaded at their first use, as help needs none of them.
    from fadeout.campaign import Campaign

Folder = Annotated[Path, typer.Argument(help="Folder of a campaign.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]

Yes = Annotated[bool, typer.Option("--yes", help="Confirm a campaign of more than 100,000 runs.")]

Retry = Annotated[bool, typer.Option("--retry", help="Repeat failed runs.")]

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        metavar="METRIC",
        help=(
            "Metric to read from each run: a column (goodput_mbps), a column of a table "
            "(queues.delay_s:p99), of a flow (goodput_mbps[bulk]), over rows (goodput_mbps:sum), "
            "or a function of your own (p99=my.py:p99). May be given several times."
        ),
    ),
]

Confidence = Annotated[
    float,
    typer.Option(min=0.5, max=0.9999, help="Confidence level of the intervals.", show_default=True),
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(
        name="campaign",
        no_args_is_help=True,
        help="Many runs: points times seeds, resumable, with intervals.",
        epilog=examples(
            "fadeout campaign run campaign.toml",
            "fadeout campaign show out/campaign-NAME",
            note="The same without a file: fadeout sweep --help.",
        ),
    )
    group.command(
        "run",
        epilog=examples(
            "fadeout campaign run campaign.toml -j 8",
            "fadeout campaign run campaign.toml --cluster slurm.toml",
            "fadeout campaign run out/campaign-NAME",
            note="Repeat the command to resume: runs that are on disk are not repeated.",
        ),
    )(reports_errors(run))
    group.command("status", epilog=examples("fadeout campaign status c/"))(reports_errors(status))
    group.command(
        "show", epilog=examples("fadeout campaign show c/ -m goodput_mbps -m mean_rtt_s")
    )(reports_errors(show))
    group.command(
        "compare",
        epilog=examples(
            "fadeout campaign compare c/ congestion-control cubic -m goodput_mbps",
            note="To compare two folders: fadeout compare.",
        ),
    )(reports_errors(compare))
    group.command(
        "plot",
        epilog=examples(
            "fadeout campaign plot c/ -m goodput_mbps --x delay --panels congestion-control",
            "fadeout campaign plot c/ --baseline congestion-control=cubic",
            note="In Python: fadeout.Campaign.open('c/').plot.metric('goodput_mbps').",
        ),
    )(reports_errors(plot))
    group.command(
        "export",
        epilog=examples(
            "fadeout campaign export c/ runs.csv",
            note="In Python: fadeout.Campaign.open('c/').frame().",
        ),
    )(reports_errors(export))
    group.command(
        "archive",
        epilog=examples(
            "fadeout campaign archive c/ results.zip --author 'A. Name'",
            note="Elsewhere: fadeout campaign repeat results.zip.",
        ),
    )(reports_errors(archive))
    group.command(
        "repeat",
        epilog=examples(
            "fadeout campaign repeat results.zip --out again/",
            note="The archive may come from anybody: without --allow-code, none of its code runs.",
        ),
    )(reports_errors(repeat))
    app.add_typer(group)


def run(
    source: Annotated[
        Path,
        typer.Argument(help="Campaign file (TOML), or the folder of a campaign to continue."),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=("Folder of the campaign. Default: out/campaign-NAME, after the file's name."),
        ),
    ] = None,
    jobs: Jobs = None,
    cluster: ClusterFile = None,
    retry: Retry = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Run the missing runs of a campaign.

    The results are the same for any number of jobs. A run is done when its results are on disk.
    Stop or kill the campaign, or change its values, and repeat the command to run only the missing
    runs.
    """
    from fadeout.campaign import Campaign

    campaign = Campaign.open(source) if source.is_dir() else Campaign(source, folder)
    run_campaign(campaign, jobs=jobs, cluster=cluster, retry=retry, yes=yes, quiet=quiet)


def run_campaign(
    campaign: "Campaign",
    *,
    jobs: int | None,
    cluster: str | None,
    retry: bool,
    yes: bool,
    quiet: bool,
) -> None:
    """Runs a campaign with a progress bar, and prints its results."""
    from fadeout.cli.campaign_tables import print_finished, print_means

    executor = cluster_of(cluster, jobs)
    with count_progress(campaign.folder.name, quiet=quiet) as progress:
        finished = campaign.run(
            jobs=jobs, executor=executor, progress=progress, retry=retry, may_be_large=yes
        )
    if quiet:
        return
    if finished.status.done:
        print_means(campaign, (), campaign.seeds.confidence)
    print_finished(campaign, finished)
    out().print(f"campaign: {campaign.folder}", markup=False, highlight=False)


def status(folder: Folder) -> None:
    """Print the progress of a campaign, its failures, and the remaining runs."""
    from fadeout.campaign import Campaign
    from fadeout.cli.campaign_tables import print_status

    print_status(Campaign.open(folder))


def show(folder: Folder, metrics: Metrics = None, confidence: Confidence = 0.95) -> None:
    """Print one row for each point, with the mean and interval of each metric over the seeds."""
    from fadeout.campaign import Campaign
    from fadeout.cli.campaign_tables import print_means

    print_means(Campaign.open(folder), metrics or [], confidence)


def compare(
    folder: Folder,
    key: Annotated[str, typer.Argument(help="Key whose values are compared.")],
    baseline: Annotated[str, typer.Argument(help="Value with which the others are compared.")],
    metrics: Metrics = None,
    confidence: Confidence = 0.95,
) -> None:
    """Compare the values of a key with a baseline: differences paired by seed, with intervals.

    p is the probability of such a difference if there is none. It is corrected for the number of
    comparisons in the table (Holm).
    """
    from fadeout.campaign import Campaign
    from fadeout.cli.campaign_tables import print_differences

    print_differences(Campaign.open(folder), key, baseline, metrics or [], confidence)


def plot(
    folder: Folder,
    metrics: Metrics = None,
    x: Annotated[
        str | None,
        typer.Option(
            "--x", metavar="KEY", help="Key of the horizontal axis. Default: one with numbers."
        ),
    ] = None,
    panels: Annotated[
        str | None, typer.Option(metavar="KEY", help="Key with a panel for each value.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Draw points with this value only. May be given several times.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Draw the differences from this value instead, paired by seed.",
        ),
    ] = None,
    confidence: Confidence = 0.95,
    file_format: Annotated[
        str,
        typer.Option("--format", "-f", help="png, pdf or svg.", autocompletion=complete.formats),
    ] = "png",
    target: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder to write to. Default: FOLDER/figures."),
    ] = None,
) -> None:
    """Draw each metric by the values of a key, with intervals, and its distribution.

    The values of the other keys have a line each.
    """
    from fadeout.campaign import Campaign

    if file_format not in ("png", "pdf", "svg"):
        message = f"{file_format!r} is not one of png, pdf, svg"
        raise typer.BadParameter(message, param_hint="--format")
    campaign = Campaign.open(folder)
    target = target or folder / "figures"
    if baseline is not None:
        for option, value in (("--x", x), ("--panels", panels), ("--where", where)):
            if value:
                raise typer.BadParameter("does not go with --baseline", param_hint=option)
        key, value = _pair(baseline, "--baseline")
        figure = campaign.plot.differences(key, value, *(metrics or ()), confidence=confidence)
        target.mkdir(parents=True, exist_ok=True)
        paths = [target / f"differences-{key.rpartition('.')[2]}.{file_format}"]
        figure.savefig(paths[0], format=file_format)
    else:
        chosen = dict(_pair(each, "--where") for each in where or ())
        paths = campaign.plot.save(
            target,
            metrics=metrics or (),
            format=file_format,
            x=x,
            panels=panels,
            where=chosen,
            confidence=confidence,
        )
    for path in paths:
        out().print(str(path), markup=False, highlight=False)


def _pair(text: str, option: str) -> tuple[str, str]:
    """Returns key and value of `KEY=VALUE`."""
    key, sign, value = text.partition("=")
    if not (key and sign and value):
        raise typer.BadParameter(f"{text!r} is not of the form KEY=VALUE", param_hint=option)
    return key.strip(), value.strip()


def export(
    folder: Folder,
    file: Annotated[
        Path | None,
        typer.Argument(help=("Output file, .parquet or .csv. Default: FOLDER/frame.parquet.")),
    ] = None,
) -> None:
    """Write one tidy table, with a row for each run: the values of its point, its seed and its
    metrics.
    """
    from fadeout.campaign import Campaign

    campaign = Campaign.open(folder)
    path = campaign.export(file or folder / "frame.parquet")
    out().print(f"{len(campaign.frame()):,} runs: {path}", markup=False, highlight=False)


def archive(
    folder: Folder,
    file: Annotated[
        Path | None, typer.Argument(help="Output file, .zip. Default: FOLDER.zip.")
    ] = None,
    author: Annotated[str, typer.Option(help="Author in the citation.")] = "",
) -> None:
    """Write one file with scenarios, results, versions, checksums and a citation.

    Readers can repeat the campaign from this file, and check that every run gives the same results.
    """
    from fadeout.campaign import Campaign
    from fadeout.campaign.archive import archive as write

    file = file or folder.with_name(f"{folder.name}.zip")
    path = write(Campaign.open(folder), file, author=author)
    out().print(f"archive: {path}", markup=False, highlight=False)


def repeat(
    file: Annotated[Path, typer.Argument(help="Archive written by fadeout campaign archive.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=("Folder of the repeated campaign. Default: out/ and the file's name."),
        ),
    ] = None,
    allow_code: Annotated[
        bool,
        typer.Option(
            "--allow-code",
            help=(
                "Run the archive's own Python files (metrics, congestion controls, handover "
                "policies), which have your rights. Without this option, an archive with such "
                "files is refused."
            ),
        ),
    ] = False,
    largest: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Refuse an archive that is larger than this when unpacked. Default: 1 GiB.",
        ),
    ] = None,
    jobs: Jobs = None,
    cluster: ClusterFile = None,
    quiet: Quiet = False,
) -> None:
    """Repeat the campaign of an archive, and compare every run with the archive.

    Nothing runs unless the archive has exactly the files of its SHA256SUMS.
    """
    from fadeout._quantities import byte_count
    from fadeout.campaign.repeat import repeat as run_again
    from fadeout.campaign.unpack import LARGEST

    try:
        most = LARGEST if largest is None else byte_count(largest)
    except ValueError as error:
        raise ScenarioError(f"--largest: {error}") from None
    folder = folder or Path("out") / file.stem
    with count_progress(f"repeat {file.stem}", quiet=quiet) as progress:
        executor = cluster_of(cluster, jobs)
        found = run_again(
            file,
            folder,
            allow_code=allow_code,
            largest=most,
            jobs=jobs,
            executor=executor,
            progress=progress,
        )
    out().print(f"{found.same:,} runs have the same results", markup=False, highlight=False)
    if not found.is_same:
        raise ResultError(
            f"{found.different:,} runs have other results, {found.missing:,} have none, and "
            f"{found.added:,} are not in the archive: {folder}"
        )
