//! The QUIC stack quinn-proto as the two ends of a flow: unmodified, and under the simulation's clock.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant as StdInstant;

use ackclock::law::{Bytes as Volume, Duration, Instant};
use ackclock::transport::{Datagram, Ecn, FlowSetup, Transport, TransportState};
use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    Event, StreamId, TransportConfig, VarInt,
};

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// The names of the two ends. No socket has them.
const CLIENT: SocketAddr = address(1);
const SERVER: SocketAddr = address(2);

const fn address(port: u16) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

/// The two clocks: quinn counts from any moment that the machine's clock has shown.
#[derive(Clone, Copy)]
struct Clock(StdInstant);

impl Clock {
    fn to_std(self, now: Instant) -> StdInstant {
        self.0 + std::time::Duration::from_nanos(now.as_nanos())
    }

    fn of_std(self, at: StdInstant) -> Instant {
        let since = at.saturating_duration_since(self.0).as_nanos();
        Instant::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

/// The application at an end.
enum App {
    /// Writes so much data on one stream; to the end of the run if there is no volume.
    Sends { stream: Option<StreamId>, left: Option<u64> },
    /// Reads all streams.
    Reads { streams: Vec<StreamId>, read: u64 },
}

/// One end: an endpoint of quinn, and its one connection.
pub struct Quinn {
    clock: Clock,
    endpoint: Endpoint,
    config: Arc<TransportConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    app: App,
    /// Answers of the endpoint itself, before there is a connection.
    answers: Vec<Datagram>,
    buffer: Vec<u8>,
    connected: bool,
    finished: bool,
    closed: bool,
}

/// The two ends of a flow whose sender has this congestion controller.
pub fn ends(setup: &FlowSetup, controller: Factory) -> (Quinn, Quinn) {
    let mut transport = TransportConfig::default();
    let size = u16::try_from(setup.largest_payload).expect("a datagram has less than 64 KiB");
    let large = VarInt::from_u32(1 << 30);
    transport
        .congestion_controller_factory(controller)
        // One size of packets, as TCP has: what is found out of a path's is another subject.
        .initial_mtu(size)
        .min_mtu(size)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        // Windows of flow control that never hold the sender back.
        .send_window(1 << 24)
        .receive_window(large)
        .stream_receive_window(large);
    let config = Arc::new(transport);
    let clock = Clock(StdInstant::now());
    let end = |number: u64, app| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&setup.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&number.to_le_bytes());
        let mut endpoint = EndpointConfig::default();
        endpoint.rng_seed(Some(seed));
        endpoint.max_udp_payload_size(size).expect("quinn takes any size above 1200");
        let server = (number == 1).then(|| {
            let mut server = quinn_plaintext::server_config();
            server.transport_config(Arc::clone(&config));
            Arc::new(server)
        });
        Quinn {
            clock,
            endpoint: Endpoint::new(Arc::new(endpoint), server, true, Some(seed)),
            config: Arc::clone(&config),
            connection: None,
            app,
            answers: Vec::new(),
            buffer: Vec::new(),
            connected: false,
            finished: false,
            closed: false,
        }
    };
    let left = setup.volume.map(Volume::get);
    let sends = App::Sends { stream: None, left };
    (end(0, sends), end(1, App::Reads { streams: Vec::new(), read: 0 }))
}

impl Quinn {
    /// Takes what the connection has to tell, and lets the application do what it can.
    fn turn(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.connected = true,
                Event::ConnectionLost { .. } => self.closed = true,
                Event::Stream(quinn_proto::StreamEvent::Finished { .. }) => self.finished = true,
                _ => {}
            }
        }
        if !self.connected {
            return;
        }
        match &mut self.app {
            App::Sends { stream, left } => {
                let id = *stream.get_or_insert_with(|| {
                    connection.streams().open(Dir::Uni).expect("the peer allows a stream")
                });
                write(connection, id, left);
            }
            App::Reads { streams, read: count } => {
                streams.extend(std::iter::from_fn(|| connection.streams().accept(Dir::Uni)));
                for id in streams {
                    *count += read(connection, *id);
                }
            }
        }
    }
}

/// Writes until quinn has enough.
fn write(connection: &mut Connection, id: StreamId, left: &mut Option<u64>) {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    while *left != Some(0) {
        let size = left.map_or(ZEROS.len() as u64, |left| left.min(ZEROS.len() as u64));
        let mut chunk = [Bytes::from_static(&ZEROS[..size as usize])];
        let Ok(written) = connection.send_stream(id).write_chunks(&mut chunk) else { return };
        if let Some(left) = left {
            *left -= written.bytes as u64;
            if *left == 0 {
                connection.send_stream(id).finish().expect("nobody has stopped it");
            }
        }
    }
}

/// Reads what has arrived in order, and says how much.
fn read(connection: &mut Connection, id: StreamId) -> u64 {
    let mut stream = connection.recv_stream(id);
    // A stream that was read to its end is gone.
    let Ok(mut chunks) = stream.read(true) else { return 0 };
    let mut count = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        count += chunk.bytes.len() as u64;
    }
    // Credit that is to be sent goes out when the simulation asks for datagrams.
    let _ = chunks.finalize();
    count
}

const fn to_quinn(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

const fn of_quinn(ecn: Option<EcnCodepoint>) -> Ecn {
    match ecn {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}

impl Transport for Quinn {
    fn open(&mut self, now: Instant) {
        let mut client = quinn_plaintext::client_config();
        client.transport_config(Arc::clone(&self.config));
        let now = self.clock.to_std(now);
        let connected = self.endpoint.connect(now, client, SERVER, "ackclock");
        self.connection = Some(connected.expect("the settings are right"));
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        let now = self.clock.to_std(now);
        let from = if matches!(self.app, App::Sends { .. }) { SERVER } else { CLIENT };
        let ecn = to_quinn(datagram.ecn);
        let data = BytesMut::from(Bytes::from(datagram.payload));
        self.buffer.clear();
        let event = self.endpoint.handle(now, from, None, ecn, data, &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                self.connection = Some(accepted.expect("the first connection is let in"));
            }
            Some(DatagramEvent::Response(transmit)) => self.answers.push(Datagram {
                payload: self.buffer[..transmit.size].to_vec(),
                ecn: of_quinn(transmit.ecn),
            }),
            None => {}
        }
        self.turn();
    }

    fn wake(&mut self, now: Instant) {
        let now = self.clock.to_std(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.turn();
    }

    fn transmit(&mut self, now: Instant) -> Option<Datagram> {
        if let Some(answer) = self.answers.pop() {
            return Some(answer);
        }
        let now = self.clock.to_std(now);
        let (_, connection) = self.connection.as_mut()?;
        self.buffer.clear();
        let transmit = connection.poll_transmit(now, 1, &mut self.buffer)?;
        let payload = self.buffer[..transmit.size].to_vec();
        Some(Datagram { payload, ecn: of_quinn(transmit.ecn) })
    }

    fn wake_at(&mut self) -> Option<Instant> {
        let (_, connection) = self.connection.as_mut()?;
        connection.poll_timeout().map(|at| self.clock.of_std(at))
    }

    fn state(&self) -> TransportState {
        let Some((_, connection)) = &self.connection else { return TransportState::default() };
        let path = connection.stats().path;
        let metrics = connection.congestion_state().metrics();
        let delivered = match &self.app {
            App::Reads { read, .. } => *read,
            App::Sends { .. } => 0,
        };
        TransportState {
            established: self.connected,
            closed: self.closed,
            delivered: Volume::new(delivered),
            completed: self.finished,
            cwnd: Some(Volume::new(path.cwnd)),
            ssthresh: metrics.ssthresh.filter(|at| *at < u64::MAX).map(Volume::new),
            srtt: Some(nanos(path.rtt)),
            lost_packets: path.lost_packets,
            congestion_events: path.congestion_events,
            ..TransportState::default()
        }
    }
}

fn nanos(time: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
