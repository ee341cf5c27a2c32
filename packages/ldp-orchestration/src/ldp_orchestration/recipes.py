"""Recipes by which the system calls ``ldp schedule tick`` every five minutes. Texts: nothing is installed."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable
from pathlib import Path, PurePath
from xml.sax.saxutils import escape

from ldp_core.errors import UsageError

EVERY = 300
"""Seconds between two ticks."""

LOG = ".ldp/schedule.log"
"""Where cron and Windows append what a tick prints, from the folder."""

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def recipe(kind: str, folder: str | Path | PurePath, ldp: str | Path | PurePath) -> str:
    """The text that makes a scheduler of the system call the tick, with a comment on how to use it.

    Args:
        kind: ``cron``, ``launchd``, ``systemd`` or ``windows``.
        folder: The absolute path of the folder to tick.
        ldp: The absolute path of the ``ldp`` executable.

    Raises:
        UsageError: There is no such kind, or a path has a character that the scheduler cannot take.
    """
    if kind not in RECIPES:
        raise UsageError(f"unknown recipe {kind!r}", hint=f"one of: {', '.join(RECIPES)}")
    for path in (str(folder), str(ldp)):
        if _UNPRINTABLE.search(path):
            raise UsageError(f"{path!r} has a line break or another control character", hint="rename it")
    return RECIPES[kind](str(folder), str(ldp))


def label(folder: str) -> str:
    """A name for the recipe of a folder: its last part, and what tells it from others of that name."""
    last = re.split(r"[/\\]", folder.rstrip("/\\"))[-1]
    word = re.sub(r"[^a-z0-9]+", "-", last.lower()).strip("-")
    return "-".join(part for part in (word, hashlib.sha256(folder.encode()).hexdigest()[:8]) if part)


def _cron(folder: str, ldp: str) -> str:
    root = folder.rstrip("/")
    state, log = shlex.quote(f"{root}/.ldp"), shlex.quote(f"{root}/{LOG}")
    call = f"mkdir -p {state} && {shlex.quote(ldp)} schedule tick {shlex.quote(folder)} >> {log} 2>&1"
    return (
        f"# Runs what is scheduled under {folder} every five minutes.\n"
        "# Install: crontab -e, and add the line below. Remove: crontab -e, and delete it.\n"
        "# cron does not run while the machine sleeps: the next tick takes up what is due by then.\n"
        f"*/5 * * * * {_in_crontab(call)}\n"
    )


def _in_crontab(command: str) -> str:
    r"""A command as a crontab holds it, where ``%`` ends the line and ``\%`` is one.

    cron reads a backslash before that one as well, so a quoted backslash is kept apart by ``''``.
    """
    return command.replace("\\%", "\\''%").replace("%", r"\%")


def _launchd(folder: str, ldp: str) -> str:
    name = f"dev.ldp.schedule.{label(folder)}"
    place = f"~/Library/LaunchAgents/{name}.plist"
    comment = (
        f"Runs what is scheduled under {folder} every five minutes, and once when the Mac wakes.\n"
        f"  Install: save this as {place}, then\n"
        f"    launchctl bootstrap gui/$(id -u) {place}\n"
        f"  Remove:\n"
        f"    launchctl bootout gui/$(id -u)/{name}; rm {place}"
    )
    script = (
        'mkdir -p "$HOME/Library/Logs" && '
        f'exec {shlex.quote(ldp)} schedule tick {shlex.quote(folder)} >> "$HOME/Library/Logs/{name}.log" 2>&1'
    )
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in ("/bin/sh", "-c", script))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!--
  {_in_comment(comment)}
-->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{name}</string>
  <key>ProgramArguments</key>
  <array>
{words}
  </array>
  <key>StartInterval</key>
  <integer>{EVERY}</integer>
  <key>RunAtLoad</key>
  <true/>
</dict>
</plist>
"""


def _in_comment(text: str) -> str:
    """A text as an XML comment holds it, in which no two hyphens may meet."""
    return re.sub(r"-(?=-)", "- ", text)


def _systemd(folder: str, ldp: str) -> str:
    name = f"ldp-schedule-{label(folder)}"
    home = "~/.config/systemd/user"
    return f"""\
# Runs what is scheduled under {folder} every five minutes: a service and a timer of the user.
# Install: save the two parts under the names that stand above them, then
#   systemctl --user daemon-reload
#   systemctl --user enable --now {name}.timer
#   loginctl enable-linger    # to run while you are not logged in
# Look:    journalctl --user -u {name}.service
# Remove:
#   systemctl --user disable --now {name}.timer
#   rm {home}/{name}.service {home}/{name}.timer && systemctl --user daemon-reload

# {home}/{name}.service
[Unit]
Description=ldp schedule tick {_in_unit(folder)}

[Service]
Type=oneshot
ExecStart={_unit_command(ldp)} schedule tick {_unit_word(folder)}

# {home}/{name}.timer
[Unit]
Description=ldp schedule tick {_in_unit(folder)} every five minutes

[Timer]
OnCalendar=*:0/5
Persistent=true
AccuracySec=10s

[Install]
WantedBy=timers.target
"""


def _in_unit(text: str) -> str:
    """A text as a unit file holds it, where ``%`` begins a specifier and a last backslash joins lines."""
    return text.replace("%", "%%") + (" " if text.endswith("\\") else "")


def _unit_command(ldp: str) -> str:
    """The executable of a unit; systemd takes none with a quote or a backslash, so a shell calls those."""
    if re.search(r"[\\'\"]", ldp):
        return f"""/bin/sh -c 'exec "$$0" "$$@"' {_unit_word(ldp)}"""
    return _unit_word(ldp, variables=False)


def _unit_word(word: str, variables: bool = True) -> str:
    """One word of a command of a unit file.

    Args:
        word: The word.
        variables: Whether ``$`` begins a variable there; it does not in the path of the executable.
    """
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{quoted.replace("$", "$$") if variables else quoted}"'


def _windows(folder: str, ldp: str) -> str:
    name = f"ldp-schedule-{label(folder)}"
    separator = "/" if folder.startswith("/") else "\\"
    root = folder.rstrip("\\/")
    state, log = (_cmd_word(separator.join((root, *part.split("/")))) for part in (".ldp", LOG))
    call = (
        f'/d /s /c "(if not exist {state} mkdir {state}) & '
        f'{_cmd_word(ldp)} schedule tick {_cmd_word(folder)} >> {log} 2>&1"'
    )
    return f"""<?xml version="1.0"?>
<!--
  Runs what is scheduled under the folder below every five minutes, while you are logged in.
  Install: save this as {name}.xml, then
    schtasks /Create /TN {name} /XML {name}.xml
  Remove:
    schtasks /Delete /TN {name} /F
-->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>{_ascii(escape(f"ldp schedule tick {folder}"))}</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <Repetition>
        <Interval>PT5M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
      <StartBoundary>2020-01-01T00:00:00</StartBoundary>
      <Enabled>true</Enabled>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>cmd.exe</Command>
      <Arguments>{_ascii(escape(call))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


def _cmd_word(word: str) -> str:
    """One word of a command line of cmd.exe, for a program that reads it as C programs do."""
    if '"' in word or re.search("%[^%]+%", word):
        raise UsageError(f"{word!r}: cmd.exe takes no double quote and no %NAME% in a path", hint="rename it")
    tail = len(word) - len(word.rstrip("\\"))
    return f'"{word}{word[len(word) - tail :]}"'


def _ascii(text: str) -> str:
    """A text of XML that is the same in every encoding that the file may be saved in."""
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


RECIPES: dict[str, Callable[[str, str], str]] = {
    "cron": _cron,
    "launchd": _launchd,
    "systemd": _systemd,
    "windows": _windows,
}
