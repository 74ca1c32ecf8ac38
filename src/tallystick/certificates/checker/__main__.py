"""The command: prints what was found and ends with 0 if the certificate holds, with 1 if not."""

import sys
from pathlib import Path

from .checking import check_file


def main(arguments: list[str]) -> int:
    """Check the certificate in a file."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m checker CERTIFICATE.json\n")
        return 2
    finding = check_file(Path(arguments[0]))
    sys.stdout.write(f"{'holds' if finding.valid else 'does not hold'}: {finding.reason}\n")
    return 0 if finding.valid else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
