"""The tables of results as attributes, so that an editor knows them; `make tables` writes this."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class TableAttributes:
    """Each table of `Results`."""

    def table(self, name: str) -> "pl.DataFrame":
        """The table called `name`."""
        raise NotImplementedError

    @property
    def summary(self) -> "pl.DataFrame":
        """The whole run, in one row."""
        return self.table("summary")

    @property
    def flows(self) -> "pl.DataFrame":
        """A flow, one row each. Counts and round-trip times are the data sender's; a multipath
        flow's are over all its paths.
        """
        return self.table("flows")

    @property
    def paths(self) -> "pl.DataFrame":
        """A path of a multipath flow, one row each."""
        return self.table("paths")

    @property
    def datagram_flows(self) -> "pl.DataFrame":
        """A direction of a flow of UDP datagrams, one row each: the flow's data, and the answers of
        an echo. Percentiles are nearest ranks, to within 1 %.
        """
        return self.table("datagram_flows")

    @property
    def links(self) -> "pl.DataFrame":
        """A direction of a link, one row each."""
        return self.table("links")

    @property
    def radio(self) -> "pl.DataFrame":
        """The radio access, in one row; none where the scenario has no UE."""
        return self.table("radio")

    @property
    def interfaces(self) -> "pl.DataFrame":
        """A direction of a UE's radio interface, one row each."""
        return self.table("interfaces")

    @property
    def legs(self) -> "pl.DataFrame":
        """A direction of a leg of a split bearer, one row each."""
        return self.table("legs")

    @property
    def header_compression(self) -> "pl.DataFrame":
        """A direction of a bearer whose headers are compressed, one row each."""
        return self.table("header_compression")

    @property
    def completions(self) -> "pl.DataFrame":
        """A flow that came to its end, one row each, in the order of completion."""
        return self.table("completions")

    @property
    def completion_times(self) -> "pl.DataFrame":
        """A group of flows of which some came to their end, one row each: how long that took. A
        percentile is the nearest rank, the smallest time that so many did not exceed.
        """
        return self.table("completion_times")

    @property
    def predictions(self) -> "pl.DataFrame":
        """A prediction of a blockage and the cut of the path that it was right of, one row each; a
        prediction that came to nothing has no cut, a cut of which nothing was said no prediction.
        """
        return self.table("predictions")

    @property
    def prediction_scores(self) -> "pl.DataFrame":
        """How good predictions of blockages were, one row for all cells and one for those that
        serve.
        """
        return self.table("prediction_scores")

    @property
    def congestion(self) -> "pl.DataFrame":
        """State of the congestion control of a flow's data sender, one row a sample. A multipath
        flow has rows for each path.
        """
        return self.table("congestion")

    @property
    def throughput(self) -> "pl.DataFrame":
        """Application bytes that reached a flow's receiver in order, one row a time bin, from the
        bin in which the flow starts to the one in which it completes or the run ends.
        """
        return self.table("throughput")

    @property
    def queues(self) -> "pl.DataFrame":
        """Occupancy of a link's queue, one row a sample."""
        return self.table("queues")

    @property
    def drops(self) -> "pl.DataFrame":
        """A packet that a link lost, one row each."""
        return self.table("drops")

    @property
    def retransmissions(self) -> "pl.DataFrame":
        """A segment sent again by either end, one row each."""
        return self.table("retransmissions")

    @property
    def timeouts(self) -> "pl.DataFrame":
        """A retransmission timer that expired at either end, one row each."""
        return self.table("timeouts")

    @property
    def flow_events(self) -> "pl.DataFrame":
        """What befell an end of a flow: recovery episodes and their undoing, reductions, what
        notices of outages did.
        """
        return self.table("flow_events")

    @property
    def datagrams(self) -> "pl.DataFrame":
        """A UDP datagram that arrived, one row each."""
        return self.table("datagrams")

    @property
    def blockages(self) -> "pl.DataFrame":
        """A change of a link's rate or state, one row each: blockages begin and end here."""
        return self.table("blockages")

    @property
    def transport_blocks(self) -> "pl.DataFrame":
        """A transport block, one row each transmission, written when the receiver has tried to
        decode it.
        """
        return self.table("transport_blocks")

    @property
    def bearers(self) -> "pl.DataFrame":
        """What waits in a bearer, one row a sample, taken when a transport block was filled from
        it.
        """
        return self.table("bearers")

    @property
    def radio_delay(self) -> "pl.DataFrame":
        """What a packet's way through a bearer was made of, one row a delivered packet. The parts
        add up to the time from its entry to its delivery.
        """
        return self.table("radio_delay")

    @property
    def radio_drops(self) -> "pl.DataFrame":
        """A packet that a bearer lost, one row each."""
        return self.table("radio_drops")

    @property
    def measurements(self) -> "pl.DataFrame":
        """A cell as a UE measured it, one row a cell and measurement."""
        return self.table("measurements")

    @property
    def handovers(self) -> "pl.DataFrame":
        """A change of cell that has ended, well or not, one row each. Times are those of the run;
        what did not happen is NaN.
        """
        return self.table("handovers")

    @property
    def secondary_changes(self) -> "pl.DataFrame":
        """An addition, change or release of the secondary node of dual connectivity that has ended,
        well or not, one row each. Times are those of the run; what did not happen is NaN.
        """
        return self.table("secondary_changes")

    @property
    def link_handovers(self) -> "pl.DataFrame":
        """A change of a phone from one link or radio access bearer to another that has ended, one
        row each. Times are those of the run; what did not happen is NaN. Counts are of the
        downlink.
        """
        return self.table("link_handovers")

    @property
    def rrc(self) -> "pl.DataFrame":
        """A step of radio resource control, one row each."""
        return self.table("rrc")
