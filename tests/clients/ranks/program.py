# SPDX-License-Identifier: Apache-2.0
"""What each rank of test_collectives.py does: torch-npu's hccl beside gloo on the CPU.

A digest of all bits that came is printed: those of another run, and of another way that the bytes
go, are to be the same.
"""

import hashlib
import os
import sys

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from torch.nn.parallel import DistributedDataParallel

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
NPU = torch.device("npu:0")
OPS = {
    "sum": dist.ReduceOp.SUM,
    "max": dist.ReduceOp.MAX,
    "min": dist.ReduceOp.MIN,
    "product": dist.ReduceOp.PRODUCT,
}
# gloo does not add these.
ON_CPU_AS = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
BITS = hashlib.sha256()


def numbers(shape, dtype=torch.float32, seed=0, rank=RANK):
    generator = torch.Generator().manual_seed(1000 * seed + rank)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(-3, 4, shape, generator=generator).to(dtype)


def expect_close(got, expected, what):
    got = got.cpu()
    BITS.update(got.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    wide = torch.float64 if got.dtype.is_floating_point else got.dtype
    tolerance = {torch.float16: 5e-3, torch.bfloat16: 4e-2}.get(got.dtype, 1e-5)
    torch.testing.assert_close(
        got.to(wide),
        expected.to(wide),
        rtol=tolerance,
        atol=tolerance,
        msg=lambda words: f"rank {RANK}, {what}: {words}",
    )


def check_all_reduce(cpu):
    types = (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64)
    for dtype in types:
        for name, op in OPS.items():
            for count in (1, 1000, 20011):
                own = numbers((count,), dtype, seed=count)
                on_npu, on_cpu = own.to(NPU), own.to(ON_CPU_AS.get(dtype, dtype))
                dist.all_reduce(on_npu, op)
                dist.all_reduce(on_cpu, op, group=cpu)
                expect_close(on_npu, on_cpu, f"all_reduce {dtype} {name} {count}")
    mean = numbers((50,)).to(NPU)
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    expect_close(mean, sum(numbers((50,), rank=rank) for rank in range(SIZE)) / SIZE, "AVG")
    flags = torch.tensor([RANK == 0, False], device=NPU)
    dist.all_reduce(flags)
    assert flags.tolist() == [True, False]


def check_bits(_cpu):
    """The same sum in three ways, and once more, is the same bits."""
    own = numbers((SIZE * 4099,), seed=9).to(NPU)
    first, again = own.clone(), own.clone()
    dist.all_reduce(first)
    dist.all_reduce(again)
    part = torch.empty(4099, device=NPU)
    dist.reduce_scatter_tensor(part, own)
    parts = torch.empty_like(own)
    dist.all_gather_into_tensor(parts, part)
    rooted = own.clone()
    dist.reduce(rooted, 0)
    torch.npu.synchronize()
    assert torch.equal(first, again), "all_reduce differs from run to run"
    assert torch.equal(first, parts), "reduce_scatter and all_gather differ from all_reduce"
    assert RANK != 0 or torch.equal(first, rooted), "reduce differs from all_reduce"


def check_moves(cpu):
    own = numbers((5, 7))
    for root in range(SIZE):
        data = own.to(NPU)
        dist.broadcast(data, root)
        expect_close(data, numbers((5, 7), rank=root), "broadcast")
    gathered = [torch.empty(5, 7, device=NPU) for _ in range(SIZE)]
    dist.all_gather(gathered, own.to(NPU))
    uneven = [torch.empty(rank + 1, device=NPU) for rank in range(SIZE)]
    dist.all_gather(uneven, numbers((RANK + 1,)).to(NPU))
    for rank in range(SIZE):
        expect_close(gathered[rank], numbers((5, 7), rank=rank), "all_gather")
        expect_close(uneven[rank], numbers((rank + 1,), rank=rank), "uneven all_gather")
    rooted = [torch.empty(5, 7, device=NPU) for _ in range(SIZE)] if RANK == 0 else None
    dist.gather(own.to(NPU), rooted, 0)
    for rank in range(SIZE if RANK == 0 else 0):
        expect_close(rooted[rank], numbers((5, 7), rank=rank), "gather")
    part = torch.empty(5, 7, device=NPU)
    parts = [numbers((5, 7), rank=rank).to(NPU) for rank in range(SIZE)]
    dist.scatter(part, parts if RANK == 0 else None, 0)
    expect_close(part, own, "scatter")
    dist.reduce_scatter(part, [one.clone() for one in parts])
    expect_close(part, own * SIZE, "reduce_scatter")
    objects = [{"rank": RANK}] if RANK == 0 else [None]
    dist.broadcast_object_list(objects, 0)
    assert objects == [{"rank": 0}]
    dist.barrier()


def check_all_to_all(cpu):
    sent, got = numbers((SIZE * 6,)), torch.empty(SIZE * 6, device=NPU)
    dist.all_to_all_single(got, sent.to(NPU))
    ways = [numbers((SIZE * 6,), rank=rank)[RANK * 6 : RANK * 6 + 6] for rank in range(SIZE)]
    expect_close(got, torch.cat(ways), "all_to_all_single")
    # To rank r goes r, from every rank; zero counts with it.
    own = numbers((sum(range(SIZE)),), seed=4)
    got = torch.empty(RANK * SIZE, device=NPU)
    dist.all_to_all_single(got, own.to(NPU), [RANK] * SIZE, list(range(SIZE)))
    first = sum(range(RANK))
    ways = [numbers(own.shape, seed=4, rank=rank)[first : first + RANK] for rank in range(SIZE)]
    expect_close(got, torch.cat(ways), "uneven all_to_all_single")
    lists = [torch.empty(rank + 1, device=NPU) for rank in range(SIZE)]
    dist.all_to_all(lists, [numbers((RANK + 1,), seed=rank).to(NPU) for rank in range(SIZE)])
    for rank in range(SIZE):
        expect_close(lists[rank], numbers((rank + 1,), seed=RANK, rank=rank), "all_to_all")


def check_messages(cpu):
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    data = numbers((1000,)).to(NPU)
    got = torch.empty(1000, device=NPU)
    if RANK % 2 == 0 and RANK + 1 < SIZE:
        dist.send(data, RANK + 1)
        dist.recv(got, RANK + 1)
        expect_close(got, numbers((1000,), rank=RANK + 1), "recv")
    elif RANK % 2 == 1:
        dist.recv(got, RANK - 1)
        dist.send(data, RANK - 1)
        expect_close(got, numbers((1000,), rank=RANK - 1), "recv")
    if SIZE == 1:
        return  # torch sends nothing from a rank to itself
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, data, after), dist.P2POp(dist.irecv, got, before)]
    )
    for work in works:
        work.wait()
    expect_close(got, numbers((1000,), rank=before), "batch_isend_irecv")


def check_coalesced(_cpu):
    from torch.distributed.distributed_c10d import _coalescing_manager as coalesced

    many = [numbers((count,), seed=count).to(NPU) for count in (1, 30, 1000)]
    with coalesced(device=NPU):
        for one in many:
            dist.all_reduce(one)
    for one in many:
        ways = [numbers(one.shape, seed=len(one), rank=rank) for rank in range(SIZE)]
        expect_close(one, sum(ways), "coalesced all_reduce")


def model():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def train(wrapped, device, steps=3):
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = wrapped(numbers((4, 8), seed=20 + step).to(device)).square().mean()
        loss.backward()
        optimizer.step()
    return wrapped


def of_gloo(cpu):
    """The same training's parameters, on the CPU."""
    trained = train(DistributedDataParallel(model(), process_group=cpu), torch.device("cpu"))
    return list(trained.parameters())


def expect_trained(parameters, cpu, what):
    for got, expected in zip(parameters, of_gloo(cpu), strict=True):
        expect_close(got.detach(), expected.detach(), what)


def check_ddp(cpu):
    trained = train(DistributedDataParallel(model().to(NPU)), NPU)
    expect_trained(trained.parameters(), cpu, "DDP")


def check_fsdp1(cpu):
    from torch.distributed.fsdp import FullyShardedDataParallel

    trained = train(FullyShardedDataParallel(model().to(NPU), device_id=NPU), NPU)
    with FullyShardedDataParallel.summon_full_params(trained):
        expect_trained(trained.parameters(), cpu, "FSDP1")


def mesh_of_all():
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh("npu", (SIZE,))


def sharded_model():
    from torch.distributed.fsdp import fully_shard

    sharded, mesh = model().to(NPU), mesh_of_all()
    for layer in sharded:
        fully_shard(layer, mesh=mesh)
    return fully_shard(sharded, mesh=mesh)


def check_fsdp2(cpu):
    trained = train(sharded_model(), NPU)
    expect_trained([each.full_tensor() for each in trained.parameters()], cpu, "FSDP2")


def sum_then_divide(_, bucket):
    """As FSDP2 has the mean; by itself DDP divides first, which at 3 ranks rounds otherwise."""
    work = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return work.then(lambda done: done.value()[0].div_(SIZE))


def check_ddp_has_the_bits_of_fsdp2(_cpu):
    whole = DistributedDataParallel(model().to(NPU))
    whole.register_comm_hook(None, sum_then_divide)
    pairs = zip(train(whole, NPU).parameters(), train(sharded_model(), NPU).parameters(), strict=True)
    for number, (got, parts) in enumerate(pairs):
        assert torch.equal(got, parts.full_tensor()), f"rank {RANK}: DDP, FSDP2, parameter {number}"


def check_dtensor(_cpu):
    """An embedding that is split along its vocabulary."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

    mesh, table = mesh_of_all(), numbers((22, 6), seed=30, rank=0)
    tokens = numbers((5, 3), torch.int64, rank=0) + 3 * torch.arange(5)[:, None] + 3
    embedding = torch.nn.Embedding.from_pretrained(table.to(NPU), freeze=False)
    split = RowwiseParallel(input_layouts=Replicate())
    parallelize_module(embedding, mesh, split)
    got = embedding(tokens.to(NPU))
    expect_close(got.detach(), table[tokens], "DTensor embedding")
    got.square().sum().backward()
    counts = torch.bincount(tokens.flatten(), minlength=len(table))[:, None]
    gradient = embedding.weight.grad.full_tensor()
    expect_close(gradient, 2 * counts * table, "DTensor embedding's gradient")
    again = distribute_tensor(table.to(NPU), mesh, [Shard(0)]).redistribute(mesh, [Shard(1)])
    expect_close(again.full_tensor(), table, "DTensor")


def check_subgroups(cpu):
    """Groups of a part of the ranks, beside that of all."""
    pair = dist.new_group(sorted({0, SIZE - 1}))
    if RANK in (0, SIZE - 1):
        data = torch.full((10,), float(RANK + 1), device=NPU)
        dist.all_reduce(data, group=pair)
        assert data.tolist() == [SIZE + 1.0 if SIZE > 1 else 1.0] * 10
    dist.barrier()


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}


def main():
    torch.npu.set_device(0)
    dist.init_process_group("hccl")
    cpu = dist.new_group(backend="gloo")
    for name in sys.argv[1:] or CHECKS:
        CHECKS[name](cpu)
        if RANK == 0:
            print(f"done {name}", flush=True)
    torch.npu.synchronize()
    print(f"bits of rank {RANK}: {BITS.hexdigest()}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
