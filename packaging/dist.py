#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make dist: build/dist/weir-VERSION.tar.gz of the committed files, the two files of each profile, a wrap for Meson, bills of materials
(SPDX 2.3, CycloneDX 1.6) and SHA256SUMS. The same commit makes the same bytes: times are the commit's, and what a work tree has besides is in none of it."""
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from configuration import PROFILES, version as weir_version  # noqa: E402

OUT = ROOT / "build/dist"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def run(*words, cwd=ROOT):
    return subprocess.run([str(word) for word in words], cwd=cwd, check=True, stdout=subprocess.PIPE, env=ENVIRONMENT).stdout


def spdx(version, when, contact, sums):
    package = {"SPDXID": "SPDXRef-weir", "name": "weir", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
               "licenseConcluded": "BSD-2-Clause", "licenseDeclared": "BSD-2-Clause", "copyrightText": "NOASSERTION", "supplier": f"Organization: Weir maintainers ({contact})",
               "primaryPackagePurpose": "LIBRARY", "comment": "No third-party component is part of it.",
               "checksums": [{"algorithm": "SHA256", "checksumValue": sums[f"weir-{version}.tar.gz"]}],
               "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:generic/weir@{version}"}]}
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"weir-{version}",
            "documentNamespace": f"urn:weir:spdx:{version}:{sums[f'weir-{version}.tar.gz'][:16]}",
            "creationInfo": {"created": when, "creators": ["Tool: packaging/dist.py"]}, "packages": [package],
            "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-weir"}]}


def cyclonedx(version, when, contact, sums):
    """The same in CycloneDX: the libraries for TLS are the user's choice, and no part of it."""
    archive = sums[f"weir-{version}.tar.gz"]
    weir = {"type": "library", "bom-ref": "weir", "name": "weir", "version": version, "purl": f"pkg:generic/weir@{version}",
            "cpe": f"cpe:2.3:a:weir:weir:{version}:*:*:*:*:*:*:*", "description": "TCP/IP stack for embedded systems",
            "supplier": {"name": "Weir maintainers", "contact": [{"email": contact}]}, "licenses": [{"license": {"id": "BSD-2-Clause"}}],
            "hashes": [{"alg": "SHA-256", "content": archive}]}
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
            "serialNumber": f"urn:uuid:{uuid.UUID(archive[:32])}", "version": 1, "metadata": {"timestamp": when, "component": weir},
            "components": [], "dependencies": [{"ref": "weir"}], "compositions": [{"aggregate": "complete", "dependencies": ["weir"]}]}


def wrap(version, sums):
    """For Meson's subprojects/weir.wrap, beside the tarball in subprojects/packagefiles."""
    name = f"weir-{version}"
    return f"[wrap-file]\ndirectory = {name}\nsource_filename = {name}.tar.gz\nsource_hash = {sums[f'{name}.tar.gz']}\n\n[provide]\ndependency_names = weir\n"


def main():
    version = weir_version(run("git", "show", "HEAD:include/weir/version.h").decode())
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as stream:
        stream.write(run("git", "archive", f"--prefix=weir-{version}/", "HEAD"))
    (OUT / f"weir-{version}.tar.gz").write_bytes(packed.getvalue())
    work = ROOT / "build/dist-work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.unpack_archive(OUT / f"weir-{version}.tar.gz", work)
    for profile in PROFILES:
        folder = work / profile
        run("make", "-s", "amalgamation", f"PROFILE={profile}", "CONFIG=", "OPTIONS=", f"O={folder}", cwd=work / f"weir-{version}")
        with zipfile.ZipFile(OUT / f"weir-{version}-{profile}.zip", "w", zipfile.ZIP_DEFLATED) as both:
            for name in ("weir.c", "weir.h"):
                both.writestr(zipfile.ZipInfo(name), (folder / name).read_text(), zipfile.ZIP_DEFLATED)
    seconds, contact = run("git", "log", "-1", "--format=%ct %ae").decode().split()   # where vulnerabilities are reported (SECURITY.md)
    when = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(OUT.iterdir())}
    about = {f"weir-{version}.spdx.json": json.dumps(spdx(version, when, contact, sums), indent=2) + "\n",
             f"weir-{version}.cdx.json": json.dumps(cyclonedx(version, when, contact, sums), indent=2) + "\n", "weir.wrap": wrap(version, sums)}
    for name, text in about.items():
        (OUT / name).write_text(text)
        sums[name] = hashlib.sha256(text.encode()).hexdigest()
    (OUT / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
    print(f"  {OUT.relative_to(ROOT)}: {', '.join(sorted(sums))}, SHA256SUMS")


main()
