# SPDX-License-Identifier: Apache-2.0
"""The rules of scripts/check_layout.py: one module for each thing that they look at."""
