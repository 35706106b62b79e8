# SPDX-License-Identifier: Apache-2.0
"""Reports as pages of HTML, and their figures."""
