# SPDX-License-Identifier: Apache-2.0
"""Trains a small byte-level language model, on the NPU that openaclnn stands for and on the CPU.

Plain PyTorch with device="npu"; forward and backward pass through embedding, conv_tbc, a grouped
bias, NSA compression and the scaled masked softmax. Both trainings start from the same weights and
see the same text; the differences of their gradients and of their loss curves are printed, and the
model that was trained on the NPU writes some text.

    openaclnn run -- python examples/train_text.py --steps 300

With --ranks it is trained on many processes at once (train_ranks.py), and compared with one.

    openaclnn run -- python examples/train_text.py --steps 100 --ranks 2
    openaclnn run -- python examples/train_text.py --steps 20 --ranks 2 --device cpu --backend gloo
"""

import argparse
import hashlib
import math
import os
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

LENGTH, BATCH = 128, 12  # bytes of a sequence, sequences of a step
WIDTH, HEADS = 64, 2
KERNEL, GROUPS = 3, 4  # taps of the convolution, groups of positions with a bias of their own
BLOCK, STRIDE = 32, 16  # tokens of a window, and from one to the next
WINDOWS = (LENGTH - BLOCK) // STRIDE + 1
HALVES = ("compress",)  # computed in 16 bits on the device


class Npu:
    """The operators of the device."""

    name = "npu"

    def __init__(self):
        import torch_npu

        from openaclnn.autograd import GroupedBias

        self._npu = torch_npu
        self.grouped_bias = GroupedBias.apply

    def softmax(self, scores, mask, scale):
        return self._npu.npu_scaled_masked_softmax(scores, mask, scale, False)

    def compress(self, x, weight, ends):
        y = self._npu.npu_nsa_compress(x.half(), weight.half(), BLOCK, STRIDE, actual_seq_len=ends)
        return y.float()

    def synchronize(self):
        torch.npu.synchronize()


class Cpu:
    """The same in PyTorch's own words, cast to 16 bits where the device does it."""

    name = "cpu"

    def softmax(self, scores, mask, scale):
        return (scores * scale).masked_fill(mask, -10000.0).softmax(-1)

    def compress(self, x, weight, ends):
        x, weight = x.half().float(), weight.half().float()
        windows = x.unflatten(0, (len(ends), -1)).unfold(1, BLOCK, STRIDE)  # (B, n, N, D, block)
        return torch.einsum("bwndr,rn->bwnd", windows, weight).flatten(0, 1).half().float()

    def grouped_bias(self, x, bias, ends):
        rows = torch.arange(x.shape[0])
        return x + bias.index_select(0, (rows[:, None] >= ends[None, :]).sum(1))

    def synchronize(self):
        pass


def make_weights():
    """On the CPU, so that every device starts from the same."""
    generator = torch.Generator().manual_seed(1)

    def normal(*shape, scale):
        return torch.randn(*shape, generator=generator) * scale

    return {
        "embedding": normal(256, WIDTH, scale=0.3),
        "conv": normal(KERNEL, WIDTH, WIDTH, scale=1 / math.sqrt(KERNEL * WIDTH)),
        "conv_bias": torch.zeros(WIDTH),
        "position_bias": normal(GROUPS, WIDTH, scale=0.02),
        "query": normal(WIDTH, WIDTH, scale=1 / math.sqrt(WIDTH)),
        "compress": (1 + normal(BLOCK, HEADS, scale=0.1)) / BLOCK,
        "out": normal(WIDTH, 256, scale=1 / math.sqrt(WIDTH)),
    }


class Model:
    def __init__(self, device, weights, lookup=F.embedding):
        self.device = device
        self._lookup = lookup
        self.weights = {
            name: tensor.to(device.name).requires_grad_() for name, tensor in weights.items()
        }
        position, window = torch.arange(LENGTH), torch.arange(WINDOWS)
        # A position may look at the windows that end before it.
        mask = position[:, None] < window[None, :] * STRIDE + BLOCK
        self._mask = mask[None, None].to(device.name)
        self._sees = (~mask).any(1).float()[:, None].to(device.name)

    def __call__(self, tokens):
        """Logits of the next byte, (T, B, 256), for tokens (T, B)."""
        w, batch = self.weights, tokens.shape[1]
        x = self._lookup(tokens, w["embedding"])
        # Padded on both sides; without the last rows each position sees only what is before it.
        h = torch.conv_tbc(x, w["conv"], w["conv_bias"], KERNEL - 1)[:LENGTH]
        ends = torch.arange(1, GROUPS + 1) * (LENGTH * batch // GROUPS)
        h = self.device.grouped_bias(
            h.reshape(LENGTH * batch, WIDTH), w["position_bias"], ends.to(self.device.name)
        )
        h = F.relu(h).view(LENGTH, batch, WIDTH).transpose(0, 1)
        h = h + self._attend(h)
        return (h @ w["out"]).transpose(0, 1)

    def _attend(self, h):
        """Each position over the compressed windows of its sequence."""
        batch, size = h.shape[0], WIDTH // HEADS
        heads = h.reshape(batch * LENGTH, HEADS, size)
        ends = [LENGTH * (i + 1) for i in range(batch)]
        keys = self.device.compress(heads, self.weights["compress"], ends)
        keys = keys.view(batch, WINDOWS, HEADS, size).transpose(1, 2)
        queries = (h @ self.weights["query"]).view(batch, LENGTH, HEADS, size).transpose(1, 2)
        scores = queries @ keys.transpose(2, 3)
        seen = self.device.softmax(scores, self._mask, 1 / math.sqrt(size)) @ keys
        return seen.transpose(1, 2).reshape(batch, LENGTH, WIDTH) * self._sees

    def loss(self, tokens):
        logits = self(tokens[:-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[1:].flatten())

    def gradients(self, tokens):
        for weight in self.weights.values():
            weight.grad = None
        loss = self.loss(tokens)
        loss.backward()
        return loss, {name: weight.grad.cpu() for name, weight in self.weights.items()}


def batches(text, steps):
    """For each step bytes at places that depend on the step alone, (LENGTH + 1, BATCH)."""
    data = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    generator = torch.Generator().manual_seed(2)
    for _ in range(steps):
        starts = torch.randint(0, len(data) - LENGTH - 1, (BATCH,), generator=generator)
        yield torch.stack([data[s : s + LENGTH + 1] for s in starts], 1)


def train(device, text, steps, rate=0.05, momentum=0.9):
    """The losses, and the model."""
    model = Model(device, make_weights())
    optimizer = torch.optim.SGD(model.weights.values(), lr=rate, momentum=momentum)
    losses = []
    for tokens in batches(text, steps):
        optimizer.zero_grad()
        loss = model.loss(tokens.to(device.name))
        loss.backward()
        for weight in model.weights.values():
            weight.grad.clamp_(-0.1, 0.1)
        optimizer.step()
        losses.append(loss.detach())
    return [loss.item() for loss in losses], model


def timed(device, text, steps):
    started = time.monotonic()
    losses, model = train(device, text, steps)
    device.synchronize()
    speed = steps * BATCH * LENGTH / (time.monotonic() - started)
    print(
        f"{device.name}: loss {losses[0]:.4f} -> {losses[-1]:.4f}, {speed:,.0f} tokens a second, "
        f"bits {bits(losses, model)}"
    )
    return losses, model


def bits(losses, model):
    """A hash that any other bit of a loss or of a trained weight would change."""
    found = hashlib.sha256(repr(losses).encode())
    for weight in model.weights.values():
        found.update(weight.detach().cpu().numpy().tobytes())
    return found.hexdigest()[:16]


def train_again(device, text, steps, count, losses, model):
    """Whether `count` more trainings end in the same bits."""
    wanted = bits(losses, model)
    same = sum(bits(*timed(device, text, steps)) == wanted for _ in range(count))
    print(f"{same + 1} of {count + 1} runs end in the same bits")
    return same == count


def compare_gradients(npu, cpu, text):
    """The largest difference of each gradient, as part of its largest value."""
    tokens = next(batches(text, 1))
    got = Model(npu, make_weights()).gradients(tokens.npu())[1]
    want = Model(cpu, make_weights()).gradients(tokens)[1]
    within = True
    for name, wanted in want.items():
        difference = float((got[name] - wanted).abs().max() / wanted.abs().max())
        limit = 1e-2 if name in HALVES else 1e-3
        within = within and difference <= limit
        print(f"gradient of {name:<14} differs by {difference:.1e} of its largest (<= {limit:g})")
    return within


def generate(model, text, count):
    """Continues the text, the most likely byte each time."""
    context = list(text[:LENGTH])
    written = []
    for _ in range(count):
        tokens = torch.tensor(context[-LENGTH:])[:, None].expand(LENGTH, 1).contiguous()
        with torch.no_grad():
            logits = model(tokens.to(model.device.name))[-1, 0].cpu()
        # The 8 likeliest, drawn on the CPU.
        best = logits.topk(8)
        choice = torch.multinomial((best.values / 0.7).softmax(0), 1)
        written.append(int(best.indices[choice]))
        context.append(written[-1])
    return bytes(written).decode("latin-1")


def plot(curves, path):
    try:
        import matplotlib
    except ImportError:
        print("no matplotlib, no plot")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, sharex=True, figsize=(7, 6))
    for name, losses in curves.items():
        above.plot(losses, label=name, linewidth=0.8)
        if name != "cpu":
            differences = [abs(a - b) for a, b in zip(losses, curves["cpu"], strict=True)]
            below.semilogy([max(d, 1e-9) for d in differences], label=f"{name} to cpu")
    above.set_ylabel("loss")
    below.set(ylabel="difference", xlabel="step")
    for axes in (above, below):
        axes.legend()
    figure.savefig(path, dpi=120)
    print(f"curves: {path}")


def largest_difference(losses, others):
    return max(abs(a - b) for a, b in zip(losses, others, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--text", type=Path, default=Path("data/alice29.txt"))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--runs", type=int, default=1, help="trainings on the NPU, of equal bits")
    parser.add_argument("--plot", type=Path, default=Path("build/train_text.png"))
    ranks = parser.add_argument_group("ranks", "One training on many processes, in data-parallel.")
    ranks.add_argument("--ranks", type=int, help="started here, or by torchrun")
    ranks.add_argument("--device", choices=("npu", "cpu"), default="npu")
    ranks.add_argument("--backend", default="hccl", help="of torch.distributed: hccl, gloo")
    ranks.add_argument("--vocabulary-parallel", action="store_true", help="split the embedding")
    arguments = parser.parse_args()
    text = arguments.text.read_bytes()
    torch.manual_seed(0)
    return on_ranks(arguments, text) if arguments.ranks else compare(arguments, text)


def on_ranks(arguments, text):
    """A rank, if the environment says which; else the process that starts them."""
    if "RANK" not in os.environ:
        command = [sys.executable, "-m", "openaclnn", "run", "--ranks", str(arguments.ranks), "--"]
        os.execv(sys.executable, [*command, sys.executable, *sys.orig_argv[1:]])
    import train_ranks

    device = Npu() if arguments.device == "npu" else Cpu()
    if arguments.device == "npu":
        torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
        torch.npu.conv.allow_hf32 = False
    return train_ranks.main(device, text, arguments)


def compare(arguments, text):
    """One process: the NPU and the CPU side by side."""
    npu, cpu = Npu(), Cpu()
    torch.npu.conv.allow_hf32 = False
    within = compare_gradients(npu, cpu, text)
    curves = {}
    curves["cpu"], _ = timed(cpu, text, arguments.steps)
    curves["npu"], model = timed(npu, text, arguments.steps)
    difference = largest_difference(curves["npu"], curves["cpu"])
    print(f"loss curves differ by at most {difference:.1e} (<= 0.001)")
    again = arguments.runs - 1
    same = again < 1 or train_again(npu, text, arguments.steps, again, curves["npu"], model)
    torch.npu.conv.allow_hf32 = True
    print("with HF32, the wheel's own choice:")
    curves["npu, HF32"], _ = timed(npu, text, arguments.steps)
    apart = largest_difference(curves["npu, HF32"], curves["cpu"])
    print(f"loss curves differ by at most {apart:.1e}")
    plot(curves, arguments.plot)
    torch.npu.conv.allow_hf32 = False
    print("\nThe model trained on the NPU writes:\n" + generate(model, text, 200))
    return 0 if within and difference <= 1e-3 and same else 1


if __name__ == "__main__":
    sys.exit(main())
