// SPDX-License-Identifier: Apache-2.0
// libge_runner.so, with which graphs are compiled: clients load it, and call nothing of it that
// exists here.
