"""Is the plugin there for those who ask for it, and only for them? Each test is a user's test suite."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.long("each test runs pytest")

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
SHARE = """
    import pytest
    from kcoord.worker import WorkerRebalanceListener

    class Idle(WorkerRebalanceListener):
        async def on_assigned(self, resources):
            pass
        async def on_revoked(self, resources):
            pass

    {mark}
    async def test_share(kcoord):
        kcoord.configure({{"job": 2}})
        await kcoord.start("a", Idle())
        await kcoord.start("b", Idle())
        assert [len(each) for each in kcoord.runs().values()] == [1, 1]
        await kcoord.pass_s(300)
"""
MARKED = SHARE.format(mark="@pytest.mark.asyncio")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def outcome(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """The result of pytest in a process of its own; every warning is an error."""
    options = ("-W", "error", "-o", "asyncio_default_fixture_loop_scope=function")
    return pytester.runpytest_subprocess(*options, *arguments)


def test_it_is_not_there_unless_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MARKED)
    result = outcome(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'kcoord' not found*"])


@pytest.mark.parametrize("how", ["conftest", "module", "option", "auto"])
def test_it_can_be_asked_for(pytester: pytest.Pytester, how: str) -> None:
    asked = 'pytest_plugins = ["kcoord.testing"]\n'
    test = pytester.makepyfile(SHARE.format(mark="") if how == "auto" else MARKED)
    if how in ("conftest", "auto"):
        pytester.makeconftest(asked)
    if how == "module":
        test.write_text(asked + test.read_text())
    arguments = {"option": ["-p", "kcoord.testing"], "auto": ["-o", "asyncio_mode=auto"]}.get(how, [])
    result = outcome(pytester, "-v", *arguments)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_share PASSED*"])


def test_only_those_who_use_the_fixture_have_the_loop(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["kcoord.testing"]')
    pytester.makepyfile(
        """
        import asyncio
        import pytest
        from kcoord.testing import VirtualTimeLoop

        def is_virtual():
            return isinstance(asyncio.get_running_loop(), VirtualTimeLoop)

        @pytest.fixture
        def indirectly(kcoord):
            return kcoord

        async def test_direct(kcoord):
            assert is_virtual()

        async def test_indirect(indirectly):
            assert is_virtual()

        async def test_without():
            assert not is_virtual()
        """
    )
    outcome(pytester, "-o", "asyncio_mode=auto").assert_outcomes(passed=3)


def test_a_loop_that_others_choose_stays_for_their_tests(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import asyncio

        pytest_plugins = ["kcoord.testing"]

        class TheirLoop(asyncio.SelectorEventLoop):
            pass

        def pytest_asyncio_loop_factories(config, item):
            return {"theirs": TheirLoop}
        """
    )
    pytester.makepyfile(
        """
        import asyncio

        async def test_theirs():
            assert type(asyncio.get_running_loop()).__name__ == "TheirLoop"

        async def test_ours(kcoord):
            await kcoord.pass_s(1)
        """
    )
    outcome(pytester, "-o", "asyncio_mode=auto").assert_outcomes(passed=2)


def test_a_failure_is_told_where_it_happened(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["kcoord.testing"]')
    pytester.makepyfile(
        """
        import asyncio
        from kcoord.worker import Worker, WorkerRebalanceListener

        class Failing(WorkerRebalanceListener):
            async def on_assigned(self, resources):
                raise ValueError("no such file")
            async def on_revoked(self, resources):
                pass

        async def test_heard_in_the_test(kcoord):
            kcoord.configure({"job": 1})
            await kcoord.start("a", Failing())

        async def test_heard_at_the_end(kcoord):
            kcoord.configure({"job": 1})
            worker = Worker(kcoord.bootstrap_servers, "other", listener=Failing(), configured=kcoord.configured)
            async with worker:
                await asyncio.sleep(10)

        async def test_that_waits_for_ever(kcoord):
            await asyncio.Event().wait()

        async def test_after_that(kcoord):
            await kcoord.pass_s(10_000)
        """
    )
    result = outcome(pytester, "-o", "asyncio_mode=auto")
    result.assert_outcomes(failed=2, passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*WorkerFailed: a worker that the test itself has started: *on_assigned failed*: ValueError: no such file",
            "*WorkerFailed: worker a: *on_assigned failed for *: ValueError: no such file",
            "*TimeRanAway: virtual time has reached 3600 s, and the test still waits at *:21: *",
        ]
    )


def test_settings_come_from_a_fixture(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["kcoord.testing"]')
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def kcoord_settings():
            return {"group.connect.max.sise": 1}

        async def test_nothing(kcoord):
            pass
        """
    )
    result = outcome(pytester, "-o", "asyncio_mode=auto")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*settings of the coordinator: *group.connect.max.size*"])


@pytest.mark.parametrize("scope", ["module", "session"])
def test_tests_may_share_a_loop(pytester: pytest.Pytester, scope: str) -> None:
    pytester.makeconftest('pytest_plugins = ["kcoord.testing"]')
    pytester.makepyfile(
        """
        async def test_one(kcoord):
            await kcoord.pass_s(300)

        async def test_two(kcoord):
            await kcoord.pass_s(300)

        async def test_without():
            pass
        """
    )
    options = ["-o", "asyncio_mode=auto", "-o", f"asyncio_default_test_loop_scope={scope}"]
    outcome(pytester, *options, "-o", f"asyncio_default_fixture_loop_scope={scope}").assert_outcomes(passed=3)
