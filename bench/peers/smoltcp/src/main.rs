// SPDX-License-Identifier: BSD-2-Clause
//! smoltcp for the benchmarks, with buffers of BYTES in each direction of each socket:
//!
//!     smoltcp-bench bulk|copy|echo|connect|idle BYTES COUNT [OPEN]    two of it back to back in memory, as bench/pair/weir_pair.c
//!     smoltcp-bench host BYTES TAP ADDRESS                            echo, discard and chargen on a TAP of Linux
//!     smoltcp-bench packet BYTES IFNAME ADDRESS [ECHOES]              the same (so many echoes at once) on an Ethernet interface, through a packet socket
//!     smoltcp-bench packet BYTES IFNAME ADDRESS source PEER MS        the client of that: bytes from chargen for so long, a line of JSON
mod host;
mod pair;

use smoltcp::socket::tcp;

fn socket(buffer: usize) -> tcp::Socket<'static> {
    tcp::Socket::new(tcp::SocketBuffer::new(vec![0; buffer]), tcp::SocketBuffer::new(vec![0; buffer]))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize| arguments.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(test), Some(buffer), Some(what)) = (arguments.get(1), number(2), arguments.get(3)) else {
        eprintln!("usage: smoltcp-bench bulk|copy|echo|connect|idle BYTES COUNT [OPEN]\n       smoltcp-bench host BYTES TAP ADDRESS");
        std::process::exit(2);
    };
    if test == "host" {
        host::serve_tap(buffer as usize, what, &arguments[4]);
    } else if test == "packet" && arguments.get(5).is_some_and(|word| word == "source") {
        host::take_packet(buffer as usize, what, &arguments[4], &arguments[6], number(7).expect("milliseconds"));
    } else if test == "packet" {
        host::serve_packet(buffer as usize, what, &arguments[4], number(5).map_or(host::SOCKETS, |count| count as usize));
    } else {
        pair::run(test, buffer as usize, number(3).expect("a count"), number(4).unwrap_or(0));
    }
}
