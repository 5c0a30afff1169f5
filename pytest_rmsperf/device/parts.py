"""The parts that are profiled: their words, what they are, and the source of each number.

Compute capabilities are those of developer.nvidia.com/cuda-gpus. Memory is what nvidia-smi reports,
which moves a little from driver to driver.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_rmsperf.environment import DeviceIdentity

# The word for it, what it is, the source of its SMs and that of its memory.
Part = tuple[str, DeviceIdentity, str, str]

# The first part of an arch is what that arch stands for.
WHOLE: tuple[Part, ...] = (
    (
        "h100-sxm",
        DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81559),
        "NVIDIA H100 Tensor Core GPU Architecture (whitepaper), H100 SXM5",
        "nvidia-smi, driver 550.54.15",
    ),
    (
        "h100-pcie",
        DeviceIdentity("NVIDIA H100 PCIe", 114, "9.0", 81559),
        "NVIDIA H100 Tensor Core GPU Architecture (whitepaper), H100 PCIe",
        "nvidia-smi, driver 570.211.01",
    ),
    (
        "h100-nvl",
        DeviceIdentity("NVIDIA H100 NVL", 132, "9.0", 95830),
        "nvidia-smi mig -lgip, 7g.94gb, a slice of all of them",
        "nvidia-smi, driver 580.95.05",
    ),
    (
        "h200",
        DeviceIdentity("NVIDIA H200", 132, "9.0", 143771),
        "as H100 SXM5, the same GH100 configuration",
        "nvidia-smi, driver 580",
    ),
    (
        "gh200",
        DeviceIdentity("NVIDIA GH200 480GB", 132, "9.0", 97871),
        "nvidia-smi mig -lgip, 7g.96gb, a slice of all of them",
        "nvidia-smi, driver 550.127.08",
    ),
    (
        "a100-sxm-80gb",
        DeviceIdentity("NVIDIA A100-SXM4-80GB", 108, "8.0", 81920),
        "NVIDIA A100 Tensor Core GPU Architecture (whitepaper)",
        "nvidia-smi, driver 545.23.08",
    ),
    (
        "a100-sxm-40gb",
        DeviceIdentity("NVIDIA A100-SXM4-40GB", 108, "8.0", 40960),
        "NVIDIA A100 Tensor Core GPU Architecture (whitepaper)",
        "nvidia-smi, driver 595.71.05",
    ),
    (
        "a100-pcie-80gb",
        DeviceIdentity("NVIDIA A100 80GB PCIe", 108, "8.0", 81920),
        "core_count in OpenXLA's a100_pcie_80.txtpb",
        "nvidia-smi, driver 570.148.08",
    ),
    (
        "a100-pcie-40gb",
        DeviceIdentity("NVIDIA A100-PCIE-40GB", 108, "8.0", 40960),
        "as CUDA reports them to PyTorch 1.9",
        "nvidia-smi, driver 580.95.05",
    ),
    (
        "l4",
        DeviceIdentity("NVIDIA L4", 58, "8.9", 23034),
        "7424 CUDA cores of the L4 at 128 per SM of compute capability 8.9",
        "nvidia-smi, driver 570.133.20",
    ),
    (
        "l40s",
        DeviceIdentity("NVIDIA L40S", 142, "8.9", 46068),
        "18176 CUDA cores of the L40S (datasheet) at 128 per SM of compute capability 8.9",
        "nvidia-smi, driver 580.82.07",
    ),
    (
        "rtx-4090",
        DeviceIdentity("NVIDIA GeForce RTX 4090", 128, "8.9", 24564),
        "NVIDIA Ada GPU Architecture (whitepaper), as CUDA reports them to PyTorch",
        "nvidia-smi, driver 580.82.09, ECC off",
    ),
    (
        "a10",
        DeviceIdentity("NVIDIA A10", 72, "8.6", 23028),
        "9216 CUDA cores of the A10 (datasheet) at 128 per SM of compute capability 8.6",
        "nvidia-smi, driver 580.126.09",
    ),
    (
        "t4",
        DeviceIdentity("Tesla T4", 40, "7.5", 15360),
        "deviceQuery of the CUDA samples",
        "nvidia-smi, driver 580.82.07",
    ),
    (
        "b200",
        DeviceIdentity("NVIDIA B200", 148, "10.0", 183359),
        "core_count in OpenXLA's b200.txtpb",
        "nvidia-smi, driver 580.95.05",
    ),
    (
        "rtx-5090",
        DeviceIdentity("NVIDIA GeForce RTX 5090", 170, "12.0", 32607),
        "NVIDIA RTX Blackwell GPU Architecture (whitepaper)",
        "nvidia-smi, driver 580.82.09",
    ),
)


def _slices_of(
    word: str, sizes: tuple[tuple[str, int, int], ...], sms_source: str, memory_source: str
) -> tuple[Part, ...]:
    """Return MIG slices of a whole part; of each its MIG profile, SMs and MiB are given."""
    [whole] = [identity for name, identity, *_ in WHOLE if name == word]
    return tuple(
        (
            f"{word}-mig-{size}",
            replace(whole, name=f"{whole.name} MIG {size}", sms=sms, memory_mib=memory_mib),
            sms_source,
            memory_source,
        )
        for size, sms, memory_mib in sizes
    )


# `nvidia-smi mig -lgip` lists memory as GiB with two digits; each is a multiple of 128 MiB, which
# gives the MiB that nvidia-smi shows of such a slice.
SLICES: tuple[Part, ...] = (
    *_slices_of(
        "a100-sxm-40gb",
        (
            ("1g.5gb", 14, 4864),
            ("1g.10gb", 14, 9856),
            ("2g.10gb", 28, 9856),
            ("3g.20gb", 42, 19968),
            ("4g.20gb", 56, 19968),
            ("7g.40gb", 98, 40192),
        ),
        "nvidia-smi mig -lgip in NVIDIA's MIG User Guide",
        "the same listing",
    ),
    *_slices_of(
        "a100-sxm-80gb",
        (
            ("1g.10gb", 14, 9728),
            ("1g.20gb", 14, 19968),
            ("2g.20gb", 28, 19968),
            ("3g.40gb", 42, 40192),
            ("4g.40gb", 56, 40192),
            ("7g.80gb", 98, 80640),
        ),
        "NVIDIA's MIG User Guide, the slices of an A100 40GB under other names",
        "nvidia-smi mig -lgip of an A100 80GB PCIe",
    ),
    *_slices_of(
        "h100-sxm",
        (
            ("1g.10gb", 16, 9984),
            ("1g.20gb", 26, 20096),
            ("2g.20gb", 32, 20096),
            ("3g.40gb", 60, 40448),
            ("4g.40gb", 64, 40448),
            ("7g.80gb", 132, 81152),
        ),
        "nvidia-smi mig -lgip of an H100 SXM5 80GB, in stackhpc/ansible-slurm-appliance",
        "the same listing",
    ),
)
