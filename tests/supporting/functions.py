# SPDX-License-Identifier: Apache-2.0
"""Cases of the supporting operators as arguments of the functions of `openaclnn.ops`."""

import numpy as np

from openaclnn import dtypes, ops
from openaclnn.operators.operator import View

# Whose results are of any length or type: nobody but the caller can say which.
SAID = {
    "Stack": "the place of the new dimension",
    "RepeatInterleaveGrad": "how long the input was",
    "NormalFloatFloat": "how many numbers",
    "Bincount": "how many values there are",
    "Linspace": "of what type",
    "LogSpace": "of what type",
    "Arange": "of what type",
    "Range": "of what type",
    "AddRmsNormCast": "of what type y2Out is, through which y1Out is rounded",
    "BatchNorm": "the statistics that training alone writes",
    "EmbeddingBag": "what only some modes write",
    "CtcLoss": "how many times and labels have room",
    "LSTM": "the gates that training alone writes",
    "GRU": "the gates that training alone writes",
    "LstmBackward": "how many weights there are",
    "GRUBackward": "how many weights there are",
    "SplitWithSize": "how many parts there are",
    "SplitTensor": "how many parts there are",
    "ForeachZeroInplace": "what becomes zeros",
    "ROIAlignBackward": "the shape of the forward's input",
    **dict.fromkeys(
        ["MoeFinalizeRouting", "MoeFinalizeRoutingV2", "MoeTokenPermuteGrad", "MoeTokenUnpermute",
         "MoeTokenUnpermuteWithRoutingMap"]
        + [f"GroupedMatmulFinalizeRouting{version}" for version in ("", "V2", "V3", "WeightNz", "WeightNzV2")],
        "how many tokens there are",
    ),
    **dict.fromkeys(
        ["AscendQuant", "AscendQuantV3", "AscendAntiQuant", "GroupQuant", "DequantBias", "DynamicQuant",
         "DynamicQuantV2", "DynamicQuantV3", "DynamicQuantV4", "DynamicBlockQuant", "DynamicBlockQuantV2",
         "QuantMatmulV3", "QuantMatmulV4", "QuantMatmulV5", "QuantMatmulWeightNz"],
        "of what type",
    ),
    **dict.fromkeys(
        [f"FusedInferAttentionScore{version}" for version in ("", "V2", "V3", "V4", "V5")]
        + [f"PromptFlashAttention{version}" for version in ("V2", "V3")]
        + [f"IncreFlashAttention{version}" for version in ("V2", "V3", "V4")],
        "whether a result is INT8",
    ),
}


def named(record, prepared) -> dict:
    """The arguments of a case as the function takes them."""
    given = {}
    for each in record.parameters:
        value = prepared.case.arguments.get(each.name)
        if each.kind in ("in", "in[]"):
            value = _plain(prepared.problem.inputs.get(each.name))
        elif each.kind == "dtype":
            value = dtypes.of_number(prepared.problem.attributes[each.name])
        elif each.is_output and isinstance(value, np.ndarray | list):
            value = [np.array(one) for one in value] if isinstance(value, list) else np.array(value)
        elif each.is_output and value is None and record.name in SAID:
            view = prepared.problem.outputs[each.name]
            many = isinstance(view, list)
            alone = prepared.expected.get(each.name) is None
            value = [] if many and alone else [np.array(one.array) for one in view] if many else (
                view and (view.array.shape, view.array.dtype)
            )
        elif each.is_output and each.optional and prepared.expected.get(each.name) is not None:
            value = True
        if value is not None or not each.is_output:
            given[ops._spelled(each.name)] = value
    return given


def _plain(value):
    if isinstance(value, list):
        return list(map(_plain, value))
    return np.array(value.array) if isinstance(value, View) else value
