// SPDX-License-Identifier: Apache-2.0
// libruntime.so, beneath libascendcl.so on the device: the functions that clients link to load and
// launch code for its cores, which refuse.
#include "ascendcl/unsupported.h"

UNSUPPORTED(rtDevBinaryUnRegister)
UNSUPPORTED(rtLaunch)
