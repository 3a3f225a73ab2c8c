# W(N, C) on ns-2.35, as `ackclock bench` runs it: a dumbbell of N bulk flows, 1500-byte packets,
# base round trip 100 ms, a drop-tail buffer of one bandwidth-delay product, access links on both
# sides, no tracing, the scheduler that is ns-2's default (calendar).
#
# Usage: ns ns2_dumbbell.tcl FLOWS RATE_BPS DURATION_S AGENT
# Prints: data packets acknowledged, data packets sent, data packets sent again, memory held before
# anything was built and at its peak, in kB.

lassign $argv flows rate_bps duration_s agent

proc status_kb {key} {
    set file [open /proc/self/status]
    regexp -line "^$key:\\s+(\\d+) kB" [read $file] -> value
    close $file
    return $value
}
set held_kb [status_kb VmRSS]

set packet_bytes 1500
set header_bytes 40
set access_bps [expr {max($rate_bps, 1000000000)}]
set buffer_packets [expr {int($rate_bps * 0.1 / (8 * $packet_bytes))}]

# Without this every packet carries the headers of every protocol that ns-2 knows.
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ [expr {$packet_bytes - $header_bytes}]
Agent/TCP set window_ 1000000
Agent/TCP set maxcwnd_ 0

set ns [new Simulator]
# The routes are plain, and ns-2's own search for them takes most of a minute at 2000 nodes.
$ns rtproto Manual
proc route {from to args} {
    [$from get-module "Manual"] add-route-to-adj-node {*}$args $to
}
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate_bps 48ms DropTail
$ns queue-limit $left $right $buffer_packets
$ns queue-limit $right $left $buffer_packets
route $left $right -default
route $right $left -default

# ns-2 has one queue length for a link; this one is never reached.
Queue set limit_ 1000000
for {set i 0} {$i < $flows} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    $ns duplex-link $sender $left $access_bps 1ms DropTail
    $ns duplex-link $right $receiver $access_bps 1ms DropTail
    route $sender $left -default
    route $receiver $right -default
    route $left $sender
    route $right $receiver

    set tcp($i) [new Agent/$agent]
    # An ACK for every packet: TCPSink, with SACK blocks where the sender reads them.
    set sink [new Agent/TCPSink[expr {$agent eq "TCP/Sack1" ? "/Sack1" : ""}]]
    $ns attach-agent $sender $tcp($i)
    $ns attach-agent $receiver $sink
    $ns connect $tcp($i) $sink
    set source [new Application/FTP]
    $source attach-agent $tcp($i)
    $ns at [expr {$i * 0.001}] "$source start"
}

proc finish {} {
    global flows tcp held_kb
    set acknowledged 0
    set sent 0
    set again 0
    for {set i 0} {$i < $flows} {incr i} {
        incr acknowledged [expr {int([$tcp($i) set ack_]) + 1}]
        incr sent [expr {int([$tcp($i) set ndatapack_])}]
        incr again [expr {int([$tcp($i) set nrexmitpack_])}]
    }
    puts "$acknowledged $sent $again $held_kb [status_kb VmHWM]"
    exit 0
}

$ns at $duration_s finish
$ns run
