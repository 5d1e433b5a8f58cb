"""The service over HTTP."""

# No postponed annotations here: FastAPI reads them, and some name things inside `create_app`.

import logging
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from metricdp.errors import BudgetError, DataError, FileError, MetricDPError
from metricdp.ledger import Ledger
from metricdp.service.admission import Admission
from metricdp.service.counters import Counters
from metricdp.service.jobs import TableJobs
from metricdp.service.limits import Held, Quantum, RateLimit, RequestLimit
from metricdp.service.quick import is_json, quick_route
from metricdp.service.recording import Recorded
from metricdp.service.settings import Settings
from metricdp.service.tokens import Token, Tokens
from metricdp.service.uploads import Key, add_uploads
from metricdp.service.verbs import Refused, Verbs
from metricdp.service.waiting import Waiting

__all__ = ["create_app"]

_LOG = logging.getLogger("metricdp.service")
_THREADS, _HEAVY_THREADS = 64, 2
"""Threads for requests; and for those that compute for long, which would keep the others from the processors."""

_MOST_VALUES = 2000
"""Values that are drawn and charged together; a request for more of them has a turn to itself."""

_LONGEST_QUESTION, _LONGEST_METRIC = 10_000, 1000
"""Characters: to read a text takes time that others wait for."""

_FORMAT = 1
_STATUSES = {BudgetError: 402, DataError: 422, FileError: 503}
_OPEN = frozenset({"/health", "/openapi.json"})


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ReleaseRequest(_Body):
    """Secrets of one subject."""

    mechanism: str = Field(examples=["place"], description="One that the settings name.")
    subject: str = Field(
        examples=["rider 1729"], description="Whose secrets these are; the account of this subject is charged."
    )
    secrets: list[Any] = Field(examples=[[[48.8566, 2.3522]]], description="The values to release.")


class AskRequest(_Body):
    """A question about a table."""

    table: str = Field(examples=["people"], description="One that the settings name.")
    question: str = Field(
        examples=["select count(*) from people group by sex"], description="In SQL.", max_length=_LONGEST_QUESTION
    )
    within: float | None = Field(None, examples=[100.0], description="The widest error bar at 95% that is wanted.")


class VerifyRequest(_Body):
    """A channel and the metric that it is to keep."""

    channel: dict[str, Any] = Field(
        examples=[
            {
                "format": "metricdp channel",
                "version": 1,
                "inputs": ["no", "yes"],
                "outputs": ["no", "yes"],
                "total": "4",
                "weights": [[3, 1], [1, 3]],
            }
        ],
        description="As `metricdp optimal -o channel.json` writes it.",
    )
    metric: str = Field(examples=["ln 3 discrete"], description="The metric, in words.", max_length=_LONGEST_METRIC)


class ErrorWords(_Body):
    """What went wrong; nothing of what was sent is in it."""

    kind: str = Field(examples=["BudgetError"], description="The class of the error.")
    message: str = Field(description="What it says, for people.")


class ErrorAnswer(_Body):
    """Every answer that is no success has this form."""

    format: int = Field(examples=[_FORMAT])
    error: ErrorWords


_JSON_ERROR = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorAnswer.__name__}"}}}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": words, "content": dict(_JSON_ERROR)}
    for status, words in (
        ("4XX", "Refused: nothing was released, nothing was charged. 402 says that the account is used up."),
        ("5XX", "The service failed, or its ledger cannot be written."),
    )
}


def create_app(settings: Settings, ledger: Ledger | None = None) -> FastAPI:
    """The service of some settings.

    Args:
        settings: what it offers.
        ledger: in place of the one that the settings name.
    """
    book = Ledger(settings.ledger) if ledger is None else ledger
    tokens, verbs, counters = Tokens(settings.tokens), Verbs(settings, book), Counters()
    quantum, rate = Quantum(settings.quantum), RateLimit(settings.requests_per_second)
    threads, few = anyio.CapacityLimiter(_THREADS), anyio.CapacityLimiter(_HEAVY_THREADS)
    waiting = Waiting(verbs.release, lambda one: len(one.rows), _MOST_VALUES)
    jobs = TableJobs(settings.most_jobs, settings.results_kept, of_one=settings.most_jobs_of_one)

    @asynccontextmanager
    async def living(app: FastAPI) -> Any:
        yield
        waiting.close()
        jobs.close()
        if ledger is None:
            book.close()

    app = FastAPI(
        title="metricdp",
        version="1",
        summary="Private releases and answers, each charged to an account before it leaves.",
        lifespan=living,
        responses=_REFUSALS,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # behind a proxy it would lead to an address without TLS, and the token with it
    )

    bearer = HTTPBearer(auto_error=False, description="A token, as `metricdp serve --add-token` prints it.")

    async def who(request: Request, described: Annotated[Any, Depends(bearer)] = None) -> Token:
        caller: Token = request.scope["state"]["caller"]
        return caller

    Who = Annotated[Token, Depends(who)]

    async def run(work: Callable[[], dict[str, Any]], limiter: anyio.CapacityLimiter = threads) -> dict[str, Any]:
        result = await anyio.to_thread.run_sync(work, limiter=limiter)
        return {"format": _FORMAT, "result": result}

    async def release(body: ReleaseRequest, token: Who, key: Key = None) -> Response:
        """Each value is released by the mechanism, and all of them are charged to the subject's account first.

        Whatever the answer is, it leaves at the next multiple of the service's quantum.
        """
        answer = await waiting.run(verbs.wanted(token, body.mechanism, body.subject, body.secrets, key))
        counters.add("released_values", len(body.secrets), mechanism=body.mechanism)
        return JSONResponse({"format": _FORMAT, "result": answer})

    app.router.add_api_route(
        "/release",
        release,
        methods=["POST"],
        summary="Release secrets of one subject",
        response_model=dict[str, Any],
        route_class_override=quick_route(ReleaseRequest),
    )

    @app.post("/ask", summary="Ask about a table")
    async def ask(body: AskRequest, token: Who, key: Key = None) -> dict[str, Any]:
        """The answer has error bars, and is charged to the token's account."""
        return await run(lambda: verbs.ask(token, body.table, body.question, body.within, key))

    @app.post("/preview", summary="What a question would cost")
    async def preview(body: AskRequest, token: Who) -> dict[str, Any]:
        """And the error to expect; no row is read and nothing is charged."""
        return await run(lambda: verbs.preview(token, body.table, body.question, body.within))

    @app.get("/balance", summary="What an account has left")
    async def balance(token: Who, account: str | None = None) -> dict[str, Any]:
        """The token's own account where none is named."""
        return await run(lambda: verbs.balance(token, account))

    add_uploads(app, settings, verbs, jobs, Who)

    @app.post("/verify", summary="Verify a channel")
    async def verify(body: VerifyRequest, token: Who) -> dict[str, Any]:
        """In exact arithmetic; nothing is charged."""
        return await run(lambda: verbs.verify(token, body.channel, body.metric), few)

    @app.get("/check", summary="Check the whole ledger")
    async def check(token: Who) -> dict[str, Any]:
        """For auditors."""
        return await run(lambda: verbs.check(token), few)

    @app.get("/health", summary="Whether the service is there")
    async def health() -> dict[str, Any]:
        """Needs no token."""
        return {"format": _FORMAT, "result": {"status": "ready"}}

    @app.get("/metrics", summary="Counts for Prometheus", response_class=PlainTextResponse)
    async def metrics(token: Who) -> str:
        """For curators and auditors."""
        if not token.may("metrics"):
            raise Refused(f"the role {token.role} does not include: metrics")
        return counters.text() + f"metricdp_quantum_overruns_total {quantum.overruns}\n"

    _answer_errors(app)

    def refusal(status: int, words: str, headers: Any = None) -> JSONResponse:
        return _error(status, "RequestRefused", words, headers)

    # What is added last comes first.
    app.add_middleware(Held, quantum=quantum, paths=frozenset({"/release"}))
    app.add_middleware(
        RequestLimit,
        largest=settings.largest_request,
        slowest=settings.slowest_request,
        refusal=refusal,
        streamed=frozenset({"/sanitize"}),
    )
    app.add_middleware(Admission, tokens=tokens, rate=rate, open_paths=_OPEN, refusal=refusal, log=_LOG)
    failure = _error(500, "InternalError", "the service failed; nothing was released")
    app.add_middleware(Recorded, counters=counters, log=_LOG, failure=failure)
    return app


def _error(status: int, kind: str, message: str, headers: Any = None) -> JSONResponse:
    return JSONResponse({"format": _FORMAT, "error": {"kind": kind, "message": message}}, status, headers)


def _answer_errors(app: FastAPI) -> None:
    """One form for every error, which never holds what was sent."""

    @app.exception_handler(MetricDPError)
    async def ours(request: Request, error: MetricDPError) -> JSONResponse:
        status = next((code for kind, code in _STATUSES.items() if isinstance(error, kind)), 400)
        return _error(status, type(error).__name__, str(error))

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> JSONResponse:
        return _error(403, "Refused", str(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        places = [".".join(str(part) for part in one["loc"] if isinstance(part, str)) for one in error.errors()]
        kinds = [one["type"] for one in error.errors()]
        words = "; ".join(f"{place or 'body'}: {kind}" for place, kind in zip(places, kinds, strict=True))
        if ("body",) in [tuple(one["loc"]) for one in error.errors()] and not is_json(
            request.headers.get("content-type", "")
        ):
            words = "the body is JSON, sent with the header Content-Type: application/json"
        return _error(422, "MalformedRequest", words)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        return _error(error.status_code, "RequestRefused", str(error.detail), error.headers)
