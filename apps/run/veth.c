// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/veth.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
    struct nlmsghdr header;
    struct ifinfomsg info;
    uint8_t attributes[256];
};

// An attribute at the message's end; what comes next lies in it until attribute_close.
static struct rtattr *attribute_open(struct message *message, uint16_t type)
{
    struct rtattr *const made = (struct rtattr *)(void *)((uint8_t *)message + message->header.nlmsg_len);
    made->rta_type = type;
    made->rta_len = RTA_LENGTH(0);
    message->header.nlmsg_len += RTA_LENGTH(0);
    return made;
}

static void put(struct message *message, const void *data, size_t bytes)
{
    memcpy((uint8_t *)message + message->header.nlmsg_len, data, bytes);
    message->header.nlmsg_len = (uint32_t)NLMSG_ALIGN(message->header.nlmsg_len + bytes);
}

static void attribute_close(struct message *message, struct rtattr *opened, size_t slack)
{
    opened->rta_len = (uint16_t)((uint8_t *)message + message->header.nlmsg_len - (uint8_t *)opened - slack);
}

static void text(struct message *message, uint16_t type, const char *value)
{
    struct rtattr *const made = attribute_open(message, type);
    const size_t bytes = strlen(value) + 1;
    put(message, value, bytes);
    attribute_close(message, made, NLMSG_ALIGN(bytes) - bytes);
}

static int acknowledged(int fd)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        uint8_t rest[512];
    } answer;
    if (recv(fd, &answer, sizeof answer, 0) < (ssize_t)(sizeof answer.header + sizeof answer.error))
        return EIO;
    return answer.header.nlmsg_type == NLMSG_ERROR ? -answer.error.error : EIO;
}

static int raise_one(const char *name)
{
    struct ifreq request = {0};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    const int error = fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

int run_veth_make(const char *name, const char *peer)
{
    struct message message = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
                                         .nlmsg_type = RTM_NEWLINK,
                                         .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK}};
    const struct ifinfomsg none = {0};
    text(&message, IFLA_IFNAME, name);
    struct rtattr *const link = attribute_open(&message, IFLA_LINKINFO);
    text(&message, IFLA_INFO_KIND, "veth");
    struct rtattr *const data = attribute_open(&message, IFLA_INFO_DATA);
    struct rtattr *const other = attribute_open(&message, VETH_INFO_PEER);
    put(&message, &none, sizeof none);
    text(&message, IFLA_IFNAME, peer);
    attribute_close(&message, other, 0);
    attribute_close(&message, data, 0);
    attribute_close(&message, link, 0);
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return errno;
    int error = send(fd, &message, message.header.nlmsg_len, 0) < 0 ? errno : acknowledged(fd);
    close(fd);
    error = error ? error : raise_one(name);
    return error ? error : raise_one(peer);
}
