// SPDX-License-Identifier: Apache-2.0
// aclDataTypeSize.
#include "ascendcl/data_type.h"

size_t aclDataTypeSize(aclDataType dataType) {
  const openaclnn::DataTypeInfo* info = openaclnn::FindDataType(dataType);
  return info != nullptr ? info->bytes : 0;
}
