"""The sources of settings: command line, environment, file; and the errors for bad ones.

The settings themselves are in `settings`. Rules:

- A value from the command line (`-o name=value`, or a flag) goes before one from the environment (`KCOORD_NAME`, with
  underscores for dots). That goes before one from the file (`--config`, TOML), and that before the default.
- A name that does not exist, or a value that does not fit, is refused. The error says where it came from, and gives the
  nearest name that exists. A mistyped setting must not become a silent default.
- Settings that contradict each other are refused too, and so is a setting that would have no effect with the others
  (`settings_checks`).
- A secret can come from a file that holds nothing else: NAME.file=PATH, wherever NAME is allowed. It should not be on
  the command line, which every user of the machine can read.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from pydantic import ValidationError

from kcoord.group.state.connect_settings import FORMER_NAMES
from kcoord.settings import SECTIONS, WILDCARD_HOSTS, Settings, SettingsError, setting_name
from kcoord.settings_checks import check_together

__all__ = [
    "SECTIONS",
    "WILDCARD_HOSTS",
    "Settings",
    "SettingsError",
    "load_settings",
    "setting_name",
]

ENVIRONMENT_PREFIX = "KCOORD_"
CONFIG_VARIABLE = "KCOORD_CONFIG"


_NAMES = {setting_name(field): field for field in Settings.model_fields}
_KAFKA_NAMES = {
    "advertised.listeners": "advertise",
    "bootstrap.servers": "upstream",
    "broker.id": "instance.id",
    "listeners": "listen",
    "log.dir": "data.dir",
    "log.dirs": "data.dir",
    "node.id": "instance.id",
    "num.partitions": "offsets.topic.num.partitions",
}
"""Names of Kafka's settings that people try, and the name of the corresponding setting here."""
_FORMER_NAMES = {f"group.{former}": f"group.{name}" for former, name in FORMER_NAMES.items()}
"""The names that settings had in release 0.1.0, and their names today. The former ones are still accepted."""

_SECRET_WORDS = ("password", "secret")
"""Words that mark a secret: the value of a setting with one of them in its name is not printed."""
SECRET_FIELDS = tuple(field for field in Settings.model_fields if any(word in field for word in _SECRET_WORDS))
"""The fields of Settings whose values are secret."""
FILE_SUFFIX = ".file"
"""The suffix for the name of a secret setting; the value is then the path of the file that holds the secret."""
_SECRET_FILES = {setting_name(field) + FILE_SUFFIX: field for field in SECRET_FIELDS}


@attrs.frozen
class _Given:
    value: object
    origin: str
    former: str = ""
    """A warning if the setting was given under a former name."""


def load_settings(
    options: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
    config: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings from the command line (`options` as NAME=VALUE, `flags` by field), from `environment` and from the
    file `config`. Raises SettingsError.
    """
    given = _given(options, flags or {}, config, environment)
    try:
        settings = Settings(**{field: each.value for field, each in given.items()})  # type: ignore[arg-type]
    except ValidationError as error:
        raise _refused(error, given) from None
    check_together(settings, {field: each.origin for field, each in given.items()})
    return settings


def secrets_of(settings: Settings) -> list[str]:
    """The values of all secret settings that are set."""
    return [value for field in SECRET_FIELDS if (value := getattr(settings, field))]


def _given(
    options: Sequence[str], flags: Mapping[str, object], config: Path | None, environment: Mapping[str, str]
) -> dict[str, _Given]:
    """What was given, by field. Raises SettingsError."""
    given: dict[str, _Given] = {}
    if config is not None:
        given.update(_from_file(config))
    given.update(_from_environment(environment))
    given.update(_from_command_line(options, flags))
    return given


def former_names(
    options: Sequence[str] = (), config: Path | None = None, environment: Mapping[str, str] = os.environ
) -> list[str]:
    """A warning for each setting that was given under a former name, in arguments that `load_settings` accepts."""
    return [each.former for each in _given(options, {}, config, environment).values() if each.former]


def exposed_secrets(options: Sequence[str]) -> list[str]:
    """A warning for each secret in `options`, the NAME=VALUE of the command line."""
    names = [option.partition("=")[0].strip() for option in options]
    return [
        f"-o {name}=…: every user of this machine can read a command line; put the secret into a file that only "
        f"kcoord can read, and give -o {name}{FILE_SUFFIX}=PATH (or {_variable(name)} in the environment)"
        for name in names
        if _NAMES.get(name) in SECRET_FIELDS
    ]


def _from_command_line(options: Sequence[str], flags: Mapping[str, object]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for option in options:
        name, equals, value = option.partition("=")
        name = name.strip()
        origin = f"-o {name}=…" if any(word in name for word in _SECRET_WORDS) else f"-o {option}"
        if not equals:
            raise SettingsError(f"{origin}: write it as -o name=value")
        _add(given, name, value.strip(), _Origin(origin, f"-o {name}"))
    for field, flag_value in flags.items():
        if field in given:
            raise SettingsError(
                f"{given[field].origin}: --{field.replace('_', '-')} sets {setting_name(field)} too; keep one"
            )
        given[field] = _Given(flag_value, f"--{field.replace('_', '-')}")
    return given


def _from_environment(environment: Mapping[str, str]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for variable, value in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable == CONFIG_VARIABLE or _is_service_link(variable):
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", ".")
        _add(given, name, value, _Origin(f"the environment's {variable}", show=_variable))
    return given


def _variable(name: str) -> str:
    return ENVIRONMENT_PREFIX + name.upper().replace(".", "_")


def _is_service_link(variable: str) -> bool:
    """Whether `variable` is one that Kubernetes sets if there is a service named kcoord."""
    return re.fullmatch(r"KCOORD_(SERVICE_(HOST|PORT(_.*)?)|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)", variable) is not None


def _from_file(path: Path) -> dict[str, _Given]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"--config {path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f'--config {path}: is not valid TOML: {error}; write each setting as "name" = value'
        ) from None
    given: dict[str, _Given] = {}
    for name, value in _flat(document):
        _add(given, name, value, _Origin(str(path)))
    return given


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Names and values of a TOML table: `a.b = 1`, `"a.b" = 1` and `[a]` with `b = 1` are one setting."""
    for key, value in table.items():
        if isinstance(value, dict) and before + key != "gateway.broker.ports":
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


@attrs.frozen
class _Origin:
    """Where a value came from: `text` for an error about the value, `of_name` for an error about the name."""

    text: str
    of_name: str = attrs.field(default=attrs.Factory(lambda self: self.text, takes_self=True))
    show: Callable[[str], str] = str
    """How a name is written in that place."""


def _add(given: dict[str, _Given], name: str, value: object, origin: _Origin) -> None:
    """Add the value of the setting `name` to `given`; for a name with `.file`, the content of the file at `value`.
    Raises SettingsError.
    """
    field = _SECRET_FILES.get(name)
    if field is None:
        field = _field(name, origin.of_name, origin.show)
    else:
        value = _in_secret_file(value, origin.text)
    if field in given:
        raise SettingsError(f"{origin.text}: {setting_name(field)} is set twice; keep one")
    given[field] = _Given(value, origin.text, _former(name, origin))


def _former(name: str, origin: _Origin) -> str:
    """The warning for a former name. Empty for a name of today."""
    today = _FORMER_NAMES.get(name)
    if today is None:
        return ""
    return f"{origin.of_name}: {origin.show(name)} is a former name; write {origin.show(today)}"


def _in_secret_file(path: object, origin: str) -> str:
    """The content of the file at `path`, without the newline at its end. Raises SettingsError."""
    try:
        secret = Path(str(path)).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{origin}: {path} cannot be read: {why}") from None
    if not secret:
        raise SettingsError(f"{origin}: {path} is empty; write the secret into it")
    return secret


def _field(name: str, origin: str, show: Callable[[str], str] = str) -> str:
    """The field of the setting `name`. Raises SettingsError with the nearest name, in the form that `show` gives it."""
    field = _NAMES.get(_FORMER_NAMES.get(name, name))
    if field is None:
        nearest = _KAFKA_NAMES.get(name) or difflib.get_close_matches(name, _NAMES, n=1, cutoff=0)[0]
        raise SettingsError(
            f"{origin}: there is no setting {show(name)}; the nearest is {show(nearest)} (all: kcoord settings)"
        )
    return field


def _refused(error: ValidationError, given: Mapping[str, _Given]) -> SettingsError:
    """The first of pydantic's errors as one line."""
    complaint = error.errors(include_url=False)[0]
    field = str(complaint["loc"][0])
    said = complaint["msg"].removeprefix("Value error, ")
    origin = given[field].origin
    name = setting_name(field)
    about = Settings.model_fields[field].description
    where = origin if origin.startswith(f"-o {name}=") else f"{origin}: {name}"
    return SettingsError(f"{where} does not fit: {said[:1].lower()}{said[1:]} ({name}: {about})")
