# SPDX-License-Identifier: BSD-3-Clause
# A recipe of Spack 1.0 and later, for a repository of packages (../README.md). Nothing is published
# yet: Spack takes the source from hocket-VERSION-source.tar.gz in the folder where it is started. `./dev release` makes
# that file, and beside it this recipe with the file's checksum.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Hocket(CMakePackage):
    """Collective communication for ordinary Linux machines: faster collectives for unmodified MPI programs, and a C
    library for programs without an MPI."""

    url = f"file://{os.getcwd()}/hocket-0.1.0-source.tar.gz"
    manual_download = True

    license("BSD-3-Clause AND (GPL-2.0-only OR BSD-2-Clause)")

    version("0.1.0")

    variant("mpi", default=True, description="Libraries to be preloaded into programs of the MPI")
    variant("bpf", default=False, description="Short collectives in the kernel's packet path (hocket nic, hocket lab)")
    variant("verbs", default=False, description="Multicast over InfiniBand and RoCE")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("hwloc@2:")
    depends_on("mpi", when="+mpi")
    depends_on("libbpf@1:", when="+bpf")
    depends_on("llvm@16:+clang", type="build", when="+bpf")
    depends_on("rdma-core", when="+verbs")

    conflicts("platform=darwin", msg="hocket is for Linux")
    conflicts("platform=windows", msg="hocket is for Linux")
    requires("target=x86_64:", msg="hocket's kernels are for x86-64")

    def cmake_args(self):
        args = [
            self.define("HOCKET_PRODUCT_ONLY", True),
            self.define_from_variant("HOCKET_BPF", "bpf"),
            self.define_from_variant("HOCKET_VERBS", "verbs"),
        ]
        if self.spec.satisfies("+bpf"):
            args.append(self.define("HOCKET_BPF_CLANG", self.spec["llvm"].prefix.bin.clang))
        if self.spec.satisfies("+mpi"):
            include = self.spec["mpi"].prefix.include
            # One binary interface each: hocket knows two families, and what else is like MPICH.
            family = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
            args += [self.define(f"HOCKET_MPI_H_{family}", include), self.define(f"HOCKET_{family}_INCLUDE", include)]
            if os.path.exists(join_path(include, "mpi_abi.h")):
                args.append(self.define("HOCKET_MPI_H_abi", include))
        return args

    def test_version(self):
        """the installed command runs"""
        hocket = which(self.prefix.bin.hocket, required=True)
        assert str(self.spec.version) in hocket("--version", output=str.split)
        hocket("schedule", "allreduce", "ring", "--ranks", "4", "--verify")
