// SPDX-License-Identifier: BSD-2-Clause
//! Two smoltcps back to back in memory, one thread, virtual time: the same harness as bench/pair/weir_pair.c. Batches of three frames, one
//! copy on the link (smoltcp writes its frame straight into the queue), checksums made and verified. The functions `measured_…` are
//! what callgrind collects.
use crate::socket;
use smoltcp::iface::{Config, Interface, PollIngressSingleResult, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr};

const MSS: u64 = 1460;
const QUEUE: usize = 256;
const BATCH: u32 = 3;
const FRAME: usize = 1514;

struct Frame {
    length: usize,
    bytes: [u8; FRAME],
}

/// Frames on their way to one end.
struct Queue {
    frames: Vec<Frame>,
    head: usize,
    tail: usize,
    carried: u64,
}

/// An end's view of the link. The queues live as long as the program and are used by one thread, never two borrows at once.
struct Link {
    incoming: *mut Queue,
    outgoing: *mut Queue,
    budget: u32,
    stopped: bool,
}

struct Receive(*mut Queue);
struct Send(*mut Queue);

impl RxToken for Receive {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        let queue = unsafe { &mut *self.0 };
        let frame = &queue.frames[queue.head % QUEUE];
        queue.head += 1;
        f(&frame.bytes[..frame.length])
    }
}

impl TxToken for Send {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let queue = unsafe { &mut *self.0 };
        let frame = &mut queue.frames[queue.tail % QUEUE];
        queue.tail += 1;
        queue.carried += 1;
        frame.length = length;
        f(&mut frame.bytes[..length])
    }
}

impl Link {
    fn waiting(&self) -> bool {
        let queue = unsafe { &*self.incoming };
        queue.head != queue.tail
    }
    fn full(&self) -> bool {
        let queue = unsafe { &*self.outgoing };
        queue.tail - queue.head == QUEUE
    }
    /// A full queue takes frames again when half of it is free, as a network card's does.
    fn ready(&mut self) -> bool {
        let queue = unsafe { &*self.outgoing };
        let queued = queue.tail - queue.head;
        self.stopped = queued == QUEUE || (self.stopped && queued > QUEUE / 2);
        !self.stopped
    }
}

impl Device for Link {
    type RxToken<'a> = Receive;
    type TxToken<'a> = Send;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.max_transmission_unit = FRAME;
        capabilities.medium = Medium::Ethernet;
        capabilities
    }
    fn receive(&mut self, _now: Instant) -> Option<(Receive, Send)> {
        if self.budget == 0 || !self.waiting() || self.full() {
            return None;
        }
        self.budget -= 1;
        Some((Receive(self.incoming), Send(self.outgoing)))
    }
    fn transmit(&mut self, _now: Instant) -> Option<Send> {
        if self.ready() {
            Some(Send(self.outgoing))
        } else {
            None
        }
    }
}

struct End {
    link: Link,
    interface: Interface,
    sockets: SocketSet<'static>,
}

impl End {
    fn new(index: u8, incoming: *mut Queue, outgoing: *mut Queue) -> End {
        let mut link = Link { incoming, outgoing, budget: 0, stopped: false };
        let mut config = Config::new(EthernetAddress([2, 0, 0, 0, 0, index + 1]).into());
        config.random_seed = 1 + index as u64;
        let mut interface = Interface::new(config, &mut link, Instant::from_micros(0));
        interface.update_ip_addrs(|all| all.push(IpCidr::new(IpAddress::v4(10, 0, 0, index + 1), 8)).unwrap());
        End { link, interface, sockets: SocketSet::new(vec![]) }
    }
    fn get(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut::<tcp::Socket>(handle)
    }
    /// A batch in, one poll.
    fn turn(&mut self, now_us: i64) {
        let now = Instant::from_micros(now_us);
        self.link.budget = BATCH;
        self.interface.poll_maintenance(now);
        while self.interface.poll_ingress_single(now, &mut self.link, &mut self.sockets) != PollIngressSingleResult::None {}
        self.send(now_us);
    }
    fn send(&mut self, now_us: i64) {
        while self.interface.poll_egress(Instant::from_micros(now_us), &mut self.link, &mut self.sockets) != PollResult::None {}
    }
}

struct Pair {
    client: End,
    server: End,
    now_us: i64,
    buffer: usize,
    block: Vec<u8>,
    next_port: u16,
}

fn queue() -> *mut Queue {
    let frames = (0..QUEUE).map(|_| Frame { length: 0, bytes: [0; FRAME] }).collect();
    Box::into_raw(Box::new(Queue { frames, head: 0, tail: 0, carried: 0 }))
}

impl Pair {
    fn new(buffer: usize) -> Pair {
        let (there, back) = (queue(), queue());
        Pair {
            client: End::new(0, back, there),
            server: End::new(1, there, back),
            now_us: 1_000_000,
            buffer,
            block: vec![0; 65536],
            next_port: 40000,
        }
    }
    fn turns(&mut self) {
        self.now_us += 1;
        self.client.turn(self.now_us);
        self.server.turn(self.now_us);
    }
    fn settle(&mut self) {
        loop {
            self.turns();
            if !self.client.link.waiting() && !self.server.link.waiting() {
                return;
            }
        }
    }
    fn add(&mut self, buffer: usize) -> (SocketHandle, SocketHandle) {
        let mut pair = [socket(buffer), socket(buffer)];
        pair.iter_mut().for_each(|socket| socket.set_nagle_enabled(false));
        let [client, server] = pair;
        (self.client.sockets.add(client), self.server.sockets.add(server))
    }
    fn connect(&mut self, client: SocketHandle, server: SocketHandle) {
        self.next_port = if self.next_port == 65535 { 1024 } else { self.next_port + 1 };
        let port = self.next_port;
        self.server.get(server).listen(80).unwrap();
        let context = self.client.interface.context();
        let socket = self.client.sockets.get_mut::<tcp::Socket>(client);
        socket.connect(context, (IpAddress::v4(10, 0, 0, 2), 80), port).unwrap();
        while self.server.get(server).state() != tcp::State::Established {
            self.turns();
        }
    }
    fn frames(&self) -> u64 {
        unsafe { (*self.client.link.outgoing).carried + (*self.server.link.outgoing).carried }
    }
    /// The end's turn, then what it wants: a byte.
    fn await_byte(&mut self, at_server: bool, socket: SocketHandle) {
        let mut byte = [0];
        loop {
            self.now_us += 1;
            let end = if at_server { &mut self.server } else { &mut self.client };
            end.turn(self.now_us);
            if end.get(socket).recv_slice(&mut byte) == Ok(1) {
                return;
            }
        }
    }
}

fn fill(pair: &mut Pair, from: SocketHandle, left: &mut u64, copying: bool) {
    let Pair { client, block, .. } = pair;
    let socket = client.get(from);
    while *left > 0 && socket.can_send() {
        let most = (*left).min(65536) as usize;
        let queued = if copying {
            socket.send_slice(&block[..most]).unwrap()
        } else {
            socket.send(|room| (room.len().min(most), room.len().min(most))).unwrap()
        };
        *left -= queued as u64;
    }
}

fn drain(pair: &mut Pair, to: SocketHandle, got: &mut u64, copying: bool) {
    let Pair { server, block, .. } = pair;
    let socket = server.get(to);
    while socket.can_recv() {
        let taken = if copying { socket.recv_slice(block).unwrap() } else { socket.recv(|data| (data.len(), data.len())).unwrap() };
        *got += taken as u64;
    }
}

#[no_mangle]
#[inline(never)]
fn measured_bulk(pair: &mut Pair, from: SocketHandle, to: SocketHandle, bytes: u64, copying: bool) {
    let (mut left, mut got) = (bytes, 0);
    while got < bytes {
        fill(pair, from, &mut left, copying);
        pair.turns();
        drain(pair, to, &mut got, copying);
    }
}

#[no_mangle]
#[inline(never)]
fn measured_echo(pair: &mut Pair, client: SocketHandle, server: SocketHandle, rounds: u64) {
    for _ in 0..rounds {
        pair.client.get(client).send_slice(&[1]).unwrap();
        pair.client.send(pair.now_us);
        pair.await_byte(true, server);
        pair.server.get(server).send_slice(&[1]).unwrap();
        pair.server.send(pair.now_us);
        pair.await_byte(false, client);
    }
}

/// The same two sockets serve again and again: smoltcp has no others than those it was given.
#[no_mangle]
#[inline(never)]
fn measured_connect(pair: &mut Pair, client: SocketHandle, server: SocketHandle, count: u64) {
    for _ in 0..count {
        pair.connect(client, server);
        pair.client.get(client).close();
        pair.turns();
        pair.turns();
        pair.server.get(server).close();
        pair.settle();
        while pair.server.get(server).is_open() || pair.client.get(client).is_open() {
            pair.turns();
        }
    }
}

pub fn run(test: &str, buffer: usize, count: u64, open: u64) {
    if test == "idle" {
        let bytes = std::mem::size_of::<tcp::Socket>() + 2 * buffer;
        println!("{{\"stack\": \"smoltcp\", \"test\": \"idle\", \"bytes\": {}, \"bytes_without_buffers\": {}}}", bytes, bytes - 2 * buffer);
        return;
    }
    let mut pair = Pair::new(buffer);
    for _ in 0..open {
        let (client, server) = pair.add(1024);
        pair.connect(client, server);
        pair.settle();
    }
    let (client, server) = pair.add(pair.buffer);
    let mut measure: Box<dyn FnMut(&mut Pair, u64)> = match test {
        "connect" => Box::new(move |pair, count| measured_connect(pair, client, server, count)),
        "echo" => Box::new(move |pair, count| measured_echo(pair, client, server, count)),
        _ => {
            let copying = test == "copy";
            Box::new(move |pair, count| measured_bulk(pair, client, server, count * MSS, copying))
        }
    };
    if test != "connect" {
        pair.connect(client, server);
    }
    measure(&mut pair, if test == "connect" || test == "echo" { 100 } else { 2000 });
    let (before, start) = (pair.frames(), std::time::Instant::now());
    measure(&mut pair, count);
    let ns = start.elapsed().as_nanos();
    println!("{{\"stack\": \"smoltcp\", \"test\": \"{}\", \"units\": {}, \"frames\": {}, \"ns\": {}}}", test, count, pair.frames() - before, ns);
}
