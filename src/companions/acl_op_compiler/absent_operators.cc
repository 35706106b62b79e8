// SPDX-License-Identifier: Apache-2.0
// The functions of frameworks that end in graph operators which do not exist here.
#include <algorithm>
#include <iterator>
#include <utility>

#include "graph_operators.h"

namespace openaclnn {
namespace {

constexpr std::pair<std::string_view, std::string_view> kAbsent[] = {
    {"AnchorResponseFlags", "torch_npu.npu_anchor_response_flags"},
    {"ApplyAdamV2", "torch_npu.npu_bert_apply_adam"},
    {"BatchMultiClassNonMaxSuppression", "torch_npu.npu_batch_nms"},
    {"BoundingBoxDecode", "torch_npu.npu_bounding_box_decode"},
    {"BoundingBoxEncode", "torch_npu.npu_bounding_box_encode"},
    {"CIoU", "torch_npu.npu_ciou"},
    {"ConfusionTransposeD", "torch_npu.npu_confusion_transpose"},
    {"DIoU", "torch_npu.npu_diou"},
    {"GIoU", "torch_npu.npu_giou"},
    {"Iou", "torch_npu.npu_iou"},
    {"MaskedFillRange", "torch_npu.npu_masked_fill_range"},
    {"NMSWithMask", "torch_npu.npu_nms_with_mask"},
    {"NormalizeBatch", "torch_npu.npu_normalize_batch"},
    {"PSROIPoolingV2", "torch_npu.npu_ps_roi_pooling"},
    {"RandomChoiceWithMask", "torch_npu.npu_random_choice_with_mask"},
    {"RotatedBoxDecode", "torch_npu.npu_rotated_box_decode"},
    {"RotatedBoxEncode", "torch_npu.npu_rotated_box_encode"},
    {"RotatedIou", "torch_npu.npu_rotated_iou"},
    {"RotatedNMS", "torch_npu.npu_nms_rotated"},
    {"RotatedOverlaps", "torch_npu.npu_rotated_overlaps"},
    {"SignBitsPack", "torch_npu.npu_sign_bits_pack"},
    {"SignBitsUnpack", "torch_npu.npu_sign_bits_unpack"},
    {"StrideAdd", "torch_npu.npu_stride_add"},
    {"Svd", "mindspore.ops.svd"},
    {"Unique", "mindspore.ops.unique"},
    {"YoloBoxesEncode", "torch_npu.npu_yolo_boxes_encode"},
};

}  // namespace

std::string_view CallerOfAbsent(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kAbsent), std::end(kAbsent),
                                         [&](const auto& each) { return each.first == name; });
  return found != std::end(kAbsent) ? found->second : std::string_view();
}

}  // namespace openaclnn
