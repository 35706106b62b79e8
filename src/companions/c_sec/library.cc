// SPDX-License-Identifier: Apache-2.0
// libc_sec.so, which has copies and prints of text with limits: clients load it, and call nothing
// of it that exists here.
