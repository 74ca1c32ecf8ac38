"""Known vulnerabilities of what requirements.txt pins, as PyPI's own service has them.

    python audit/vulnerabilities.py [REQUIREMENTS]

Asks through pip-audit. Where a mirror has no page of a version, the project's own page is asked, which speaks of its newest
release: it counts where that is the pinned one. Ends with 1 if a vulnerability is known, and with 3 if none is but something
could not be asked: that nothing was heard is not that nothing is wrong.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version
from pip_audit._service import ConnectionError as NotReached
from pip_audit._service import PyPIService, ResolvedDependency, ServiceError
from requests import RequestException, Response, Session

SECONDS = 15
NOT_FOUND = 404
VULNERABLE, NOT_ASKED = 1, 3

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", flags=re.MULTILINE)


class Service(PyPIService):
    """PyPI's service, and its mirrors that have a page a project but none a version."""

    def __init__(self) -> None:
        """Ask without a cache: a vulnerability may be an hour old."""
        super().__init__(timeout=SECONDS)
        self.session = Session()
        self.session.hooks["response"].append(self._newest)

    def _newest(self, response: Response, **_: object) -> Response:
        """Answer for a version that has no page with its project's page, if it is the newest one."""
        project, version, _ = response.url.rsplit("/", 2)
        if response.status_code != NOT_FOUND or not re.match(r"\d", version):
            return response
        page = self.session.get(f"{project}/json", timeout=SECONDS)
        if page.ok and page.json()["info"]["version"] == version:
            return page
        return response


def pins(text: str) -> Iterator[ResolvedDependency]:
    """Go through the pins of a requirements file."""
    for name, version in _PIN.findall(text):
        yield ResolvedDependency(name, Version(version))


def main(requirements: str = "requirements.txt") -> int:
    """Ask for every pin."""
    service, found, not_asked, number = Service(), 0, [], 0
    for pin in pins(Path(requirements).read_text(encoding="utf-8")):
        number += 1
        try:
            answer, vulnerabilities = service.query(pin)
        except (NotReached, ServiceError, RequestException) as error:
            not_asked.append(f"{pin.name} {pin.version} ({type(error).__name__})")
            continue
        if answer.is_skipped():
            not_asked.append(f"{pin.name} {pin.version} (no page of this version)")
        for known in {known.id: known for known in vulnerabilities}.values():  # two advisories may be of one
            found += 1
            mended = ", ".join(map(str, known.fix_versions)) or "no version"
            print(f"  VULNERABLE: {pin.name} {pin.version}: {known.id}, mended in {mended}")
    for pin in not_asked:
        print(f"  NOT ASKED: {pin}")
    print(
        f"vulnerabilities: {number} pins, {found} known vulnerabilities, {len(not_asked)} pins could not be asked about"
    )
    return VULNERABLE if found else NOT_ASKED if not_asked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
