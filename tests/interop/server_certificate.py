# SPDX-License-Identifier: BSD-2-Clause
"""A server's certificate for an address, and the authority that vouches for it: ca.pem, server.pem, server.key."""
import subprocess


def make(folder, address):
    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, capture_output=True)
    curve = ["-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", "-newkey", "ec", *curve, "-days", "30", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-new", "-newkey", "ec", *curve, "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr")
    (folder / "server.ext").write_text(f"subjectAltName=IP:{address}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-extfile", "server.ext", "-out", "server.pem")
