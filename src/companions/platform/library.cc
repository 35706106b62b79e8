// SPDX-License-Identifier: Apache-2.0
// libplatform.so, which tells the sizes of a device's cores: clients load it, and call nothing of
// it that exists here.
