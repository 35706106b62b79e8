# SPDX-License-Identifier: Apache-2.0
"""Forwards and gradients over ranks, with the bits of one rank: a module for each family.

The splits are mathematics: which rows a rank needs, which nodes of a sum's tree it forms. They call
the operators on NumPy arrays or on tensors of torch, and communicate through a `Group`: threads of
this process (`threads.run`), or the processes of torch.distributed (`processes.ProcessGroup`).
docs/distributed-gradients.md says which splits keep the bits, and why others cannot.
"""
