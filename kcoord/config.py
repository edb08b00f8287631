"""Where does the value of a setting come from, and what is refused?

The settings themselves are in `settings`. Rules:

- A value given on the command line (`-o name=value`, or a flag) beats the environment (`KCOORD_NAME`, dots as
  underscores), that beats the file (`--config`, TOML), and that beats the default.
- A name that does not exist and a value that does not fit are refused, with where they came from and the nearest name
  that does exist. A mistyped setting must not be a silent default.
- So are settings that do not fit each other, and one that would have no effect beside the others (`settings_checks`).
- A secret can be given by a file that holds nothing else: NAME.file=PATH, wherever NAME could stand. A command line is
  no place for one: every user of the machine can read it.
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
"""Names that people bring along from Kafka, and what stands in their place here."""

_SECRET_WORDS = ("password", "secret")
"""The value of a setting with one of these in its name is not printed."""
SECRET_FIELDS = tuple(field for field in Settings.model_fields if any(word in field for word in _SECRET_WORDS))
"""The fields of Settings whose values nobody else may know."""
FILE_SUFFIX = ".file"
"""What is added to the name of a secret setting to name the file that holds it."""
_SECRET_FILES = {setting_name(field) + FILE_SUFFIX: field for field in SECRET_FIELDS}


@attrs.frozen
class _Given:
    value: object
    origin: str


def load_settings(
    options: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
    config: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Settings from the command line (`options` as NAME=VALUE, `flags` by field), `environment` and the file `config`.

    Raises SettingsError.
    """
    given: dict[str, _Given] = {}
    if config is not None:
        given.update(_from_file(config))
    given.update(_from_environment(environment))
    given.update(_from_command_line(options, flags or {}))
    try:
        settings = Settings(**{field: each.value for field, each in given.items()})  # type: ignore[arg-type]
    except ValidationError as error:
        raise _refused(error, given) from None
    check_together(settings, {field: each.origin for field, each in given.items()})
    return settings


def secrets_of(settings: Settings) -> list[str]:
    """The values of all secret settings that are set."""
    return [value for field in SECRET_FIELDS if (value := getattr(settings, field))]


def exposed_secrets(options: Sequence[str]) -> list[str]:
    """A warning for each secret that stands in `options`, the command line's NAME=VALUE."""
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
    """Does Kubernetes set `variable` because there is a service named kcoord?"""
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
    """Where a value stands: `text` for an error about the value, `of_name` for one about the name."""

    text: str
    of_name: str = attrs.field(default=attrs.Factory(lambda self: self.text, takes_self=True))
    show: Callable[[str], str] = str
    """How names are written there."""


def _add(given: dict[str, _Given], name: str, value: object, origin: _Origin) -> None:
    """Note the value of the setting `name`, or what stands in the file that `value` names. Raises SettingsError."""
    field = _SECRET_FILES.get(name)
    if field is None:
        field = _field(name, origin.of_name, origin.show)
    else:
        value = _in_secret_file(value, origin.text)
    if field in given:
        raise SettingsError(f"{origin.text}: {setting_name(field)} is set twice; keep one")
    given[field] = _Given(value, origin.text)


def _in_secret_file(path: object, origin: str) -> str:
    """What the file at `path` holds, without the end of its last line. Raises SettingsError."""
    try:
        secret = Path(str(path)).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{origin}: {path} cannot be read: {why}") from None
    if not secret:
        raise SettingsError(f"{origin}: {path} is empty; write the secret into it")
    return secret


def _field(name: str, origin: str, show: Callable[[str], str] = str) -> str:
    """The field of the setting `name`. Raises SettingsError with the nearest name, written as `show` writes it."""
    field = _NAMES.get(name)
    if field is None:
        nearest = _KAFKA_NAMES.get(name) or difflib.get_close_matches(name, _NAMES, n=1, cutoff=0)[0]
        raise SettingsError(
            f"{origin}: there is no setting {show(name)}; the nearest is {show(nearest)} (all: kcoord settings)"
        )
    return field


def _refused(error: ValidationError, given: Mapping[str, _Given]) -> SettingsError:
    """The first of pydantic's complaints as one line."""
    complaint = error.errors(include_url=False)[0]
    field = str(complaint["loc"][0])
    said = complaint["msg"].removeprefix("Value error, ")
    origin = given[field].origin
    name = setting_name(field)
    about = Settings.model_fields[field].description
    where = origin if origin.startswith(f"-o {name}=") else f"{origin}: {name}"
    return SettingsError(f"{where} does not fit: {said[:1].lower()}{said[1:]} ({name}: {about})")
