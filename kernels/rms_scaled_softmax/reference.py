"""The torch module that says what the operator computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from pytest_rmsperf.accuracy import Precision

from .common import EPS

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays


class RmsScaledSoftmax(nn.Module):
    """Softmax of each row after division by its root mean square; (rows, columns) in and out."""

    def __init__(self, eps: float = EPS) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        inverse_rms = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps)
        exponentials = ((x - x.amax(dim=-1, keepdim=True)) * inverse_rms).exp()
        return exponentials / exponentials.sum(dim=-1, keepdim=True)


def run(arrays: Arrays, precision: Precision) -> Arrays:
    """Return y of shape (rows, columns), computed on the CPU in `precision`.

    On the CPU no reduced-precision mode (TF32) can be switched on behind the reference's back.
    """
    dtype = torch.float64 if precision is Precision.FLOAT64 else torch.float32
    x = torch.from_numpy(arrays["x"]).to(dtype)
    with torch.inference_mode():
        return {"y": RmsScaledSoftmax()(x).numpy()}
