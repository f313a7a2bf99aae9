"""The turns of tests/cassettes on the real Dynamo frontends, through the gateway and without it. `make dynamo-upstream`."""
import httpx
import pytest

from cassettes import KINDS, RELEASES, SCENARIOS, Cassette, ids, post, recorded, said
from messages import MessageGateway
from programs import until
from upstream import Deployment, python_of, user_texts

WAYS = [(scenario, kind) for scenario in SCENARIOS for kind in KINDS]


@pytest.fixture(scope="module")
def gateways(workplace, frontends):
    """By release, in front of the real frontend."""
    made = {}

    def gateway(release: str) -> MessageGateway:
        if release not in made:
            folder = workplace / f"upstream-{release}"
            folder.mkdir()
            made[release] = MessageGateway(folder, frontends(release).url, kind="dynamo", mode="responses")
        return made[release]

    yield gateway
    for each in made.values():
        each.close()


@pytest.fixture
def bare_frontend(workplace):
    """A frontend to which no worker came."""
    made = []

    def start(release: str) -> Deployment:
        made.append(Deployment(workplace / f"bare-{release}", python=python_of(release), with_worker=False))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.mark.parametrize("folder,release", RELEASES.items(), ids=RELEASES.values())
@pytest.mark.parametrize("scenario,kind", WAYS)
def test_the_real_frontend_remembers_behind_the_gateway(gateways, frontends, folder, release, scenario, kind):
    cassette = Cassette(recorded(folder, scenario, kind))
    dynamo, gateway = frontends(release), gateways(release)
    previous, known = None, {}
    for number, turn in enumerate(cassette.turns):
        before = dynamo.record("request")
        added = [{**item, "call_id": known[item["call_id"]]} if "call_id" in item else item for item in cassette.added(number)]
        body = {**turn.body, "input": added}
        response = post(gateway.http, body if previous is None else {**body, "previous_response_id": previous})
        assert said(response) == said(turn.response)
        known |= dict(zip(call_ids(turn.response), call_ids(response), strict=True))
        previous = response["id"]
        asked = dynamo.record("request")[len(before):]
        assert [user_texts(one["request"]["token_ids"]) for one in asked] == [user_texts_of(turn.body["input"])], "one call, with all that was said"


def call_ids(response: dict) -> list[str]:
    return [call for _, _, call in ids(response) if call]


def user_texts_of(items: list[dict]) -> list[str]:
    return [part["text"] for item in items if item.get("role") == "user" for part in item["content"]]


@pytest.mark.parametrize("folder,release", RELEASES.items(), ids=RELEASES.values())
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_second_turn_fails_at_the_frontend(frontends, folder, release, kind):
    """Else the gateway would not be what remembers."""
    cassette = Cassette(recorded(folder, "stateful", kind))
    with httpx.Client(base_url=frontends(release).url, timeout=60) as frontend:
        first = post(frontend, cassette.turns[0].body)
        assert said(first) == said(cassette.turns[0].response)
        alone = {**cassette.turns[1].body, "input": cassette.added(1)}
        refused = frontend.post("/v1/responses", json={**alone, "previous_response_id": first["id"]})
        assert refused.status_code == 501 and "previous_response_id" in refused.json()["message"], refused.text
        assert said(post(frontend, alone))["text"] == "You have not told me a word."


@pytest.mark.parametrize("release", RELEASES.values())
def test_a_frontend_without_a_worker_is_healthy_and_serves_nothing(bare_frontend, release):
    """What docs/guides/dynamo-upstream.md says of health."""
    dynamo = bare_frontend(release)
    with httpx.Client(base_url=dynamo.url, timeout=60) as frontend:
        until(lambda: health(frontend) == 200, "the frontend answers")
        assert frontend.get("/health").json()["instances"] == []
        assert frontend.get("/v1/models").json()["data"] == []
        assert frontend.get("/v1/models/toy/ready").status_code == 404


def health(frontend: httpx.Client) -> int:
    try:
        return frontend.get("/health").status_code
    except httpx.TransportError:
        return 0
