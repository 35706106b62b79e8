// SPDX-License-Identifier: Apache-2.0
// The products that the library can stand in for: a table of data.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ascendcl/interface.h"

namespace openaclnn {

using Product = OpenaclnnProduct;

/// Those with a row in the table.
std::span<const Product> Products();
/// Null when no product has this name. Any name that begins with Ascend950 is one of that family.
const Product* FindProduct(std::string_view name);
const char* FamilyName(OpenaclnnFamily family);
/// All names, for the message that refuses an unknown one.
std::string ProductNames();

}  // namespace openaclnn
