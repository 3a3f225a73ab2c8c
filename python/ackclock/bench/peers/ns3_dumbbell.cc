// W(N, C) on ns-3, as `ackclock bench` runs it: a dumbbell of N bulk flows, packets of an MSS of 1448
// bytes, base round trip 100 ms, a drop-tail buffer of one bandwidth-delay product, access links on
// both sides, an ACK for every packet, no tracing, no queue discipline above the devices.
//
// Usage: ns3_dumbbell FLOWS RATE_BPS DURATION_S TYPE SACK
// Prints: packets that the receivers read, memory held before anything was built and at its peak, in kB.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

static long status_kb(const std::string &key) {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.rfind(key + ":", 0) == 0) {
            return std::stol(line.substr(key.size() + 1));
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        return 2;
    }
    const long held_kb = status_kb("VmRSS");
    const uint32_t flows = std::stoul(argv[1]);
    const uint64_t rate_bps = std::stoull(argv[2]);
    const double duration_s = std::stod(argv[3]);
    const uint32_t mss = 1448;
    const uint64_t access_bps = std::max<uint64_t>(rate_bps, 1000000000);
    const uint64_t buffer = std::max<uint64_t>(rate_bps / 10 / (8 * 1500), 1);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(argv[4]));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(std::string(argv[5]) == "1"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 << 20));

    Ptr<Node> left = CreateObject<Node>();
    Ptr<Node> right = CreateObject<Node>();
    NodeContainer senders, receivers;
    senders.Create(flows);
    receivers.Create(flows);
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    // Its search for routes would take longer than the run.
    stack.SetRoutingHelper(routing);
    stack.Install(left);
    stack.Install(right);
    stack.Install(senders);
    stack.Install(receivers);

    PointToPointHelper line;
    TrafficControlHelper control;
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    auto join = [&](Ptr<Node> from, Ptr<Node> to) {
        NetDeviceContainer devices = line.Install(from, to);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        // Assigning an address installs a discipline.
        control.Uninstall(devices);
        addresses.NewNetwork();
        return interfaces;
    };
    auto default_route = [&](Ptr<Node> node, Ipv4Address through) {
        Ptr<Ipv4> ip = node->GetObject<Ipv4>();
        routing.GetStaticRouting(ip)->SetDefaultRoute(through, 1);
    };

    line.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate_bps)));
    line.SetChannelAttribute("Delay", TimeValue(MilliSeconds(48)));
    line.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, buffer)));
    Ipv4InterfaceContainer shared = join(left, right);
    default_route(left, shared.GetAddress(1));
    default_route(right, shared.GetAddress(0));

    line.SetDeviceAttribute("DataRate", DataRateValue(DataRate(access_bps)));
    line.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
    line.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 1000000)));
    ApplicationContainer sinks;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    for (uint32_t i = 0; i < flows; ++i) {
        Ipv4InterfaceContainer out = join(senders.Get(i), left);
        Ipv4InterfaceContainer in = join(right, receivers.Get(i));
        default_route(senders.Get(i), out.GetAddress(1));
        default_route(receivers.Get(i), in.GetAddress(0));
        sinks.Add(sink.Install(receivers.Get(i)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(in.GetAddress(1), 9));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(mss));
        bulk.Install(senders.Get(i)).Start(MilliSeconds(i));
    }
    sinks.Start(Seconds(0));

    Simulator::Stop(Seconds(duration_s));
    Simulator::Run();
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < flows; ++i) {
        bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    std::cout << bytes / mss << " " << held_kb << " " << status_kb("VmHWM") << std::endl;
    Simulator::Destroy();
    return 0;
}
