"""What every command of the command line shares: the options it accepts, how it opens the memory and answers."""

from __future__ import annotations

import inspect
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from hindsight.errors import InvalidInput, Unavailable
from hindsight.interfaces.cli.errors import visible
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import Shape
from hindsight.observe.logs import log_to_stderr

if TYPE_CHECKING:
    from hindsight.config import Settings
    from hindsight.embedded import Hindsight

P = ParamSpec("P")

log = logging.getLogger(__name__)

AsJson = Annotated[bool, typer.Option("--json", help="Answer with JSON, for programs.")]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", metavar="NAME", help="The namespace; else HINDSIGHT_NAMESPACE.")
]
DataDir = Annotated[
    str | None, typer.Option("--data-dir", metavar="FOLDER", help="The data folder; else HINDSIGHT_DATA_DIR.")
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Id of the memory, whole or short.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")]
Agent = Annotated[str | None, typer.Option(metavar="NAME", help="Which agent says so; else HINDSIGHT_AGENT.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="The conversation or task run.")]


@dataclass(frozen=True, slots=True)
class Call:
    """The options that every command has, given before or after its name; the later one counts."""

    json: bool = False
    namespace: str | None = None
    data_dir: str | None = None

    def joined(self, *, json: bool, namespace: str | None, data_dir: str | None) -> Call:
        """These options with those given after the command's name."""
        return replace(
            self,
            json=self.json or json,
            namespace=self.namespace if namespace is None else namespace,
            data_dir=self.data_dir if data_dir is None else data_dir,
        )

    @property
    def given(self) -> dict[str, object]:
        """The settings among the options, by the names of `Settings`."""
        if self.data_dir == "":
            raise InvalidInput("--data-dir", self.data_dir, "the path of a folder")
        named = {"namespace": self.namespace, "data_dir": self.data_dir}
        return {name: value for name, value in named.items() if value is not None}

    def settings(self, **more: str | None) -> Settings:
        """All settings, options first. `ConfigError`."""
        from hindsight import config  # noqa: PLC0415 - reading settings takes longer than showing the help

        return config.load(**self.given, **{name: value for name, value in more.items() if value is not None})

    @contextmanager
    def open(self, *, warm: bool = False) -> Iterator[Hindsight]:
        """The memory, until the `with` ends. Logs go to stderr: warnings, or what LOG_LEVEL asks for.

        `warm` waits for the embedder first: each run is a cold start, and the deadlines of a search or write that are
        right for a server would pass while the model loads.
        """
        from hindsight import embedded  # noqa: PLC0415 - brings numpy and the whole engine

        settings = self.settings()
        level = settings.log_level if "log_level" in settings.model_fields_set else "WARNING"
        log_to_stderr(level, as_json=settings.log_format == "json")
        with embedded.Hindsight(settings=settings) as memory:
            if warm:
                _warm(memory)
            yield memory

    def answer(self, shape: Shape, lines: Iterable[str]) -> None:
        """The result on stdout: the shape as JSON, or the lines for a person."""
        if self.json:
            sys.stdout.write(json.dumps(shape, ensure_ascii=False) + "\n")
        else:
            sys.stdout.writelines(f"{visible(line)}\n" for line in lines)
        sys.stdout.flush()

    def note(self, lines: Iterable[str]) -> None:
        """What a person should know beside the result, on stderr; JSON has it inside."""
        if not self.json:
            sys.stderr.writelines(f"{visible(line)}\n" for line in lines)


def fraction(name: str, given: str | None) -> float | None:
    """A number from 0 to 1 as it was typed. `InvalidInput` by this name."""
    return Arguments({name: given}, (name,)).fraction(name)


def _warm(memory: Hindsight) -> None:
    try:
        memory.warm()
    except Unavailable as error:
        log.warning("the embedder does not load: %s", error)  # what follows goes by words alone, and says so


def command(
    app: typer.Typer, name: str | None = None
) -> Callable[[Callable[Concatenate[Call, P], int | None]], Callable[Concatenate[Call, P], int | None]]:
    """Make a function a command: its first argument becomes the `Call`, the others are its own options.

    Typer reads options from a signature, so the shared ones are written into it here, once for all commands.
    """

    def register(
        act: Callable[Concatenate[Call, P], int | None],
    ) -> Callable[Concatenate[Call, P], int | None]:
        @wraps(act)
        def run(
            context: typer.Context,
            json: bool = False,
            namespace: str | None = None,
            data_dir: str | None = None,
            **own: Any,
        ) -> int | None:
            call: Call = context.obj
            return act(call.joined(json=json, namespace=namespace, data_dir=data_dir), **own)  # type: ignore[call-arg]  # by name

        own = list(inspect.signature(act, eval_str=True).parameters.values())[1:]
        named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]  # as typer passes them
        signature = inspect.Signature([_parameter("context", typer.Context), *named, *_shared()])
        run.__signature__ = signature  # type: ignore[attr-defined]  # functions may carry one; the stubs don't say so
        app.command(name)(run)
        return act

    return register


def _shared() -> list[inspect.Parameter]:
    return [
        _parameter("json", AsJson, False),
        _parameter("namespace", Namespace, None),
        _parameter("data_dir", DataDir, None),
    ]


def _parameter(name: str, annotation: object, default: object = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
