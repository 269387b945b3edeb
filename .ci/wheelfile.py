"""Writes Python wheels."""
import base64, hashlib, os, stat, zipfile


class Wheel:
    """A wheel of a package in a directory, for a platform; close makes it appear there."""

    def __init__(self, directory, package, version, platform):
        tag = "py3-none-" + platform
        self.info = "%s-%s.dist-info/" % (package, version)
        self.name = "%s/%s-%s-%s.whl" % (directory, package, version, tag)
        self.archive = zipfile.ZipFile(self.name + ".part", "w")
        self.record = []
        self.add(self.info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: retime\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode())

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (stat.S_IFREG | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, data, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def close(self):
        self.archive.writestr(self.info + "RECORD", "\n".join(self.record + [self.info + "RECORD,,", ""]))
        self.archive.close()
        os.replace(self.name + ".part", self.name)
        print("%s, %.1f MB" % (self.name, os.path.getsize(self.name) / 1e6))
