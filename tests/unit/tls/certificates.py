#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes certificates.h: authorities, certificates and keys for the tests of api/tls, good from 2026 to 2046. (Needs the package cryptography;
the keys are known to everybody.) usage: certificates.py > certificates.h"""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

BEGIN, END = datetime.datetime(2026, 1, 1), datetime.datetime(2046, 1, 1)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, key, issuer=None, issuer_key=None, authority=False, names=(), usage=None):
    builder = x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer or subject)).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(BEGIN).not_valid_after(END)
    builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(
            [x509.IPAddress(ipaddress.ip_address(n)) if n[0].isdigit() else x509.DNSName(n) for n in names]), critical=False)
    if usage:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    return builder.sign(issuer_key or key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def show(symbol, text):
    lines = "\n".join(f'    "{line}\\n"' for line in text.strip().split("\n"))
    print(f"static const char {symbol}[] =\n{lines};")


def main():
    curve = ec.SECP256R1()
    ca, other_ca, middle, server, other, client = (ec.generate_private_key(curve) for _ in range(6))
    big, small = rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 1024)
    print("// SPDX-License-Identifier: BSD-2-Clause")
    print("// Made by certificates.py.\n// clang-format off")
    print("#ifndef TESTS_TLS_CERTIFICATES_H\n#define TESTS_TLS_CERTIFICATES_H\n")
    show("ca_certificate", certificate("Weir test authority", ca, authority=True))
    show("other_ca_certificate", certificate("Another authority", other_ca, authority=True))
    middle_certificate = certificate("Weir test intermediate", middle, "Weir test authority", ca, authority=True)
    server_names = ("weir.example", "*.wild.example", "10.0.0.2")
    show("server_certificate", certificate("weir.example", server, "Weir test authority", ca, names=server_names, usage=ExtendedKeyUsageOID.SERVER_AUTH))
    show("server_key", pem(server))
    leaf = certificate("weir.example", server, "Weir test intermediate", middle, names=server_names, usage=ExtendedKeyUsageOID.SERVER_AUTH)
    show("long_chain", leaf + middle_certificate)
    show("leaf_alone", leaf)
    show("other_certificate", certificate("other.example", other, "Weir test authority", ca, names=("other.example",), usage=ExtendedKeyUsageOID.SERVER_AUTH))
    show("other_key", pem(other))
    show("self_signed", certificate("weir.example", server, names=server_names))
    show("client_certificate", certificate("a client", client, "Weir test authority", ca, usage=ExtendedKeyUsageOID.CLIENT_AUTH))
    show("client_key", pem(client))
    show("rsa_certificate", certificate("weir.example", big, "Weir test authority", ca, names=server_names, usage=ExtendedKeyUsageOID.SERVER_AUTH))
    show("rsa_key", pem(big))
    show("weak_certificate", certificate("weir.example", small, "Weir test authority", ca, names=server_names))
    show("weak_key", pem(small))
    print("\n#endif")


main()
