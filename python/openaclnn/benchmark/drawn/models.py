# SPDX-License-Identifier: Apache-2.0
"""Models with random weights: ten families whose calls are drawn, and seven that are timed whole.

Only bench/requirements.txt has the packages that make them. The families have two layers where the
number of layers is free, and the widths that their users have, so that the calls are users' calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_WORDS = 8192  # of a vocabulary, where its size is not the model's own


@dataclass(frozen=True)
class Model:
    """`make` gives a module, `data` what it is called with, `loss` a number of both."""

    name: str
    about: str
    make: Callable[[], Any]
    data: Callable[[Any], tuple]  # of torch
    loss: Callable[[Any, Any, tuple], Any]  # of torch, the module and the data
    answer: Callable[[Any, tuple], Any]  # of the module and the data: a forward pass

    def step(self, torch, device: str, dtype: Any = None) -> Callable[[], Any]:
        """A step of training, which returns the loss; in FLOAT unless the type is said."""
        module, data = self._on(torch, device, dtype)
        module.train()
        # The form that PyTorch takes for devices: one call for all parameters.
        optimiser = torch.optim.AdamW(module.parameters(), lr=1e-4, foreach=True)

        def run():
            optimiser.zero_grad(set_to_none=True)
            loss = self.loss(torch, module, data)
            loss.backward()
            optimiser.step()
            return loss.detach()

        return run

    def forward(self, torch, device: str, dtype: Any = None) -> Callable[[], Any]:
        """A forward pass of a module that is trained."""
        module, data = self._on(torch, device, dtype)
        module.eval()

        def run():
            with torch.no_grad():
                return self.answer(module, data)

        return run

    def _on(self, torch, device: str, dtype: Any) -> tuple:
        torch.manual_seed(0)
        module, data = self.make().to(dtype or torch.float32), self.data(torch)
        data = (each.to(dtype) if dtype and each.is_floating_point() else each for each in data)
        return module.to(device), tuple(each.to(device) for each in data)


def _words(rows: int, length: int, most: int = _WORDS) -> Callable:
    return lambda torch: (torch.randint(0, most, (rows, length)),)


def _images(count: int, side: int = 224) -> Callable:
    return lambda torch: (torch.randn(count, 3, side, side), torch.randint(0, 1000, (count,)))


def _sounds(count: int, frames: int, words: int) -> Callable:
    return lambda torch: (torch.randn(count, 80, frames), torch.randint(0, _WORDS, (count, words)))


def _of_words(name: str, about: str, data: Callable, model: str, config: str, **settings) -> Model:
    """A model of transformers; words are what it is to say, too."""

    def make():
        import transformers

        return getattr(transformers, model)(getattr(transformers, config)(**settings))

    def answer(module, data):
        more = {"labels": data[-1]} if "decoder_start_token_id" in settings else {}
        return module(data[0], **more).logits

    return Model(
        name, about, make, data, lambda _, module, data: module(data[0], labels=data[-1]).loss, answer
    )


def _of_images(name: str, about: str, data: Callable, package: str, model: str, **settings) -> Model:
    """A model of timm or torchvision."""

    def make():
        if package == "timm":
            import timm

            return timm.create_model(model, **settings)
        import torchvision

        return getattr(torchvision.models, model)(**settings)

    def loss(torch, module, data):
        return torch.nn.functional.cross_entropy(module(data[0]), data[1])

    return Model(name, about, make, data, loss, lambda module, data: module(data[0]))


_GPT2 = ("GPT2LMHeadModel", "GPT2Config")
_BERT = ("BertForMaskedLM", "BertConfig")
_LLAMA = ("LlamaForCausalLM", "LlamaConfig")
_LLAMA_WIDTHS = {
    "hidden_size": 512, "intermediate_size": 1376, "num_attention_heads": 8, "num_key_value_heads": 4,
}  # fmt: skip

FAMILIES = (
    _of_words("GPT-2", "decoder", _words(2, 256), *_GPT2, n_layer=2, vocab_size=_WORDS),
    _of_words("BERT", "encoder", _words(4, 128), *_BERT, num_hidden_layers=2, vocab_size=_WORDS),
    _of_words("Llama", "rotary decoder", _words(2, 256), *_LLAMA, num_hidden_layers=2,
              vocab_size=_WORDS, **_LLAMA_WIDTHS),
    _of_words("T5", "encoder and decoder", _words(2, 128), "T5ForConditionalGeneration", "T5Config",
              num_layers=2, vocab_size=_WORDS, decoder_start_token_id=0),
    _of_words("Mixtral", "mixture of experts", _words(2, 128), "MixtralForCausalLM", "MixtralConfig",
              num_hidden_layers=2, vocab_size=_WORDS, num_local_experts=4, **_LLAMA_WIDTHS),
    _of_words("Whisper", "speech", _sounds(1, 3000, 64), "WhisperForConditionalGeneration",
              "WhisperConfig", vocab_size=_WORDS, d_model=384, encoder_layers=2, decoder_layers=2,
              encoder_attention_heads=6, decoder_attention_heads=6, encoder_ffn_dim=1536,
              decoder_ffn_dim=1536, pad_token_id=0, bos_token_id=0, eos_token_id=0,
              decoder_start_token_id=1, begin_suppress_tokens=None),
    _of_images("ViT", "vision transformer", _images(4), "timm", "vit_tiny_patch16_224", depth=2),
    _of_images("ResNet", "residual convolutions", _images(4), "torchvision", "resnet18"),
    _of_images("MobileNetV3", "separable convolutions", _images(4), "torchvision", "mobilenet_v3_large"),
    _of_images("ConvNeXt", "large separable convolutions", _images(4), "timm", "convnext_atto"),
)  # fmt: skip

WHOLE = (
    _of_words("GPT-2 124M", "2x256", _words(2, 256), *_GPT2),
    _of_words("BERT-base", "4x128", _words(4, 128), *_BERT),
    _of_words("Llama of 8 layers", "2x256", _words(2, 256), *_LLAMA, num_hidden_layers=8,
              vocab_size=32000, **_LLAMA_WIDTHS),
    _of_images("ResNet-18", "8x3x224x224", _images(8), "torchvision", "resnet18"),
    _of_images("ViT-tiny", "8x3x224x224", _images(8), "timm", "vit_tiny_patch16_224"),
    _of_images("MobileNetV3", "8x3x224x224", _images(8), "torchvision", "mobilenet_v3_large"),
    _of_images("ConvNeXt-atto", "8x3x224x224", _images(8), "timm", "convnext_atto"),
)  # fmt: skip
