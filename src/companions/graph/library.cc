// SPDX-License-Identifier: Apache-2.0
// libgraph.so, with which graphs are described: clients load it, and call nothing of it that exists
// here.
