# SPDX-License-Identifier: Apache-2.0
"""The ranks of train_text.py: the same model in data-parallel, with DistributedDataParallel.

Every rank has a share of each step's sequences and all weights, whose gradients are added up; with
--vocabulary-parallel the embedding has its rows split over the ranks instead, and tokens go to the
rank that owns their row. What torch.distributed is given for a backend is the only difference
between hccl on the NPU and gloo on the CPU.
"""

import hashlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

import train_text
from openaclnn.distributed import embedding
from openaclnn.distributed.autograd import VocabularyEmbedding
from openaclnn.distributed.processes import ProcessGroup
from openaclnn.distributed.split import Split


OWNED = "weights.embedding"


class OwnedEmbedding:
    """A part of the table's rows on each rank; stands for F.embedding."""

    def __init__(self, group, rows):
        self._group = group
        self._rows = Split.even(rows, group.size)

    def part(self, table):
        return table[self._rows.part(self._group.rank)]

    def __call__(self, tokens, part):
        return VocabularyEmbedding.apply(part, embedding.route(self._group, self._rows, tokens))


class Share(torch.nn.Module):
    """The model, with the loss of one rank's sequences as a part of that of all."""

    def __init__(self, model):
        super().__init__()
        self._model = model
        own = {name: torch.nn.Parameter(each.detach()) for name, each in model.weights.items()}
        self.weights = model.weights = torch.nn.ParameterDict(own)

    def forward(self, tokens):
        logits = self._model(tokens[:-1])
        summed = F.cross_entropy(logits.flatten(0, 1), tokens[1:].flatten(), reduction="sum")
        return summed / (train_text.LENGTH * train_text.BATCH)


def add_up(group, bucket):
    """Gradients are added: shares of the loss are not its mean, of which DDP would take one."""
    work = dist.all_reduce(bucket.buffer(), group=group, async_op=True)
    return work.get_future().then(lambda done: done.value()[0])


def make_share(device, group, vocabulary_parallel):
    """The module of this rank, and what is to be called."""
    weights = train_text.make_weights()
    lookup = F.embedding
    if vocabulary_parallel:
        lookup = OwnedEmbedding(group, len(weights["embedding"]))
        weights["embedding"] = lookup.part(weights["embedding"])
    share = Share(train_text.Model(device, weights, lookup))
    if vocabulary_parallel:  # its gradient is that of all tokens already
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(share, [OWNED])
    trained = DistributedDataParallel(share)
    trained.register_comm_hook(None, add_up)
    return share, trained


def train(device, group, text, arguments):
    """The losses of all sequences, and the weights of this rank."""
    share, trained = make_share(device, group, arguments.vocabulary_parallel)
    mine = Split.even(train_text.BATCH, group.size).part(group.rank)
    optimizer = torch.optim.SGD(share.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for tokens in train_text.batches(text, arguments.steps):
        optimizer.zero_grad()
        loss = trained(tokens[:, mine].contiguous().to(device.name))
        loss.backward()
        for weight in share.parameters():
            weight.grad.clamp_(-0.1, 0.1)
        optimizer.step()
        whole = loss.detach().clone()
        dist.all_reduce(whole)
        losses.append(whole)
    return [loss.item() for loss in losses], share


def same_on_all_ranks(group, share, vocabulary_parallel):
    """Whether the weights that every rank has are the same to the bit."""
    found = hashlib.sha256()
    for name, weight in share.named_parameters():
        if not (vocabulary_parallel and name == OWNED):
            found.update(weight.detach().cpu().numpy().tobytes())
    told = torch.frombuffer(bytearray(found.digest()), dtype=torch.uint8)
    return len({bytes(each.tolist()) for each in group.all_gather(told, [(32,)] * group.size)}) == 1


def main(device, text, arguments):
    """A rank; 0 if all ends as on one rank. Rank 0 speaks."""
    dist.init_process_group(arguments.backend)
    group = ProcessGroup()
    losses, share = train(device, group, text, arguments)
    same = same_on_all_ranks(group, share, arguments.vocabulary_parallel)
    ok = same
    if group.rank == 0:
        alone, _ = train_text.train(device, text, arguments.steps)
        apart = train_text.largest_difference(losses, alone)
        ok = ok and apart <= 1e-3
        print(f"{device.name}, {group.size} ranks: loss {losses[0]:.4f} -> {losses[-1]:.4f}")
        print(f"losses differ by at most {apart:.1e} from one rank (<= 0.001)")
        print(f"{'the same' if same else 'OTHER'} weights on all ranks")
    dist.barrier()
    dist.destroy_process_group()
    return 0 if ok else 1
