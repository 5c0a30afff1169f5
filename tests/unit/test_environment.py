"""What names a device: a folder per full name, and the facts that stay."""

from __future__ import annotations

import re

import pytest

from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState, device_key

IDENTITY = DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA H200", "nvidia-h200"),
        ("NVIDIA H200 NVL", "nvidia-h200-nvl"),
        ("NVIDIA H20-3e", "nvidia-h20-3e"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "nvidia-h100-80gb-hbm3-mig-1g-10gb"),
        ("Tesla/T4", "tesla-t4"),
        (" NVIDIA  L4 ", "nvidia-l4"),
        ("..", "unnamed-device"),
        ("", "unnamed-device"),
    ],
)
def test_a_device_has_a_folder_of_its_full_name(name: str, key: str) -> None:
    assert device_key(name) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVIDIA H200", "NVIDIA H200 NVL"),
        ("NVIDIA H20", "NVIDIA H20-3e"),
        ("NVIDIA H20", "NVIDIA H200"),
        ("NVIDIA H100", "NVIDIA H100 80GB HBM3"),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),
    ],
)
def test_parts_with_similar_names_have_different_folders(one: str, other: str) -> None:
    assert device_key(one) != device_key(other)


@pytest.mark.parametrize("name", ["../../etc", "a\\b", "x\0y", "é", "CON: ", "-rf"])
def test_no_name_leads_out_of_the_folder_of_baselines(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", device_key(name))


@pytest.mark.parametrize(
    ("compute_capability", "arch"), [("9.0", "sm_90"), ("10.0", "sm_100"), ("12.0", "sm_120")]
)
def test_the_arch_follows_from_the_compute_capability(compute_capability: str, arch: str) -> None:
    assert DeviceIdentity("GPU", 1, compute_capability, 1).arch == arch


def test_an_identity_has_the_key_of_its_name() -> None:
    assert IDENTITY.key == "nvidia-h200"


@pytest.mark.parametrize(("driver", "shown"), [("580.159", "580.159"), (None, "unknown")])
def test_a_record_describes_the_device_in_one_line(driver: str | None, shown: str) -> None:
    record = DeviceRecord(IDENTITY, "GPU-1", "13.0", DeviceState(driver=driver))

    assert record.describe() == (
        f"NVIDIA H200 (132 SMs, 143771 MiB, compute capability 9.0), driver {shown}, CUDA 13.0"
    )
