"""A change that loses blocks per SM: what the static gate says, and beside it what time it costs.

`pytest -s` shows both messages in full.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from planted import SLOWER, Outcome
from planted_static import SUITE, StaticProject, message_of

ROOT = Path(__file__).parents[2]

BOTH = f"""{SUITE}

@pytest.mark.parametrize("case", OPERATOR.cases())
def test_latency(case, rmsperf_latency):
    rmsperf_latency.require()
"""
INI = """
[pytest]
addopts = -ra
rmsperf_devices = h200, l4
"""

# 32 rows are 1024 blocks: one launch while an H200 holds 8 of them per SM, two with 6.
CASE = "rms_scaled_softmax/megakernel_row-graph/32x131072"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What this repository's baselines say of 16 KiB more static shared memory."""
    project = StaticProject(tmp_path_factory.mktemp("pull_request"), suite=BOTH, ini=INI)
    project.take_baselines(ROOT)
    project.plant(
        "megakernel_row.cu",
        "    float* tile = reinterpret_cast<float*>(tile_memory);\n",
        "    __shared__ float4 copy[TILE / VECTOR];\n"
        "    float* tile = reinterpret_cast<float*>(tile_memory);\n",
    )
    project.plant(
        "megakernel_row.cu",
        "    write_quotients(inverse_sum, place, tile, y);\n",
        "#pragma unroll\n"
        "    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {\n"
        "        retained(reinterpret_cast<float*>(copy), i) = retained(tile, i);\n"
        "    }\n"
        "    __syncthreads();\n"
        "    write_quotients(inverse_sum, place, reinterpret_cast<float*>(copy), y);\n",
    )
    return project.run("--rmsperf", "-k", "megakernel_row-graph")


def test_a_lost_block_per_sm_is_costlier_and_names_the_device_and_the_cause(
    outcome: Outcome,
) -> None:
    message = message_of("test_static", CASE, outcome.output)

    print(message)
    assert message.startswith("costlier")
    assert "8 -> 6 blocks per SM of megakernel_row, limited by shared memory" in message
    assert "NVIDIA H200" in message


def test_the_latency_beside_it_is_slower_because_of_the_same(outcome: Outcome) -> None:
    message = message_of("test_latency", CASE, outcome.output)

    print(message)
    assert SLOWER.match(message)
    assert "8 -> 6 blocks per SM" in message
    assert outcome.failed == {("test_static", "megakernel_row"), ("test_latency", "megakernel_row")}
