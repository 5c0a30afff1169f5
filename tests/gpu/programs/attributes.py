"""Print, for every kernel of every variant, the compiler's and the driver's word on its cost."""

from __future__ import annotations

import json

from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.occupancy import ProfileCapacity
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR


def main() -> None:
    context = CudaContext.open()
    identity = context.identity()
    checker = Checker(context, identity.arch)
    found = []
    for variant in OPERATOR.variants:
        compiled, loaded = checker.compiled(variant), checker.on_cuda(variant)
        computed = ProfileCapacity(DeviceProfile(identity, "asked from CUDA"), compiled)
        plan = variant.plan(OPERATOR.problems[-1], loaded)
        for launch in plan.launches:
            kernel = compiled.kernel(launch.kernel)
            place = (launch.kernel, launch.threads_per_block, launch.dynamic_smem_bytes)
            found.append(
                {
                    "kernel": f"{variant.name}:{launch.kernel}",
                    "compiler": [
                        kernel.registers_per_thread,
                        kernel.static_smem_bytes,
                        kernel.local_bytes,
                        computed.blocks_per_sm(*place),
                    ],
                    "driver": [
                        loaded.attribute(launch.kernel, "num_regs"),
                        loaded.attribute(launch.kernel, "shared_size_bytes"),
                        loaded.attribute(launch.kernel, "local_size_bytes"),
                        loaded.blocks_per_sm(*place),
                    ],
                }
            )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
