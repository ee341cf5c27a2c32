"""Murmur3 (x86, 32 bits, seed 0) of a long as DuckDB SQL, as Iceberg's bucket transform wants it.

Source: https://iceberg.apache.org/spec/#appendix-b-32-bit-hash-requirements and the public-domain reference
MurmurHash3_x86_32 by Austin Appleby. Ints, longs, dates, times and timestamps
hash as eight little-endian bytes.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def bucket_of_long(value: str, buckets: int) -> str:
    """SQL for ``(murmur3(value) & 0x7fffffff) % buckets`` of a BIGINT expression; NULL stays NULL."""
    halves = (
        f"(({value}) & {_MASK})::UBIGINT",
        f"((({value}) >> 32) & {_MASK})::UBIGINT",
    )
    mixed = _number(0)
    for half in halves:
        part = _times(_rotated(_times(half, 0xCC9E2D51), 15), 0x1B873593)
        mixed = _rotated(f"xor({mixed}, {part})", 13)
        mixed = f"((({mixed}) * 5::UBIGINT + {_number(0xE6546B64)}) & {_number(_MASK)})"
    mixed = f"xor({mixed}, {_number(8)})"
    mixed = _times(f"xor({mixed}, ({mixed}) >> 16)", 0x85EBCA6B)
    mixed = _times(f"xor({mixed}, ({mixed}) >> 13)", 0xC2B2AE35)
    mixed = f"xor({mixed}, ({mixed}) >> 16)"
    return f"CAST((({mixed}) & {_number(0x7FFFFFFF)}) % {_number(buckets)} AS INTEGER)"


def _number(value: int) -> str:
    return f"{value}::UBIGINT"


def _times(value: str, factor: int) -> str:
    return f"((({value}) * {_number(factor)}) & {_number(_MASK)})"


def _rotated(value: str, bits: int) -> str:
    return f"(((({value}) << {bits}) & {_number(_MASK)}) | (({value}) >> {32 - bits}))"
