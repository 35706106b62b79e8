// SPDX-License-Identifier: Apache-2.0
// libacl_tdt_channel.so, with which tensors are sent between host and device: clients load it, and
// call nothing of it that exists here.
