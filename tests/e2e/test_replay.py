"""A server that remembers, in front of an engine that does not: the recordings of tests/cassettes, replayed."""
import itertools
import json

import pytest

from cassettes import FOLDERS, KINDS, SCENARIOS, Cassette, ReplayedStack, ids, post, recorded, said, structure

numbers = itertools.count()
ALL = [pytest.param(folder, scenario, kind, id=f"{folder}-{scenario}-{kind}") for folder in FOLDERS for scenario in SCENARIOS for kind in KINDS]


@pytest.fixture
def make_stack(workplace):
    made = []

    def make(cassette) -> ReplayedStack:
        made.append(ReplayedStack(workplace / f"replayed-{next(numbers)}", cassette))
        return made[-1]

    yield make
    for stack in made:
        stack.kill()


@pytest.mark.parametrize("folder,scenario,kind", ALL)
def test_what_was_recorded_comes_out_again_and_goes_up_whole(make_stack, folder, scenario, kind):
    """A client says only what is new; the engine is asked once a turn, with what was recorded: the whole conversation, without a handle to it."""
    cassette = Cassette(recorded(folder, scenario, kind))
    stack = make_stack(cassette)
    previous = None
    for number, turn in enumerate(cassette.turns):
        body = {**turn.body, "input": cassette.added(number)}
        response = post(stack.gateway.http, body if previous is None else {**body, "previous_response_id": previous})
        assert said(response) == said(turn.response)
        assert ids(response) == ids(turn.response), "items and calls keep the engine's own ids"
        previous = response["id"]
        asked = stack.replay.asked()
        assert len(asked) == number + 1, "one call of the engine for each turn"
        sent = json.loads(asked[-1]["body"])
        assert asked[-1]["turn"] == f"t{number + 1}" and "previous_response_id" not in sent
        assert structure(sent["input"]) == structure(turn.body["input"])
    stack.gateway.close()
    assert stack.replay.program.stop() == 0, stack.replay.program.errors()
