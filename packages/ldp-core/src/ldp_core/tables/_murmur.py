"""Murmur3 (x86, 32 bits, seed 0) as DuckDB SQL, as Iceberg's bucket transform wants it.

Source: https://iceberg.apache.org/spec/#appendix-b-32-bit-hash-requirements and the public-domain reference
MurmurHash3_x86_32 by Austin Appleby. Ints, longs, dates, times and timestamps hash as eight little-endian
bytes, texts, UUIDs and decimals as the bytes that the specification gives them. In SQL and not in a function
of Python, because DuckDB calls those by numpy, which LDP does not need for anything else.
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
        mixed = _mixed(mixed, _block(half))
    return _bucket(f"xor({mixed}, {_number(8)})", buckets)


def bucket_of_bytes(value: str, buckets: int) -> str:
    """The same of a BLOB expression of any length; NULL stays NULL.

    A lambda gives each step a short name for what it reads more than once.
    """
    four = "CAST(CAST(array_slice(v || '\\x00\\x00\\x00'::BLOB, i + 1, i + 4) AS BIT) AS UINTEGER)"
    blocks = f"list_transform(range(0, octet_length(v), 4), lambda i: {four}::UBIGINT)"
    swapped = "((x & 255) << 24) | ((x & 65280) << 8) | ((x >> 8) & 65280) | (x >> 24)"
    blocks = f"list_transform(list_transform({blocks}, lambda x: {swapped}), lambda x: {_block('x')})"
    full = "octet_length(v) // 4"
    mixed = f"list_reduce(p[1:{full}], lambda h, x: {_mixed('h', 'x')}, {_number(0)})"
    ended = f"xor(xor({mixed}, coalesce(p[{full} + 1], {_number(0)})), octet_length(v)::UBIGINT)"
    hashed = f"list_transform([{value}], lambda v: list_transform([{blocks}], lambda p: {ended})[1])"
    return f"list_transform({hashed}, lambda h: {_bucket('h', buckets)})[1]"


def decimal_bytes(unscaled: str) -> str:
    """SQL for the fewest big-endian bytes that hold a HUGEINT expression in two's complement."""
    bits = "length(ltrim(CAST(CAST(CASE WHEN d < 0 THEN -(d + 1) ELSE d END AS BIT) AS VARCHAR), '0'))"
    bytes = f"array_slice(CAST(CAST(d AS BIT) AS BLOB), 16 - {bits} // 8, 16)"
    return f"list_transform([{unscaled}], lambda d: {bytes})[1]"


def _block(value: str) -> str:
    return _times(_rotated(_times(value, 0xCC9E2D51), 15), 0x1B873593)


def _mixed(state: str, block: str) -> str:
    turned = _rotated(f"xor({state}, {block})", 13)
    return f"((({turned}) * 5::UBIGINT + {_number(0xE6546B64)}) & {_number(_MASK)})"


def _bucket(state: str, buckets: int) -> str:
    state = _times(f"xor({state}, ({state}) >> 16)", 0x85EBCA6B)
    state = _times(f"xor({state}, ({state}) >> 13)", 0xC2B2AE35)
    state = f"xor({state}, ({state}) >> 16)"
    return f"CAST((({state}) & {_number(0x7FFFFFFF)}) % {_number(buckets)} AS INTEGER)"


def _number(value: int) -> str:
    return f"{value}::UBIGINT"


def _times(value: str, factor: int) -> str:
    return f"((({value}) * {_number(factor)}) & {_number(_MASK)})"


def _rotated(value: str, bits: int) -> str:
    return f"(((({value}) << {bits}) & {_number(_MASK)}) | (({value}) >> {32 - bits}))"
