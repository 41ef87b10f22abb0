"""How an answer looks on the wire, and how every error does: one shape."""

from __future__ import annotations

import logging
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from hindsight.errors import HindsightError, InvalidInput, Unauthenticated
from hindsight.interfaces.callers import Exhausted
from hindsight.interfaces.shapes import Shape

log = logging.getLogger(__name__)

STATUS_OF_CODE = {
    "invalid_input": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "ambiguous": 409,
    "conflict": 409,
    "too_large": 413,
    "unsupported": 501,
    "storage_full": 507,
    "deadline_exceeded": 504,
    "rate_limited": 429,
    "unavailable": 503,
    "storage_unavailable": 503,
    "model_unavailable": 503,
}
JSON_BODY = "one JSON object in UTF-8, nested at most some hundreds deep"
MAX_FIELD = 200  # characters of the way to a field that an error names


class Answer(JSONResponse):
    """JSON as people read it: Chinese stays Chinese."""

    media_type = "application/json; charset=utf-8"

    def render(self, content: Any) -> bytes:
        """The body. What orjson refuses, such as a whole number beyond 64 bits, the standard library may write."""
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError:
            return super().render(content)


def error_answer(error: HindsightError) -> Answer:
    shape: Shape = {
        "code": error.code,
        "message": str(error),
        "hint": error.hint,
        "retryable": error.retryable,
    }
    if isinstance(error, InvalidInput):
        shape |= {"field": error.field, "value": error.value, "allowed": error.allowed}
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}
    if isinstance(error, Exhausted):
        headers["Retry-After"] = str(max(1, round(error.seconds)))
    return Answer({"error": shape}, status_code=STATUS_OF_CODE.get(error.code, 500), headers=headers)


async def known_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HindsightError)
    if STATUS_OF_CODE.get(error.code, 500) >= 500:
        log.error("%s %s: %s: %s", request.method, request.url.path, error.code, error)
    return error_answer(error)


async def wrong_body(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fault = error.errors()[0]
    where, *path = fault["loc"]  # "body", "query" or "path" first, then the way to the field
    kind = request.headers.get("content-type", "")
    if where == "body" and not path and "json" not in kind.lower():  # `curl -d` alone says it sends a form
        return error_answer(InvalidInput("Content-Type", kind, "application/json"))
    if fault["type"] == "json_invalid":
        fault_at = f"{fault['ctx']['error']} at character {path[0]}"
        return error_answer(InvalidInput("body", fault_at, JSON_BODY))
    field = ".".join(str(part) for part in path)[:MAX_FIELD] or str(where)
    return error_answer(InvalidInput(field, fault.get("input"), fault["msg"]))


async def http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # the framework could not make JSON of it: bytes, numbers or nesting out of bounds
        return error_answer(InvalidInput("body", str(error.detail), JSON_BODY))
    shape: Shape = {
        "code": "http_error",
        "message": str(error.detail),
        "hint": "",
        "retryable": False,
    }
    return Answer({"error": shape}, status_code=error.status_code, headers=error.headers)


async def unknown_error(request: Request, error: Exception) -> Response:
    """A fault of this program: the server logs it with its trace, and the caller gets an answer of the usual shape."""
    return error_answer(HindsightError("The server met an error of its own.", hint="Its log tells more."))
