# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pooling and resizing of images."""

from collections.abc import Callable

from . import Call, Device

_BOTH = ("float32", "bfloat16")


def _pair(name: str, shapes: tuple[tuple[int, ...], ...], function: Callable, dtypes=_BOTH) -> tuple[Call, Call]:
    """function(torch.nn.functional, *tensors) of such shapes, and its backward pass."""

    def forward(d: Device):
        given = [d.normal(*shape, seed=seed) for seed, shape in enumerate(shapes)]
        return lambda: function(d.torch.nn.functional, *given)

    def backward(d: Device):
        given = [d.normal(*shape, seed=seed, grad=True) for seed, shape in enumerate(shapes)]
        return d.back(function(d.torch.nn.functional, *given), *given)

    return Call(name, forward, dtypes), Call(f"{name} backward", backward, dtypes)


_IMAGES = (8, 64, 56, 56)

CALLS = (
    *_pair("conv2d 3x3", (_IMAGES, (64, 64, 3, 3)), lambda f, x, w: f.conv2d(x, w, padding=1)),
    *_pair("conv2d 1x1", (_IMAGES, (64, 64, 1, 1)), lambda f, x, w: f.conv2d(x, w)),
    *_pair("conv2d depthwise", ((8, 192, 28, 28), (192, 1, 3, 3)),
           lambda f, x, w: f.conv2d(x, w, padding=1, groups=192)),
    *_pair("conv_transpose2d", ((8, 64, 28, 28), (64, 64, 4, 4)),
           lambda f, x, w: f.conv_transpose2d(x, w, stride=2, padding=1)),
    *_pair("conv1d 5", ((8, 256, 1024), (256, 256, 5)), lambda f, x, w: f.conv1d(x, w, padding=2)),
    *_pair("max_pool2d", (_IMAGES,), lambda f, x: f.max_pool2d(x, 3, 2, 1)),
    *_pair("avg_pool2d", (_IMAGES,), lambda f, x: f.avg_pool2d(x, 3, 2, 1)),
    *_pair("bilinear", ((8, 64, 28, 28),),
           lambda f, x: f.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)),
)  # fmt: skip
