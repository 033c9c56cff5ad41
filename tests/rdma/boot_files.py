# SPDX-License-Identifier: BSD-3-Clause
"""Makes what a virtual machine boots out of an unpacked kernel package: the kernel itself, and an initial file system.

boot_files.py PACKAGE INIT DIRECTORY MODULE...

PACKAGE is where the package has been unpacked, INIT a static program. DIRECTORY gets `vmlinux` and `initramfs`; the
latter holds INIT and the modules, with all they need, and `modules/list`: their names in the order of loading.
"""

import lzma
import pathlib
import re
import stat
import sys


def kernel_within(image):
    """The ELF file that a compressed kernel image holds: it boots without the minutes of unpacking under emulation."""
    for match in re.finditer(re.escape(b"\xfd7zXZ\x00"), image):
        try:
            kernel = lzma.LZMADecompressor().decompress(image[match.start():])
        except lzma.LZMAError:
            continue
        if kernel.startswith(b"\x7fELF"):
            return kernel
    sys.exit("boot_files: the kernel's image holds no ELF file packed by xz: is it Debian's linux-image-amd64?")


def needed_by(module):
    """What its .modinfo section says."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [name for name in found.group(1).decode().split(",") if name] if found else []


def in_order(names, paths):
    """The modules and all that they need, each after what it needs: name -> content."""
    contents = {}

    def add(name):
        name = name.replace("-", "_")
        if name in contents:
            return
        if name not in paths:
            sys.exit(f"boot_files: the kernel package has no module {name}: it must be linux-image-amd64 itself, "
                     f"no variant for clouds")
        content = paths[name].read_bytes()
        for other in needed_by(content):
            add(other)
        contents[name] = content

    for name in names:
        add(name)
    return contents


class Archive:
    """An archive as `cpio --format=newc` writes it, the kernel's format of initial file systems."""

    def __init__(self):
        self.parts = []
        self.inode = 0

    def add(self, name, mode, content=b""):
        self.inode += 1
        encoded = name.encode() + b"\0"
        numbers = (self.inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % number for number in numbers) + encoded
        for part in (head, content):
            self.parts.append(part + b"\0" * (-len(part) % 4))

    def to_bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def main():
    package, init, directory = map(pathlib.Path, sys.argv[1:4])
    image = next((package / "boot").glob("vmlinuz-*")).read_bytes()
    paths = {path.stem.replace("-", "_"): path for path in (package / "lib/modules").rglob("*.ko")}
    modules = in_order(sys.argv[4:], paths)
    archive = Archive()
    for folder in ("dev", "host", "modules"):
        archive.add(folder, stat.S_IFDIR | 0o755)
    archive.add("init", stat.S_IFREG | 0o755, init.read_bytes())
    for name, content in modules.items():
        archive.add(f"modules/{name}", stat.S_IFREG | 0o644, content)
    archive.add("modules/list", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name in modules).encode())
    (directory / "initramfs").write_bytes(archive.to_bytes())
    (directory / "vmlinux").write_bytes(kernel_within(image))


if __name__ == "__main__":
    main()
