# SPDX-License-Identifier: BSD-3-Clause
"""Has rattler-build's own library parse the recipe and render it for each MPI, as before a build, which needs the
channel's packages; looks at what comes out. Run by check.sh."""

import pathlib
import sys

import rattler_build

HERE = pathlib.Path(__file__).parent
MPIS = ["mpich", "openmpi"]


def main():
    recipe = rattler_build.Stage0Recipe.from_file(HERE / "recipe.yaml")
    variants = rattler_build.VariantConfig.from_file(HERE / "variants.yaml")
    rendered = {variant.variant["mpi"]: variant.recipe.to_dict() for variant in recipe.render(variants)}
    if sorted(rendered) != MPIS:
        return f"rendered for {sorted(rendered)}, not for {MPIS}"
    for mpi, package in rendered.items():
        build, needs = package["build"], package["requirements"]
        if not build["string"].startswith(f"mpi_{mpi}_h"):
            return f"{mpi}: the package is called {build['string']}"
        if mpi not in needs["host"] or mpi not in needs["run"]:
            return f"{mpi}: needs {needs}"
        print(f"{package['package']['name']} {package['package']['version']} {build['string']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
