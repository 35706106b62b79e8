// SPDX-License-Identifier: Apache-2.0
// Operators that do not read all that they are given, or read what they write.
//
// An input that is not named here counts as read: what holds nothing there is the program's
// mistake. Where a value decides (beta is 0, a mask is false everywhere) it does not count.
#include "nnopbase/reading.h"

#include <algorithm>
#include <iterator>

namespace openaclnn {
namespace {

struct Operand {
  std::string_view api, name;
};

/// Of any operator: what a mode or a mask of outputs switches off.
constexpr std::string_view kSwitchable[] = {
    "attenMaskOptional",
    "attentionInOptional",
    "bias",
    "biasOptional",
    "buffer",
    "dropMaskOptional",
    "mask",
    "optionalNoiseShape",
    "paddingMaskOptional",
    "pseShiftOptional",
    "realShiftOptional",
    "runningMean",
    "runningVar",
    "saveInvstd",
    "saveMean",
    "softmaxInOptional",
    "totalWeight",
};

/// Read only in part, which may be none of it, or for their shapes.
constexpr Operand kPerhaps[] = {
    {"aclnnAddmm", "self"},
    {"aclnnBaddbmm", "self"},
    {"aclnnInplaceMaskedFillTensor", "value"},
    {"aclnnInplaceMaskedScatter", "source"},
    {"aclnnInplacePut", "source"},
    {"aclnnIndex", "self"},
    {"aclnnIndexAdd", "self"},
    {"aclnnIndexCopy", "self"},
    {"aclnnIndexFill", "self"},
    {"aclnnIndexFillTensor", "self"},
    {"aclnnIndexPutImpl", "values"},
    {"aclnnKlDivBackward", "self"},
    {"aclnnMaskedSelect", "self"},
    {"aclnnNLLLoss", "weight"},
    {"aclnnNLLLoss2d", "weight"},
    {"aclnnNLLLoss2dBackward", "self"},
    {"aclnnNLLLoss2dBackward", "weight"},
    {"aclnnNLLLossBackward", "self"},
    {"aclnnNLLLossBackward", "weight"},
    {"aclnnReflectionPad1dBackward", "self"},
    {"aclnnReflectionPad2dBackward", "self"},
    {"aclnnReflectionPad3dBackward", "self"},
    {"aclnnReplicationPad1dBackward", "self"},
    {"aclnnReplicationPad2dBackward", "self"},
    {"aclnnReplicationPad3dBackward", "self"},
    {"aclnnSWhere", "other"},
    {"aclnnSWhere", "self"},
    {"aclnnScatter", "self"},
    {"aclnnScatterAdd", "self"},
    {"aclnnScatterValue", "self"},
};

/// Copies: nothing is wrong with them, only with what is made of them later.
constexpr Operand kMoves[] = {{"aclnnCast", "self"}, {"aclnnInplaceCopy", "src"}};

/// In place the result depends on what was there.
constexpr std::string_view kUpdates[] = {
    "aclnnInplaceAdd", "aclnnInplaceAddcdiv", "aclnnInplaceAddcmul", "aclnnInplaceAdds",
    "aclnnInplaceDiv", "aclnnInplaceDivs",    "aclnnInplaceLerp",    "aclnnInplaceLerps",
    "aclnnInplaceMul", "aclnnInplaceMuls",    "aclnnInplaceSub",     "aclnnInplaceSubs",
};

template <class Table>
bool Has(const Table& table, std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

template <class Table>
bool Has(const Table& table, std::string_view api, std::string_view name) {
  return std::any_of(std::begin(table), std::end(table), [&](const Operand& operand) {
    return operand.name == name && operand.api == api;
  });
}

}  // namespace

OpenaclnnReading ReadingOf(std::string_view api, std::string_view operand, bool output) {
  if (output) {
    return operand == "selfRef" && Has(kUpdates, api) ? OPENACLNN_READS : OPENACLNN_READS_PERHAPS;
  }
  if (Has(kMoves, api, operand)) return OPENACLNN_MOVES;
  const bool perhaps = Has(kSwitchable, operand) || Has(kPerhaps, api, operand);
  return perhaps ? OPENACLNN_READS_PERHAPS : OPENACLNN_READS;
}

}  // namespace openaclnn
