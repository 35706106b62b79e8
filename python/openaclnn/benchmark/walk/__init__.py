# SPDX-License-Identifier: Apache-2.0
"""Every record over one mid-size shape, so that no operator is slow for want of a list.

Beside PyTorch where it computes the same, else beside the record's formula in NumPy, else beside the
time that memory takes for the operator's bytes.
"""

from .source import checked as checked
from .rows import measure_all as measure_all
