// SPDX-License-Identifier: BSD-2-Clause
// A program as Embedded Xinu's routers run them: two interfaces, each with an address by DHCP at boot, a thread for
// each service.
//   port 7, TCP and UDP   echo, by two threads and one
//   port 8, TCP           two bytes name a port; what follows goes to that port of the gateway behind ETH1, and answers
//                         come back
#include "examples/xinu/boot.h"

#include "api/xinu/xinu.h"

#define DHCP_MS 40000u
#define ECHO_PORT 7u
#define RELAY_PORT 8u

static struct dhcpData leases[NETHER];

static bool bring_up(int descrp)
{
    struct dhcpData *lease = &leases[descrp];
    if (open(descrp) == SYSERR || dhcpClient(descrp, DHCP_MS, lease) != OK ||
        netUp(descrp, &lease->ip, &lease->mask, &lease->gateway) != OK)
        return false;
    print(descrp == ETH0 ? "xinu: ETH0 has " : "xinu: ETH1 has ");
    print_address(lease->ip.addr);
    print("\n");
    return true;
}

// Both ask at the same time: a server takes its time, and so does looking whether somebody else has the address.
static volatile int outcome[NETHER];  // OK or SYSERR when it is known

static void bring_up_thread(int descrp) { outcome[descrp] = bring_up(descrp) ? OK : SYSERR; }

static void tcp_echo(int device)
{
    char data[512];
    for (;;) {
        if (open(device, NULL, NULL, ECHO_PORT, 0u, TCP_PASSIVE) == SYSERR)
            continue;
        (void)control(device, TCP_CTRL_READSOME, 1, 0);
        for (int got; (got = read(device, data, sizeof data)) > 0 && write(device, data, (unsigned)got) == got;)
            ;
        (void)close(device);
    }
}

// A passive device: each datagram comes with its headers, whose ends are exchanged for the answer.
static void udp_echo(int device)
{
    unsigned char packet[UDP_PSEUDO_LEN + UDP_HDR_LEN + UDP_MAX_DATALEN];
    if (open(device, NULL, NULL, ECHO_PORT, 0u) == SYSERR)
        return;
    (void)control(device, UDP_CTRL_SETFLAG, UDP_FLAG_PASSIVE, 0);
    for (;;) {
        const int got = read(device, packet, sizeof packet);
        if (got < UDP_PSEUDO_LEN + UDP_HDR_LEN)
            continue;
        for (unsigned i = 0; i < 4; i++) {
            const unsigned char byte = packet[i];
            packet[i] = packet[i + 4];
            packet[i + 4] = byte;
        }
        for (unsigned i = UDP_PSEUDO_LEN; i < UDP_PSEUDO_LEN + 2; i++) {
            const unsigned char byte = packet[i];
            packet[i] = packet[i + 2];
            packet[i + 2] = byte;
        }
        (void)write(device, packet, (unsigned)got);
    }
}

// Echoes of so many bytes come back before the next ones go out.
static void relay_between(int client, int server)
{
    char data[256];
    for (int got; (got = read(client, data, sizeof data)) > 0;)
        if (write(server, data, (unsigned)got) != got || read(server, data, (unsigned)got) != got ||
            write(client, data, (unsigned)got) != got)
            return;
}

static void relay(int client)
{
    const int server = tcpAlloc();
    unsigned char port[2];
    for (;;) {
        if (open(client, &leases[ETH0].ip, NULL, RELAY_PORT, 0u, TCP_PASSIVE) == SYSERR)
            continue;
        if (read(client, port, 2) == 2 && open(server, &leases[ETH1].ip, &leases[ETH1].gateway, 0u,
                                               (unsigned)port[0] << 8 | port[1], TCP_ACTIVE) == OK) {
            (void)control(client, TCP_CTRL_READSOME, 1, 0);
            relay_between(client, server);
            (void)close(server);
        }
        (void)close(client);
    }
}

void xinu_main(void)
{
    bool good = start_thread(bring_up_thread, ETH1);
    bring_up_thread(ETH0);
    while (good && outcome[ETH1] == 0)
        sleep_ms(50);
    good = good && outcome[ETH0] == OK && outcome[ETH1] == OK && start_thread(tcp_echo, tcpAlloc()) &&
           start_thread(tcp_echo, tcpAlloc()) && start_thread(udp_echo, udpAlloc()) && start_thread(relay, tcpAlloc());
    print(good ? "xinu: services are running\n" : "xinu: no address, or no memory\n");
}
