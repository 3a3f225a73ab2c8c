# Web traffic of PackMime-HTTP through DelayBox on ns-2, as in the study tambuwal2018: what an ns-2
# that nobody changed does, which is the study's variant 3,2.
#
#   ns ns2_web.tcl RATE CONNECTIONS SEED OUTFILE
#
# Prints rate, time, utilisation, loss rate, packets offered and objects after 60 s of warm-up; ns-2
# writes a line an object into OUTFILE: time, request (B), response (B), response time (ms), ...
lassign $argv rate goal seed outfile
remove-all-packet-headers
add-packet-header IP TCP
set ns [new Simulator]
ns-random $seed

Agent/TCP/FullTcp set segsize_ 1460
Agent/TCP/FullTcp set nodelay_ true
Agent/TCP/FullTcp set segsperack_ 1
Agent/TCP/FullTcp set interval_ 0.0
Agent/TCP set window_ 1000
Agent/TCP set windowInit_ 3
Agent/TCP set rtxcur_init_ 1.0
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set maxrto_ 60

# clients - DelayBox - router = 10 Mbit/s = router - DelayBox - servers
set clients [$ns node]
set near [$ns DelayBox]
set right [$ns node]
set left [$ns node]
set far [$ns DelayBox]
set servers [$ns node]
foreach {a b} [list $clients $near $near $right $left $far $far $servers] {
    $ns duplex-link $a $b 1000Mb 0ms DropTail
    $ns queue-limit $a $b 100000
    $ns queue-limit $b $a 100000
}
$ns duplex-link $right $left 10Mb 0ms DropTail
$ns queue-limit $right $left 100
$ns queue-limit $left $right 100

# A variable of ns-2's, drawing from a stream of its own.
set streams 0
proc variable_of {class args} {
    global seed streams
    set stream [new RNG]
    $stream seed [expr $seed * 100 + [incr streams]]
    set made [new RandomVariable/$class {*}$args]
    $made use-rng $stream
    return $made
}

set web [new PackMimeHTTP]
$web set-client $clients
$web set-server $servers
$web set-rate $rate
$web set-http-1.1
$web set-TCP Sack
$web set-outfile $outfile
$web set-flow_arrive [variable_of PackMimeHTTPFlowArrive $rate]
$web set-req_size [variable_of PackMimeHTTPFileSize $rate 0]
$web set-rsp_size [variable_of PackMimeHTTPFileSize $rate 1]
set nothing [new RandomVariable/Constant]
$nothing set val_ 0
$near add-rule [$clients id] [$servers id] [variable_of PackMimeHTTPXmit $rate 0] $nothing
$far add-rule [$clients id] [$servers id] [variable_of PackMimeHTTPXmit $rate 1] $nothing

set queue [$ns monitor-queue $left $right ""]
proc counters {} {
    global queue
    list [$queue set bdepartures_] [$queue set parrivals_] [$queue set pdrops_]
}
proc look {} {
    global ns web goal rate since first
    if {[$web get-pairs] < $goal} {
        $ns at [expr [$ns now] + 1] look
        return
    }
    lassign [counters] bytes offered dropped
    lassign $first bytes0 offered0 dropped0
    set seconds [expr [$ns now] - $since]
    set offered [expr $offered - $offered0]
    puts "rate $rate time [$ns now]\
        utilisation [expr ($bytes - $bytes0) * 8.0 / $seconds / 1e7]\
        plr [expr 1.0 * ($dropped - $dropped0) / $offered] offered $offered\
        objects [$web get-pairs]"
    exit 0
}
$ns at 0.0 "$web start"
$ns at 60.0 {set since [$ns now]; set first [counters]}
$ns at 61.0 look
$ns run
