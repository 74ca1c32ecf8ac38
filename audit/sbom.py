"""A bill of materials in CycloneDX's format: everything an installation rests on, its licence, and who needs it.

    python audit/sbom.py [FILE]

The core is `required`, what extras bring is `optional`, and what only development needs is `excluded`. No download address is in
it: a package is named as the index names it, with its version.
"""

import json
import sys
import uuid
from importlib.metadata import distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from dependencies import CORE, DEVELOPMENT, PACKAGE, Dependencies, dependencies, direct
from licences import licence
from packageurl import PackageURL


def component(name: str, scope: ComponentScope | None = None) -> Component:
    """Describe one installed package."""
    version = distribution(name).version
    return Component(
        name=name,
        version=version,
        type=ComponentType.APPLICATION if name == PACKAGE else ComponentType.LIBRARY,
        scope=scope,
        purl=PackageURL("pypi", name=name, version=version),
        bom_ref=f"{name}=={version}",
        licenses=[LicenseFactory().make_from_string(licence(name))],
    )


def scope_of(needed_by: tuple[str, ...]) -> ComponentScope:
    """Say how much a package matters to who installs this one."""
    if CORE in needed_by:
        return ComponentScope.REQUIRED
    return ComponentScope.EXCLUDED if needed_by == (DEVELOPMENT,) else ComponentScope.OPTIONAL


def bill(needed: Dependencies) -> Bom:
    """List every package and what it needs in turn."""
    root = component(PACKAGE)
    listed = {name: component(name, scope_of(by)) for name, by in needed.needed_by.items()}
    serial = uuid.uuid5(uuid.NAMESPACE_OID, " ".join(str(one.purl) for one in (root, *listed.values())))
    found = Bom(components=listed.values(), metadata=BomMetaData(component=root), serial_number=serial)
    for name, one in {PACKAGE: root, **listed}.items():
        found.register_dependency(one, [listed[other] for other in sorted(direct(name)) if other in listed])
    return found


def main(file: str = "out/audit/sbom.json") -> int:
    """Write the bill."""
    found = bill(dependencies())
    text = make_outputter(found, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text + "\n", encoding="utf-8")
    print(f"sbom: {len(json.loads(text)['components'])} packages, CycloneDX 1.6, in {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
