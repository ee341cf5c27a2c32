"""What ``format`` asks of a value, as a pattern or as bounds."""

from __future__ import annotations

_H16 = "[0-9A-Fa-f]{1,4}"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_LS32 = rf"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = "|".join(
    (
        rf"(?:{_H16}:){{6}}{_LS32}",
        rf"::(?:{_H16}:){{5}}{_LS32}",
        *(rf"(?:(?:{_H16}:){{0,{at}}}{_H16})?::(?:{_H16}:){{{4 - at}}}{_LS32}" for at in range(5)),
        rf"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
        rf"(?:(?:{_H16}:){{0,6}}{_H16})?::",
    )
)
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

TEXTS = {
    "uuid": "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
    "email": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "uri": r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$",
    "hostname": rf"^{_LABEL}(?:\.{_LABEL})*$",
    "ipv4": f"^{_IPV4}$",
    "ipv6": f"^(?:{_IPV6})$",
    "byte": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
}
"""Formats of texts to RE2 patterns."""
SILENT = ("password", "binary", "f32", "f64", "i128")
"""Formats that ask nothing of a value that a column can hold."""
INTEGERS = {
    **{f"i{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "u128": (0, None),
}
"""Formats of whole numbers to the least and the largest value."""
