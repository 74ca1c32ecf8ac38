"""How networks are trained. Read the modules in this order.

- `setting`: what is trained on what, how, and in which arithmetic.
- `descent`: the losses, the schedules of the learning rate, and the optimiser. `methods`: the ways in which a method brings
  the weights to the conditions of a counting theorem, and the table of methods.
- `weights`: the weights of many networks at once, and where training starts.
- `lessons`: a training set as arrays. `gradients`: the slope of the loss on one string, and `layers` for layers with several
  units. `loop`: the one training loop.
- `ensemble`: `train`, which trains many seeds block by block, and the `Ensemble` that it returns; `engines` decides
  where and with which program a block is trained, and `fused` has the kernels for processors and for GPUs.
- `snapping`: trained weights rounded to the exact counter they are close to.
"""

import os

# By default JAX takes three quarters of a GPU's memory when it first uses it. Networks need little of it, several processes may
# share one GPU, and the driver keeps gigabytes of the host's memory for what is taken.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
