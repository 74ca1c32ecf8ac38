"""The local web page over certificates and runs: the library's own answers through a small API, and the files of the page."""
