// SPDX-License-Identifier: Apache-2.0
// libmsprofiler.so, which collects profiles: the function that clients link, which refuses.
#include "ascendcl/unsupported.h"

UNSUPPORTED(aclprofSetConfig)
