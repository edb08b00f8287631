"""Where does the value of a setting come from, and what is refused?

The settings themselves are in `settings`. Rules:

- A value given on the command line (`-o name=value`, or a flag) beats the environment (`KCOORD_NAME`, dots as
  underscores), that beats the file (`--config`, TOML), and that beats the default.
- A name that does not exist and a value that does not fit are refused, with where they came from and the nearest name
  that does exist. A mistyped setting must not be a silent default.
- So are settings that do not fit each other, and one that would have no effect beside the others (`settings_checks`).
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from pydantic import ValidationError

from kcoord.settings import SECTIONS, WILDCARD_HOSTS, Address, Settings, SettingsError, parse_address, setting_name
from kcoord.settings_checks import check_together

__all__ = [
    "SECTIONS",
    "WILDCARD_HOSTS",
    "Address",
    "Settings",
    "SettingsError",
    "load_settings",
    "parse_address",
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


def _from_command_line(options: Sequence[str], flags: Mapping[str, object]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for option in options:
        name, equals, value = option.partition("=")
        name = name.strip()
        origin = f"-o {name}=…" if any(word in name for word in _SECRET_WORDS) else f"-o {option}"
        if not equals:
            raise SettingsError(f"{origin}: write it as -o name=value")
        field = _field(name, f"-o {name}")
        if field in given:
            raise SettingsError(f"{origin}: {name} is set twice; keep one")
        given[field] = _Given(value.strip(), origin)
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
        given[_field(name, f"the environment's {variable}", _variable)] = _Given(value, f"the environment's {variable}")
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
        raise SettingsError(f'--config {path}: is no TOML: {error}; write each setting as "name" = value') from None
    return {_field(name, str(path)): _Given(value, str(path)) for name, value in _flat(document)}


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Names and values of a TOML table: `a.b = 1`, `"a.b" = 1` and `[a]` with `b = 1` are one setting."""
    for key, value in table.items():
        if isinstance(value, dict) and before + key != "gateway.broker.ports":
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _field(name: str, origin: str, show: Any = str) -> str:
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
