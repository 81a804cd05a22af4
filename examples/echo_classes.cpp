// SPDX-License-Identifier: BSD-2-Clause
// The echo server of echo_server.c in C++17: interfaces, sockets and their readiness as classes. As root:
//
//     build/host/examples/echo_classes tap0 10.0.0.1/24 &
//     ip addr add 10.0.0.2/24 dev tap0; nc 10.0.0.1 7
//
// Every header of Weir can be included from C++, where what it declares has C linkage. A class derives from struct
// weir_watch to be called when its socket has news, and its destructor closes the socket.
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "drivers/tap.h"
#include "ports/posix/posix.h"
#include "weir/socket.h"

namespace
{

// Throws what an enum weir_error says; else returns the value.
int check(const char *what, int result)
{
    if (result < 0)
        throw std::runtime_error(std::string(what) + ": " + weir_error_name(result));
    return result;
}

// A socket that is closed with its object, and whose object is told of news.
class Socket : private weir_watch
{
  public:
    Socket(weir *stack, weir_socket handle) : weir_watch{called}, stack_(stack), handle_(handle)
    {
        check("watch", weir_socket_set_user(stack_, handle_, static_cast<weir_watch *>(this)));
    }
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;
    virtual ~Socket() { (void)weir_socket_close(stack_, handle_); }

    // may delete the object, as its last act
  protected:
    virtual void news(uint32_t events) = 0;
    weir *stack() const { return stack_; }
    weir_socket handle() const { return handle_; }

  private:
    static void called(weir_watch *watch, weir_socket, uint32_t events) { static_cast<Socket *>(watch)->news(events); }
    weir *const stack_;
    const weir_socket handle_;
};

// A connection, which lives as long as its peer has something to say.
class Client : public Socket
{
  public:
    using Socket::Socket;

    // Moves what has arrived into the send queue in place, as far as there is room; the rest waits, and the peer's
    // window closes.
    void echo()
    {
        weir_slice in;
        weir_span out;
        while (weir_socket_peek(stack(), handle(), 0, &in, 1) > 0 &&
               weir_socket_reserve(stack(), handle(), in.length, &out, 1) > 0) {
            const uint32_t bytes = in.length < out.length ? in.length : out.length;
            std::memcpy(out.data, in.data, bytes);
            (void)weir_socket_commit(stack(), handle(), bytes);
            (void)weir_socket_consume(stack(), handle(), bytes);
        }
    }

  private:
    void news(uint32_t) override
    {
        weir_slice rest;
        echo();
        // The event that told of the end may have come before there was room for the rest, so what matters is whether
        // there is more to read.
        const int left = weir_socket_peek(stack(), handle(), 0, &rest, 1);
        if (left <= 0 && left != WEIR_AGAIN)
            delete this;  // what is queued still goes out, then FIN
    }
};

class Server : public Socket
{
  public:
    Server(weir *stack, uint16_t port) : Socket(stack, check("open", weir_socket_open(stack, WEIR_STREAM, 0)))
    {
        const weir_endpoint local = {weir_addr_any(), port};
        check("bind", weir_socket_bind(stack, handle(), &local));
        check("listen", weir_socket_listen(stack, handle(), 16));
    }

  private:
    void news(uint32_t) override
    {
        weir_socket socket;
        while ((socket = weir_socket_accept(stack(), handle())) > 0) {
            Client *client = new (std::nothrow) Client(stack(), socket);
            if (client == nullptr)
                (void)weir_socket_abort(stack(), socket);
            else
                client->echo();  // it may have come with data
        }
    }
};

// A stack with one interface on a TAP, driven by this thread.
class Host
{
  public:
    Host(const char *tap_name, weir_addr address, uint8_t prefix)
    {
        if (tap_open(&tap_, tap_name, TUNTAP_UP) < 0)
            throw std::runtime_error(tap_error(&tap_));
        if (posix_host_init(&port_, nullptr) != 0 ||
            (stack_ = weir_create(nullptr, 0, &port_.port, nullptr)) == nullptr)
            throw std::runtime_error("no memory for a stack");
        tap_attach(&tap_, &netif_, "eth0");
        posix_host_attach(&port_, stack_);
        check("interface", weir_netif_add(stack_, &netif_));
        check("address", weir_netif_set_address(&netif_, address, prefix, WEIR_ADDRESS_AT_ONCE));
        if (posix_host_add(&port_, &netif_, tap_fd(&tap_)) != 0)
            throw std::runtime_error("no room for the interface");
    }
    weir *stack() { return stack_; }
    [[noreturn]] void run()
    {
        for (;;)
            posix_host_poll(&port_, -1);
    }

  private:
    tap tap_{};
    posix_host port_{};
    weir_netif netif_{};
    weir *stack_ = nullptr;
};

}  // namespace

int main(int argc, char **argv)
{
    unsigned a, b, c, d, prefix;
    if (argc != 3 || std::sscanf(argv[2], "%u.%u.%u.%u/%u", &a, &b, &c, &d, &prefix) != 5 || (a | b | c | d) > 255 ||
        prefix > 32) {
        std::fputs("usage: echo_classes TAP A.B.C.D/N\n", stderr);
        return 2;
    }
    try {
        const auto host =
            std::make_unique<Host>(argv[1], weir_ip4(uint8_t(a), uint8_t(b), uint8_t(c), uint8_t(d)), uint8_t(prefix));
        Server server(host->stack(), 7);
        host->run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "echo_classes: %s\n", error.what());
        return 1;
    }
}
