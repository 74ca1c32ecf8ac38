"""Every measurement of the project; none of it is part of the installed package.

`python -m benchmarks.run --suite NAME` measures one suite; `make bench` measures them all. benchmarks/README.md says what each
module measures.
"""
