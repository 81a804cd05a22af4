#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a build's thermostat keys (keys.h) in FOLDER: keys.c with the device's certificate for thermostat.local and its address, its key, its authority
and its password; ca.pem for who looks at it; broker.pem and broker.key for a broker; password. An authority that is there already is kept.
usage: keys.py FOLDER DEVICE-ADDRESS BROKER-ADDRESS"""
import pathlib
import secrets
import subprocess
import sys
import time


def openssl(folder, *words):
    return subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, capture_output=True).stdout


def new_key(folder, name):
    openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{name}.key")


def authority(folder):
    new_key(folder, "ca")
    openssl(folder, "req", "-x509", "-new", "-key", "ca.key", "-days", 3650, "-subj", "/CN=Thermostat authority", "-out", "ca.pem")


def certificate(folder, name, subject, alternatives):
    """name.pem and name.key, for a server."""
    new_key(folder, name)
    openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN={subject}", "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(f"subjectAltName={alternatives}\nextendedKeyUsage=serverAuth\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", 3650, "-extfile", f"{name}.ext",
            "-out", f"{name}.pem")


def array(name, data):
    rows = [", ".join(f"{byte:#04x}" for byte in data[at:at + 16]) + "," for at in range(0, len(data), 16)]
    return [f"const uint8_t {name}[] = {{", *(f"    {row}" for row in rows), "};", f"const uint32_t {name}_bytes = sizeof {name};"]


def main(folder, device, broker):
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "ca.pem").exists():
        authority(folder)
    certificate(folder, "device", "thermostat.local", f"DNS:thermostat.local,IP:{device}")
    certificate(folder, "broker", "broker", f"IP:{broker}")
    password = secrets.token_urlsafe(12)
    (folder / "password").write_text(password + "\n")
    lines = ['#include "examples/thermostat/keys.h"', ""]
    lines += array("keys_certificate", openssl(folder, "x509", "-in", "device.pem", "-outform", "DER"))
    lines += array("keys_private", openssl(folder, "pkcs8", "-topk8", "-nocrypt", "-in", "device.key", "-outform", "DER"))
    lines += array("keys_authority", openssl(folder, "x509", "-in", "ca.pem", "-outform", "DER"))
    lines += [f"const int64_t keys_time = {int(time.time()) + 1};", f'const char keys_password[] = "{password}";']
    (folder / "keys.c").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:])
