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
        """A flow over the whole run, one row each. Counts and round-trip times are those of the
        data sender. For a multipath flow they cover all paths.
        """
        return self.table("flows")

    @property
    def paths(self) -> "pl.DataFrame":
        """A path of a multipath flow over the whole run, one row each."""
        return self.table("paths")

    @property
    def datagram_flows(self) -> "pl.DataFrame":
        """A direction of a flow of UDP datagrams, one row each: the flow's data, or the answers of
        an echo. A percentile is the nearest rank, within 1 %.
        """
        return self.table("datagram_flows")

    @property
    def quic_ends(self) -> "pl.DataFrame":
        """An end of a QUIC connection over the whole run, one row each."""
        return self.table("quic_ends")

    @property
    def links(self) -> "pl.DataFrame":
        """A direction of a link over the whole run, one row each."""
        return self.table("links")

    @property
    def radio(self) -> "pl.DataFrame":
        """The radio access over the whole run, in one row. There is no row if the scenario has no
        UE.
        """
        return self.table("radio")

    @property
    def interfaces(self) -> "pl.DataFrame":
        """A direction of a UE's radio interface over the whole run, one row each."""
        return self.table("interfaces")

    @property
    def legs(self) -> "pl.DataFrame":
        """A direction of a leg of a split bearer over the whole run, one row each."""
        return self.table("legs")

    @property
    def header_compression(self) -> "pl.DataFrame":
        """A direction of a bearer with header compression over the whole run, one row each."""
        return self.table("header_compression")

    @property
    def completions(self) -> "pl.DataFrame":
        """A flow that completed, one row each, in the order of completion."""
        return self.table("completions")

    @property
    def completion_times(self) -> "pl.DataFrame":
        """Completion times of a group of flows, one row for each group with a completed flow. A
        percentile is the nearest rank: the smallest time that at least so many flows did not
        exceed.
        """
        return self.table("completion_times")

    @property
    def predictions(self) -> "pl.DataFrame":
        """A prediction of a blockage together with the predicted blockage, one row each. The row of
        a false alarm has no blockage. The row of a missed blockage has no prediction.
        """
        return self.table("predictions")

    @property
    def prediction_scores(self) -> "pl.DataFrame":
        """Quality of the predictions of blockages, one row for all cells and one for serving
        cells.
        """
        return self.table("prediction_scores")

    @property
    def congestion(self) -> "pl.DataFrame":
        """State of the congestion control of a flow's data sender, one row for each sampled ACK. A
        multipath flow has rows for each path. A segment of a QUIC flow is a datagram of the largest
        size.
        """
        return self.table("congestion")

    @property
    def bbr(self) -> "pl.DataFrame":
        """State of a BBR sender, one row for each sampled ACK. The table has rows at the same times
        as `congestion`, for flows over TCP with the congestion control `bbr` or `bbr3`.
        """
        return self.table("bbr")

    @property
    def quic(self) -> "pl.DataFrame":
        """State of a QUIC connection at the flow's data sender, one row for each sampled arrival of
        a datagram. The table has rows at the same times as `congestion`. A multipath flow has rows
        for each path, at arrivals on this path.
        """
        return self.table("quic")

    @property
    def throughput(self) -> "pl.DataFrame":
        """Bytes that reached the application of a flow's receiver in order, one row for each time
        bin. The bins begin when the flow starts, and end when the flow completes or the run ends.
        """
        return self.table("throughput")

    @property
    def queues(self) -> "pl.DataFrame":
        """Occupancy of a link's queue, one row for each sampled arrival of a packet."""
        return self.table("queues")

    @property
    def drops(self) -> "pl.DataFrame":
        """A packet that a link lost, one row each."""
        return self.table("drops")

    @property
    def retransmissions(self) -> "pl.DataFrame":
        """A retransmission of a segment by either end of a flow, one row each."""
        return self.table("retransmissions")

    @property
    def timeouts(self) -> "pl.DataFrame":
        """An expiry of the retransmission timer at either end of a flow, one row each."""
        return self.table("timeouts")

    @property
    def flow_events(self) -> "pl.DataFrame":
        """An event of loss recovery or of an outage at an end of a flow, one row each. Recovery
        begins, ends or is undone, the window is reduced, or an outage begins or ends.
        """
        return self.table("flow_events")

    @property
    def segments(self) -> "pl.DataFrame":
        """A TCP segment with data that arrived, one row for each sampled arrival."""
        return self.table("segments")

    @property
    def datagrams(self) -> "pl.DataFrame":
        """A UDP datagram that arrived, one row each."""
        return self.table("datagrams")

    @property
    def blockages(self) -> "pl.DataFrame":
        """A blockage of a link, one row each. During a blockage the link has a lower rate, or
        none.
        """
        return self.table("blockages")

    @property
    def transport_blocks(self) -> "pl.DataFrame":
        """A transmission of a transport block, one row each. The row is written when the receiver
        has tried to decode the block.
        """
        return self.table("transport_blocks")

    @property
    def bearers(self) -> "pl.DataFrame":
        """Backlog of a bearer, one row for each sample. A sample is taken when a transport block
        was filled from the bearer.
        """
        return self.table("bearers")

    @property
    def radio_delay(self) -> "pl.DataFrame":
        """Parts of the delay of a packet in a bearer, one row for each delivered packet. The parts
        add up to the time from the packet's entry to its delivery.
        """
        return self.table("radio_delay")

    @property
    def radio_drops(self) -> "pl.DataFrame":
        """A packet that a bearer lost, one row each."""
        return self.table("radio_drops")

    @property
    def measurements(self) -> "pl.DataFrame":
        """A measurement of a cell by a UE, one row each."""
        return self.table("measurements")

    @property
    def handovers(self) -> "pl.DataFrame":
        """A change of cell, one row for each that has ended, with success or without. Times are
        simulated times, and NaN for a step that did not happen.
        """
        return self.table("handovers")

    @property
    def secondary_changes(self) -> "pl.DataFrame":
        """An addition, change, modification or release of the secondary node in dual connectivity,
        one row for each that has ended, with success or without. Times are simulated times, and NaN
        for a step that did not happen.
        """
        return self.table("secondary_changes")

    @property
    def link_handovers(self) -> "pl.DataFrame":
        """A change of a phone from one link or radio access bearer to another, one row for each
        change that has ended. Times are simulated times, and NaN for a step that did not happen.
        Counts are of downlink packets.
        """
        return self.table("link_handovers")

    @property
    def rrc(self) -> "pl.DataFrame":
        """A step of radio resource control (RRC), one row each."""
        return self.table("rrc")
