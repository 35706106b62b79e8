# SPDX-License-Identifier: Apache-2.0
"""Captured calls of operators: reading them, running them again, and as C programs."""

from .capture import Capture, read, unfinished
from .program import c_program
from .report import document, print_results
from .run import Result, replay, select_product

__all__ = [
    "Capture",
    "Result",
    "c_program",
    "document",
    "print_results",
    "read",
    "replay",
    "select_product",
    "unfinished",
]
