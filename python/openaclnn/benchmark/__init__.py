# SPDX-License-Identifier: Apache-2.0
"""All operators beside the machine's roofs and their peers, in one run.

`command` is what the tool calls; it starts a `worker` for each number of threads, in the peers'
Python where there is one, and writes what they measured as a document.
"""
