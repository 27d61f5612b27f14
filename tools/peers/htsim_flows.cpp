// NewReno flows through one link, for htsim (github.com/Broadcom/csg-htsim).
//
// usage: htsim_flows FLOWS MBIT_PER_S SECONDS
//
// The link has 10 ms of delay in each direction and a queue of 500 packets for each Gbit/s, as in
// benches/scenarios/bulk.toml and thousand.toml. The last line of the output is JSON with the number
// of data packets sent.
//
// Build in the folder `sim` of htsim, after `make libhtsim.a`:
//     g++ -std=c++11 -O3 -I. /path/to/htsim_flows.cpp libhtsim.a -o htsim_flows

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: htsim_flows FLOWS MBIT_PER_S SECONDS\n");
        return 2;
    }
    const int flows = atoi(argv[1]);
    const uint64_t mbit = strtoull(argv[2], nullptr, 10);
    const double seconds = atof(argv[3]);

    // htsim reports each change of a window on standard output.
    std::cout.rdbuf(nullptr);

    const int payload = 1448;
    Packet::set_packet_size(payload);
    EventList events;
    events.setEndtime(timeFromSec(seconds));
    const mem_b limit = memFromPkt(mbit / 2);
    Pipe there(timeFromMs(10), events), back(timeFromMs(10), events);
    Queue data(speedFromMbps(mbit), limit, events, nullptr);
    Queue acks(speedFromMbps(mbit), limit, events, nullptr);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::vector<TcpSrc*> sources;
    for (int n = 0; n < flows; n++) {
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        timers.registerTcp(*source);
        auto* out = new route_t();
        out->push_back(&data);
        out->push_back(&there);
        out->push_back(sink);
        auto* in = new route_t();
        in->push_back(&acks);
        in->push_back(&back);
        in->push_back(source);
        source->connect(*out, *in, *sink, timeFromUs((uint32_t)(500 * n)));
        // The receive buffers of fadeout's flows grow to this size.
        source->_maxcwnd = 6 << 20;
        sources.push_back(source);
    }
    while (events.doNextEvent()) {
    }
    uint64_t bytes = 0;
    for (const auto* source : sources) {
        bytes += source->_packets_sent;
    }
    printf("{\"data_packets\": %llu, \"simulated_s\": %g}\n",
           (unsigned long long)(bytes / payload), seconds);
    return 0;
}
