"""The table, the figures, the claims and the page, drawn from a run directory and nothing else."""

import logging

# Where it cannot write into the home folder, matplotlib says so at length as it is loaded, and goes on without.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
