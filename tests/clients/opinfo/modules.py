# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch's database as operators of it: functions of their parameters and inputs."""

from dataclasses import dataclass

import torch
from torch.testing._internal.common_modules import module_db

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Sample:
    """What worker.copied copies: the parameters and buffers by name, then the inputs."""

    input: dict
    args: tuple
    kwargs: dict

    @staticmethod
    def output_process_fn_grad(results):
        return results


@dataclass(frozen=True)
class Module:
    info: object
    dtypes = FLOATS

    @property
    def name(self):
        return self.info.name

    full_name = name

    def samples(self, dtype, backward):
        """Each with the function that takes it, in training and, where that differs, after it."""
        for training in (True, False) if self.info.train_and_eval_differ else (True,):
            inputs = self.info.module_inputs_func(
                self.info, device="cpu", dtype=dtype, requires_grad=backward, training=training
            )
            for each in inputs:
                if each.forward_input is None:
                    continue
                made, given = each.constructor_input, each.forward_input
                module = self.info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
                if self.info.is_lazy:
                    module(*given.args, **given.kwargs)  # has parameters from now on
                state = dict(module.state_dict(keep_vars=True))
                for held in state.values():
                    held.requires_grad_(backward and held.requires_grad)

                def function(named, *args, module=module, **kwargs):
                    return torch.func.functional_call(module, named, args, kwargs)

                yield Sample(state, given.args, given.kwargs), function


MODULES = [Module(info) for info in module_db]
