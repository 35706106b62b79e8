# SPDX-License-Identifier: Apache-2.0
"""Every supporting operator computes what the NumPy expression of its record says."""

import driver
import pytest
import records

RECORDS = records.load()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_computes_its_expression(device, record):
    assert record.numpy, f"the record of {record.name} has no numpy: say there what it computes"
    faults = [
        fault
        for number in range(driver.count_of(record))
        for fault in driver.run(*device, record, number).faults
    ]
    assert not faults, "\n".join(faults)
