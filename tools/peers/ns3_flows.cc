// CUBIC flows over three hops, for ns-3.37.
//
// usage: ns3_flows FLOWS MBIT_PER_S SECONDS
//
// The middle link has the given rate, and the outer links ten times this rate. Each link has 4 ms of
// delay, as in benches/scenarios/three-hops.toml. The last line of the output is JSON with the
// delivered bytes.
//
// Build with Debian's package libns3-dev:
//     g++ -std=c++17 -O2 ns3_flows.cc -o ns3_flows \
//         $(pkg-config --cflags --libs ns3-applications ns3-internet ns3-point-to-point \
//         ns3-traffic-control)

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: ns3_flows FLOWS MBIT_PER_S SECONDS\n");
        return 2;
    }
    const int flows = atoi(argv[1]);
    const uint64_t mbit = strtoull(argv[2], nullptr, 10);
    const double seconds = atof(argv[3]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));

    NodeContainer nodes;
    nodes.Create(4);
    InternetStackHelper().Install(nodes);
    const uint64_t rates[] = {10 * mbit, mbit, 10 * mbit};
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    for (int hop = 0; hop < 3; hop++) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(std::to_string(rates[hop]) + "Mbps"));
        link.SetChannelAttribute("Delay", StringValue("4ms"));
        link.SetQueue("ns3::DropTailQueue", "MaxSize",
                      StringValue(std::to_string(std::max<uint64_t>(mbit / 2, 100)) + "p"));
        auto devices = link.Install(nodes.Get(hop), nodes.Get(hop + 1));
        last = addresses.Assign(devices);
        // ns-3 puts FqCoDel in front of each device. The links of fadeout have drop-tail queues alone.
        TrafficControlHelper().Uninstall(devices);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    auto sink = sinks.Install(nodes.Get(3));
    BulkSendHelper sources("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), 5000));
    sources.SetAttribute("MaxBytes", UintegerValue(0));
    for (int n = 0; n < flows; n++) {
        sources.Install(nodes.Get(0)).Start(MicroSeconds(500 * n));
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const uint64_t bytes = DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx();
    Simulator::Destroy();
    printf("{\"delivered_bytes\": %llu, \"simulated_s\": %g}\n", (unsigned long long)bytes, seconds);
    return 0;
}
