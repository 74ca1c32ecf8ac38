"""The whole training of a block of networks in one kernel of a GPU, its weights and moments in registers throughout."""
