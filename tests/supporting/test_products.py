# SPDX-License-Identifier: Apache-2.0
"""Every record on every family of products: what its page lists is taken, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WALK = Path(__file__).with_name("walk_products.py")
PRODUCTS = {"910": "Ascend910A", "A2": "Ascend910B1", "A3": "Ascend910_9391", "950": "Ascend950PR_9579",
            "310P": "Ascend310P3", "310B": "Ascend310B1"}  # fmt: skip


@pytest.mark.parametrize("family", PRODUCTS)
@pytest.mark.parametrize("products", ["documented", "lenient"])
def test_products_and_types_are_those_of_the_page(family, products):
    """In a process of its own, since a process has one product."""
    environment = os.environ | {"OPENACLNN_SOC": PRODUCTS[family], "OPENACLNN_PRODUCTS": products}
    walk = subprocess.run(
        [sys.executable, WALK, family], env=environment, capture_output=True, text=True
    )
    assert walk.returncode == 0, f"{walk.stdout[-4000:]}{walk.stderr[-4000:]}"
