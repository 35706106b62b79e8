# SPDX-License-Identifier: Apache-2.0
"""The C libraries as Python calls them."""
