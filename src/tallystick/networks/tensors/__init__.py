"""Networks as named tensors: PyTorch's state dicts and a layout of our own, in safetensors and PyTorch files."""
