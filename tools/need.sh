#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# need.sh GOAL: sees that Debian's packages for a make goal are there. Root: installs what is missing. Others: prints the one line
# that does, and exits 2. A word PACKAGE:COMMAND is also satisfied by the command, wherever it came from.
set -eu
base="gcc libc6-dev make python3"
# clang's run-time library for sanitizers and fuzzing carries clang's version in its name.
clang="clang libclang-rt-$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | sort -n | tail -n 1 | grep . || echo 14)-dev"
python3_version() { apt-cache depends python3 2>/dev/null | sed -n 's/^ *Depends: python\([0-9.]*\)$/\1/p' | head -n 1 | grep . || echo 3.11; }
case ${1:-} in
run) goal="iproute2 iputils-ping curl iperf3 dnsmasq-base radvd chrony util-linux procps" ;;
board) goal="gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm gcc-mips-linux-gnu gcc-mipsel-linux-gnu qemu-system-mips qemu-system-x86 python3-venv iproute2 iputils-ping curl util-linux procps" ;;
test) goal="g++ cmake ninja-build pkg-config meson gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm qemu-system-mips qemu-system-x86 libcmocka-dev gdb qemu-user gcc-mips-linux-gnu gcc-mipsel-linux-gnu libc6-dev-mips-cross dpkg-dev python3-venv $clang iproute2 iputils-ping curl wget netcat-openbsd
            socat redis-server redis-tools memcached wrk haproxy git openssh-server openssh-client avahi-daemon avahi-utils
            dbus-daemon mosquitto mosquitto-clients iperf3 dnsmasq-base radvd kea-dhcp6-server chrony nftables nginx ethtool tcpdump util-linux procps chromium
            chromium-driver postgresql atftpd libcoap3-bin isc-dhcp-client udhcpc rsyslog rsyslog-openssl openssl libbearssl-dev tshark" ;;
docs) goal="python3-venv" ;;
check) goal="iproute2 netcat-openbsd pkg-config qemu-system-arm util-linux procps cppcheck g++ python3-venv dpkg-dev libbearssl-dev libcmocka-dev $clang clang-format clang-tidy gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-mips-linux-gnu libc6-dev-mips-cross git" ;;
bench-metal) goal="gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm qemu-system-x86 qemu-user dpkg-dev python3-venv iproute2 ethtool util-linux procps" ;;
size) goal="gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-user" ;;
bench) goal="g++ cargo-web:cargo rustc-web:rustc binutils valgrind dpkg-dev python3-venv iproute2 ethtool util-linux procps nginx curl openssl" ;;
bench-realtime) goal="g++ python3-venv gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm iproute2 ethtool util-linux procps" ;;
lab) goal="g++ python3-venv iproute2 iputils-ping iperf3 ethtool util-linux procps user-mode-linux busybox-static" ;;
fuzz) goal="$clang" ;;
tls) goal="dpkg-dev" ;;
thermostat) goal="dpkg-dev openssl mosquitto mosquitto-clients" ;;
attack) goal="python3-venv hping3 nmap slowhttptest thc-ipv6 iproute2 util-linux procps" ;;
soak) goal="iproute2 util-linux procps" ;;
compat) goal="python3-venv iproute2 ethtool util-linux procps curl wget netcat-openbsd socat iperf3 nginx redis-server redis-tools memcached wrk haproxy git
            openssh-server openssh-client dnsmasq-base postgresql libpython$(python3_version)-testsuite" ;;
prove) goal="frama-c-base why3 z3" ;;
sim) goal="" ;;
*)
    echo "usage: tools/need.sh run|board|test|check|size|bench|bench-metal|bench-realtime|lab|fuzz|attack|soak|sim|prove|tls|thermostat|compat|docs" >&2
    exit 64
    ;;
esac

missing=
for word in $base $goal; do
    package=${word%:*}
    case $word in *:*) ! command -v "${word#*:}" >/dev/null || continue ;; esac
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "missing packages; as root:  apt-get update && apt-get install -y --no-install-recommends$missing" >&2
    exit 2
fi
echo "installing:$missing"
mkdir -p build
export DEBIAN_FRONTEND=noninteractive
# Tests start the servers that they need, in namespaces of their own: none of what is installed here is started by itself.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
fi
# shellcheck disable=SC2086
{ apt-get update && apt-get install -y --no-install-recommends $missing; } >build/apt-install.log 2>&1 || {
    tail -n 20 build/apt-install.log >&2
    exit 2
}
