// SPDX-License-Identifier: BSD-2-Clause
//! echo (7), discard (9) and chargen (19) on a TAP, by smoltcp's own TapInterface, or on an Ethernet interface by its RawSocket: one frame
//! a system call.
use crate::socket;
use smoltcp::iface::{Config, Interface, PollIngressSingleResult, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::{wait, Device, Medium, RawSocket, TunTapInterface};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, Ipv4Address};
use std::os::fd::AsRawFd;

const BATCH: u32 = 64; // frames taken before the sockets are looked at
pub const SOCKETS: usize = 8; // for each service

#[derive(Clone, Copy)]
enum Service {
    Echo = 7,
    Discard = 9,
    Chargen = 19,
}

/// Returns whether the socket has something new to send or has made room.
fn work(socket: &mut tcp::Socket, service: Service, scratch: &mut [u8]) -> bool {
    if !socket.is_open() {
        return socket.listen(service as u16).is_ok();
    }
    if socket.is_listening() {
        return false;
    }
    let mut worked = false;
    match service {
        Service::Echo => {
            while socket.can_recv() && socket.can_send() {
                let most = scratch.len().min(socket.send_capacity() - socket.send_queue());
                let got = socket.recv_slice(&mut scratch[..most]).unwrap_or(0);
                socket.send_slice(&scratch[..got]).ok();
                worked = true;
            }
        }
        Service::Discard => {
            while socket.can_recv() {
                socket.recv(|data| (data.len(), ())).ok();
                worked = true;
            }
        }
        Service::Chargen => {
            while socket.can_send() && socket.send(|room| (room.len(), room.len())).unwrap_or(0) > 0 {
                worked = true;
            }
        }
    }
    if socket.state() == tcp::State::CloseWait && !socket.can_recv() {
        socket.close();
        worked = true;
    }
    worked
}

pub fn serve_tap(buffer: usize, tap: &str, address: &str) {
    serve(buffer, TunTapInterface::new(tap, Medium::Ethernet).expect("a TAP"), address, SOCKETS)
}

pub fn serve_packet(buffer: usize, interface: &str, address: &str, echoes: usize) {
    serve(buffer, RawSocket::new(interface, Medium::Ethernet).expect("a packet socket"), address, echoes)
}

/// Takes a batch of frames; returns whether there was one.
fn take<D: Device>(interface: &mut Interface, now: Instant, device: &mut D, sockets: &mut SocketSet) -> bool {
    interface.poll_maintenance(now);
    (0..BATCH).take_while(|_| interface.poll_ingress_single(now, device, sockets) != PollIngressSingleResult::None).count() > 0
}

fn open<D: Device>(device: &mut D, address: Ipv4Address) -> Interface {
    let mut config = Config::new(EthernetAddress([2, 0, 0, 0, address.octets()[3], address.octets()[2]]).into());
    config.random_seed = std::process::id() as u64;
    let mut interface = Interface::new(config, device, Instant::now());
    interface.update_ip_addrs(|all| all.push(IpCidr::new(IpAddress::Ipv4(address), 24)).unwrap());
    interface
}

/// The client of another one: bytes from its chargen for so long, a line of JSON.
pub fn take_packet(buffer: usize, interface: &str, address: &str, peer: &str, milliseconds: u64) {
    let mut device = RawSocket::new(interface, Medium::Ethernet).expect("a packet socket");
    let fd = device.as_raw_fd();
    let mut interface = open(&mut device, address.parse().expect("an IPv4 address"));
    let peer: Ipv4Address = peer.parse().expect("an IPv4 address");
    let mut sockets = SocketSet::new(vec![]);
    let handle = sockets.add(socket(buffer));
    let port = 49152 + (std::process::id() % 16384) as u16;
    let began = std::time::Instant::now();
    let connection = sockets.get_mut::<tcp::Socket>(handle);
    connection.connect(interface.context(), (peer, Service::Chargen as u16), port).expect("a connection");
    let mut count = 0;
    while began.elapsed().as_millis() < milliseconds as u128 {
        let now = Instant::now();
        let busy = take(&mut interface, now, &mut device, &mut sockets);
        let connection = sockets.get_mut::<tcp::Socket>(handle);
        assert!(connection.is_open(), "the connection ended");
        while connection.can_recv() {
            count += connection.recv(|data| (data.len(), data.len())).unwrap_or(0);
        }
        while interface.poll_egress(now, &mut device, &mut sockets) != PollResult::None {}
        if !busy {
            wait(fd, interface.poll_delay(now, &sockets)).expect("select");
        }
    }
    sockets.get_mut::<tcp::Socket>(handle).abort();
    while interface.poll_egress(Instant::now(), &mut device, &mut sockets) != PollResult::None {}
    println!("{{\"test\": \"source\", \"count\": {}, \"ns\": {}}}", count, began.elapsed().as_nanos());
}

fn serve<D: Device + AsRawFd>(buffer: usize, mut device: D, address: &str, echoes: usize) {
    let address: Ipv4Address = address.parse().expect("an IPv4 address");
    let fd = device.as_raw_fd();
    let mut interface = open(&mut device, address);
    let mut sockets = SocketSet::new(vec![]);
    let mut all: Vec<(SocketHandle, Service)> = vec![];
    for service in [Service::Echo, Service::Discard, Service::Chargen] {
        for _ in 0..if let Service::Echo = service { echoes } else { SOCKETS } {
            let mut socket = socket(buffer);
            socket.set_nagle_enabled(false);
            all.push((sockets.add(socket), service));
        }
    }
    let mut scratch = vec![0; 65536];
    loop {
        let now = Instant::now();
        let busy = take(&mut interface, now, &mut device, &mut sockets);
        for (handle, service) in &all {
            work(sockets.get_mut::<tcp::Socket>(*handle), *service, &mut scratch);
        }
        while interface.poll_egress(now, &mut device, &mut sockets) != PollResult::None {}
        if !busy {
            wait(fd, interface.poll_delay(now, &sockets)).expect("select");
        }
    }
}
