"""The recipes are what their schedulers read, whatever the paths hold."""

from __future__ import annotations

import configparser
import plistlib
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from ldp_core.errors import UsageError
from ldp_orchestration.recipes import RECIPES, recipe

PATHS = [
    "/srv/lake",
    "/srv/my lake",
    "/srv/50% off",
    "/srv/a & b <c>",
    '/srv/it\'s "ours"',
    "/srv/$HOME;`id` -- x",
    "/srv/back\\slash\\",
    "/srv/both\\%y\\\\%d",
    "/srv/Früh",
    "/",
]
LDP = "/opt/my tools/50% $x/bin/ldp"
NAMES = [f"path{number}" for number in range(len(PATHS))]
folders = pytest.mark.parametrize("folder", PATHS, ids=NAMES)


def as_cron_reads(line: str) -> str:
    """The command that cron gives to the shell: it ends at a bare percent, and a backslash keeps one."""
    found, escaped = "", False
    for char in line:
        if escaped:
            found = found[:-1] + char if char == "%" else found + char
            escaped = False
        elif char == "%":
            return found
        else:
            escaped = char == "\\"
            found += char
    return found


@folders
def test_cron(folder: str) -> None:
    *comments, line = recipe("cron", folder, LDP).splitlines()
    assert all(comment.startswith("#") for comment in comments)
    assert "Install" in "".join(comments)
    assert "Remove" in "".join(comments)
    when, command = line[: len("*/5 * * * *")], line[len("*/5 * * * * ") :]
    assert when == "*/5 * * * *"
    root = folder.rstrip("/")
    assert shlex.split(as_cron_reads(command)) == [
        *("mkdir", "-p", f"{root}/.ldp", "&&"),
        *(LDP, "schedule", "tick", folder, ">>", f"{root}/.ldp/schedule.log", "2>&1"),
    ]


def test_cron_runs_as_a_shell_reads_it(tmp_path: Path) -> None:
    folder, tool = tmp_path / "it's 50% & $HOME", tmp_path / "my tools" / "ldp"
    folder.mkdir()
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    tool.chmod(0o755)
    command = recipe("cron", folder, tool).splitlines()[-1][len("*/5 * * * * ") :]
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", as_cron_reads(command)], check=True)
    assert (folder / ".ldp" / "schedule.log").read_text() == f"schedule|tick|{folder}|" * 2


@folders
def test_launchd(folder: str) -> None:
    text = recipe("launchd", folder, LDP)
    read = plistlib.loads(text.encode())
    assert read["StartInterval"] == 300
    assert read["RunAtLoad"] is True
    assert re.fullmatch(r"[a-z0-9.-]+", read["Label"])
    shell, flag, script = read["ProgramArguments"]
    assert (shell, flag) == ("/bin/sh", "-c")
    assert shlex.split(script)[4:] == [
        *("exec", LDP, "schedule", "tick", folder),
        *(">>", f"$HOME/Library/Logs/{read['Label']}.log", "2>&1"),
    ]
    assert f"launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{read['Label']}.plist" in text
    assert f"launchctl bootout gui/$(id -u)/{read['Label']}" in text


def units(text: str) -> dict[str, str]:
    """The files of a systemd recipe."""
    parts = re.split(r"^# ~/\.config/systemd/user/(\S+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def parsed(unit: str) -> configparser.RawConfigParser:
    read = configparser.RawConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(unit)
    return read


def as_systemd_reads(command: str) -> list[str]:
    """The words of a command of a unit: percents and, after the executable, dollars are doubled."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', command)
    plain = [(quoted or bare).replace("%%", "%") for quoted, bare in words]
    plain = [re.sub(r"\\(.)", r"\1", word) for word in plain]
    return [plain[0], *(word.replace("$$", "$") for word in plain[1:])]


@folders
def test_systemd(folder: str) -> None:
    text = recipe("systemd", folder, LDP)
    files = units(text)
    service, timer = sorted(files)
    assert service.removesuffix(".service") == timer.removesuffix(".timer")
    read = parsed(files[service])
    assert as_systemd_reads(read["Service"]["ExecStart"]) == [LDP, "schedule", "tick", folder]
    assert read["Service"]["Type"] == "oneshot"
    read = parsed(files[timer])
    assert dict(read["Timer"]) == {"OnCalendar": "*:0/5", "Persistent": "true", "AccuracySec": "10s"}
    assert read["Install"]["WantedBy"] == "timers.target"
    assert f"systemctl --user enable --now {timer}" in text
    assert f"systemctl --user disable --now {timer}" in text


def test_systemd_calls_an_executable_of_odd_name_by_a_shell() -> None:
    (_, unit), _ = sorted(units(recipe("systemd", "/srv/lake", "/opt/it's $x/ldp")).items())
    words = as_systemd_reads(parsed(unit)["Service"]["ExecStart"].replace('\'exec "$$0" "$$@"\'', "SCRIPT"))
    assert words == ["/bin/sh", "-c", "SCRIPT", "/opt/it's $x/ldp", "schedule", "tick", "/srv/lake"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@folders
def test_systemd_verifies_the_units(folder: str, tmp_path: Path) -> None:
    tool = tmp_path / ("my 50% $x tools" if len(folder) % 2 else 'it is "ours"\\') / "ldp"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    files = units(recipe("systemd", folder, tool))
    place = tmp_path / "units"
    place.mkdir()
    for name, unit in files.items():
        (place / name).write_text(unit)
    service = place / next(name for name in files if name.endswith(".service"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(service)],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if service.name in line or str(place) in line]
    assert ours == []
    checked = subprocess.run(
        ["systemd-analyze", "calendar", "*:0/5"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


WINDOWS = ["C:\\lake", "C:\\my lake & co", "D:\\", "C:\\50% off (old)", "C:\\Übung\\", "\\\\server\\share\\x"]


@pytest.mark.parametrize("folder", WINDOWS, ids=[f"path{number}" for number in range(len(WINDOWS))])
def test_windows(folder: str) -> None:
    text = recipe("windows", folder, "C:\\Program Files\\ldp & co\\ldp.exe")
    assert text.isascii()
    task = ET.fromstring(text)
    space = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}

    def value(path: str) -> str:
        return task.findtext(path, namespaces=space) or ""

    assert value(".//t:Repetition/t:Interval") == "PT5M"
    assert value(".//t:Settings/t:MultipleInstancesPolicy") == "IgnoreNew"
    assert value(".//t:Exec/t:Command") == "cmd.exe"
    root = folder.rstrip("\\")
    tail = "\\" * (len(folder) - len(root))
    state = f'"{root}\\.ldp"'
    assert value(".//t:Exec/t:Arguments") == (
        f'/d /s /c "(if not exist {state} mkdir {state}) & "C:\\Program Files\\ldp & co\\ldp.exe" '
        f'schedule tick "{folder}{tail}" >> "{root}\\.ldp\\schedule.log" 2>&1"'
    )
    name = re.search(r"/TN (\S+) /XML (\S+)", text)
    assert name is not None
    assert name.group(2) == f"{name.group(1)}.xml"
    assert f"schtasks /Delete /TN {name.group(1)} /F" in text


def test_two_folders_of_one_name_have_two_recipes() -> None:
    one, two = (plistlib.loads(recipe("launchd", at, LDP).encode())["Label"] for at in ("/a/lake", "/b/lake"))
    assert one != two
    assert one.startswith("dev.ldp.schedule.lake-")


def test_what_no_recipe_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown recipe 'at'; one of: cron, launchd, systemd, windows"):
        recipe("at", "/srv", LDP)
    for kind in RECIPES:
        with pytest.raises(UsageError, match="line break"):
            recipe(kind, "/srv/a\nb", LDP)
    for folder in ('C:\\a"b', "C:\\%PATH%"):
        with pytest.raises(UsageError, match=r"cmd\.exe takes no double quote"):
            recipe("windows", folder, "C:\\ldp.exe")
