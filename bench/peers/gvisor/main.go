// SPDX-License-Identifier: BSD-2-Clause

// gVisor's netstack with echo (7), discard (9) and chargen (19) on an Ethernet interface, through a packet socket:
//
//	gvisor-host IFNAME ADDRESS BUFFER
//	gvisor-host IFNAME ADDRESS BUFFER source PEER MS    the client of another one: bytes from its chargen for so
//	                                                    long, a line of JSON
//
// Its settings are its own best: cubic (reno is its default), SACK and RACK as they come, buffers that the path fits
// into (BUFFER bytes each way). Checksums are its own, segments are cut by it.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/network/arp"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	nic    = 1
	echo   = 7
	drop   = 9
	source = 19
)

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "gvisor-host: %s: %v\n", what, err)
		os.Exit(1)
	}
}

func must(err tcpip.Error, what string) {
	if err != nil {
		check(fmt.Errorf("%v", err), what)
	}
}

// A packet socket on the interface: every frame, none of its own.
func packetSocket(name string) int {
	const all = 0x0300 // ETH_P_ALL in network order
	device, err := net.InterfaceByName(name)
	check(err, name)
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_NONBLOCK, all)
	check(err, "packet socket")
	check(syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: all, Ifindex: device.Index}), "bind")
	return fd
}

func netstack(name string, address net.IP, buffer int) *stack.Stack {
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol, arp.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	cubic, sack := tcpip.CongestionControlOption("cubic"), tcpip.TCPSACKEnabled(true)
	sending := tcpip.TCPSendBufferSizeRangeOption{Min: 4096, Default: buffer, Max: buffer}
	receiving := tcpip.TCPReceiveBufferSizeRangeOption{Min: 4096, Default: buffer, Max: buffer}
	must(s.SetTransportProtocolOption(tcp.ProtocolNumber, &cubic), "cubic")
	must(s.SetTransportProtocolOption(tcp.ProtocolNumber, &sack), "SACK")
	must(s.SetTransportProtocolOption(tcp.ProtocolNumber, &sending), "send buffer")
	must(s.SetTransportProtocolOption(tcp.ProtocolNumber, &receiving), "receive buffer")
	link, err := fdbased.New(&fdbased.Options{
		FDs: []int{packetSocket(name)}, MTU: 1500, EthernetHeader: true, Address: tcpip.LinkAddress([]byte{2, 0, 0, 0, 0x47, address.To4()[3]}),
		PacketDispatchMode: fdbased.RecvMMsg,
	})
	check(err, "link")
	must(s.CreateNIC(nic, link), "interface")
	own := tcpip.ProtocolAddress{Protocol: ipv4.ProtocolNumber, AddressWithPrefix: tcpip.AddrFromSlice(address.To4()).WithPrefix()}
	own.AddressWithPrefix.PrefixLen = 24
	must(s.AddProtocolAddress(nic, own, stack.AddressProperties{}), "address")
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	return s
}

func serve(s *stack.Stack, port uint16, work func(net.Conn)) {
	listener, err := gonet.ListenTCP(s, tcpip.FullAddress{NIC: nic, Port: port}, ipv4.ProtocolNumber)
	check(err, "listen")
	for {
		connection, err := listener.Accept()
		check(err, "accept")
		go func() {
			work(connection)
			connection.Close()
		}()
	}
}

func take(s *stack.Stack, peer net.IP, milliseconds int) {
	began := time.Now()
	address := tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(peer.To4()), Port: source}
	connection, err := gonet.DialTCP(s, address, ipv4.ProtocolNumber)
	check(err, "connect")
	count, block := 0, make([]byte, 65536)
	connection.SetReadDeadline(began.Add(time.Duration(milliseconds) * time.Millisecond))
	for {
		got, err := connection.Read(block)
		count += got
		if err != nil && time.Since(began) < time.Duration(milliseconds)*time.Millisecond {
			check(err, "read")
		} else if err != nil {
			break
		}
	}
	took := time.Since(began)
	connection.Close()
	time.Sleep(100 * time.Millisecond) // the reset leaves
	fmt.Printf("{\"test\": \"source\", \"count\": %d, \"ns\": %d}\n", count, took.Nanoseconds())
}

func main() {
	client := len(os.Args) == 7 && os.Args[4] == "source"
	if len(os.Args) != 4 && !client || net.ParseIP(os.Args[2]) == nil {
		fmt.Fprintln(os.Stderr, "usage: gvisor-host IFNAME ADDRESS BUFFER [source PEER MS]")
		os.Exit(2)
	}
	buffer, err := strconv.Atoi(os.Args[3])
	check(err, "buffer")
	s := netstack(os.Args[1], net.ParseIP(os.Args[2]), buffer)
	if client {
		milliseconds, err := strconv.Atoi(os.Args[6])
		check(err, "milliseconds")
		take(s, net.ParseIP(os.Args[5]), milliseconds)
		return
	}
	go serve(s, echo, func(c net.Conn) { io.CopyBuffer(c, c, make([]byte, 2048)) })
	go serve(s, drop, func(c net.Conn) { io.Copy(io.Discard, c) })
	serve(s, source, func(c net.Conn) {
		block := make([]byte, 65536)
		for {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
}
