"""Every measurement of the project; none of it is part of the installed package.

`python -m benchmarks.run --suite NAME` measures one suite; `make bench` measures them all.

| module | what it measures |
| --- | --- |
| `training` | the suite training: this tool beside the `baselines` |
| `speed` | the suites settings and scaling: this tool alone |
| `limits`, `instructions` | the suite limits: the most that a machine could do, counted |
| `exact` | the suites languages and certificates |
| `machine`, `figures` | what all suites share: the machine, its clock and memory; pictures of the rows |

The other modules are studies that docs/ refers to. Each is a program of its own: `python -m benchmarks.cells`.
"""
