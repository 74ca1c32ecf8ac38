"""Training: objectives, gradients, the one scanned loop, and ensembles of seeds run through it block by block."""
