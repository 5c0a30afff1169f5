"""The telling kinds of instructions, by the opcodes that nvdisasm 13.5 prints."""

from __future__ import annotations

import pytest

from pytest_rmsperf.device.instructions import count_kinds, kind_of, without_padding


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("LDG.E", "global load 32"),
        ("LDG.E.SYS", "global load 32"),
        ("LDG.E.128.CONSTANT", "global load 128"),
        ("LDG.E.NA.LTC128B.64.CONSTANT", "global load 64"),
        ("LDG.E.ENL2.256", "global load 256"),
        ("STG.E.U8", "global store 8"),
        ("LDS.U.S16", "shared load 16"),
        ("STS.128", "shared store 128"),
        ("LDL.U16", "local load 16"),
        ("STL.64", "local store 64"),
        ("LD.E.STRONG.GPU", "generic load 32"),
        ("ST.E.128", "generic store 128"),
        ("LDSM.16.M88.4", "matrix load"),
        ("LDGSTS.E.BYPASS.128", "async copy"),
        ("UBLKCP.S.G", "async copy"),
        ("UTMALDG.2D", "async copy"),
        ("ATOMG.E.CAS.STRONG.GPU", "atomic"),
        ("ATOMS.ADD", "atomic"),
        ("REDG.E.ADD.STRONG.GPU", "atomic"),
        ("ATOMS.ARRIVE.64", "mbarrier"),
        ("SYNCS.ARRIVE.TRANS64", "mbarrier"),
        ("MUFU.RCP64H", "special function"),
        ("BAR.SYNC.DEFER_BLOCKING", "barrier"),
        ("UCGABAR_WAIT", "cluster barrier"),
        ("MEMBAR.ALL.GPU", "memory fence"),
        ("SHFL.BFLY", "shuffle"),
        ("CREDUX.MIN", "warp reduction"),
        ("HMMA.16816.F32", "tensor core"),
        ("QGMMA.64x8x32.F32.E4M3.E4M3", "tensor core"),
        ("UTCHMMA", "tensor core"),
        ("FFMA2", "fp32"),
        ("DFMA.RM", "fp64"),
    ],
)
def test_a_telling_instruction_has_its_kind(opcode: str, kind: str) -> None:
    assert kind_of(opcode) == kind


@pytest.mark.parametrize(
    "opcode",
    ["HFMA2.MMA", "IMAD.MOV.U32", "LDC.64", "LDGDEPBAR", "UTMAPF.L2.2D", "BRA.U", "CALL.REL.NOINC"],
)
def test_what_only_looks_like_a_telling_instruction_has_none(opcode: str) -> None:
    assert kind_of(opcode) is None


def test_kinds_are_counted_in_order_and_without_zeros() -> None:
    opcodes = ["SHFL.IDX", "LDG.E", "MOV", "LDG.E", "EXIT"]

    assert count_kinds(opcodes) == (("global load 32", 2), ("shuffle", 1))


def test_padding_is_what_stands_behind_the_last_instruction() -> None:
    opcodes = ["DMUL", "NOP", "EXIT", "BRA", "NOP", "NOP"]

    assert without_padding(opcodes) == ["DMUL", "NOP", "EXIT", "BRA"]


def test_a_section_of_padding_has_no_instructions() -> None:
    assert without_padding(["NOP", "NOP"]) == []
