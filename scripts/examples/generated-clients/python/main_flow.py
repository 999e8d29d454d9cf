"""Publishes two events, consumes them, and opens a loan, with a client made by openapi-python-client."""

import json
import os
import uuid
from datetime import datetime, timezone

from lendstream_api import Client
from lendstream_api.api.event_types import create_event_type
from lendstream_api.api.loan_products import create_loan_product
from lendstream_api.api.loans import create_loan, get_loan
from lendstream_api.api.publishing import publish_events
from lendstream_api.api.streams import commit_cursors
from lendstream_api.api.subscriptions import create_subscription, get_subscription_statistics
from lendstream_api.models import (
    Commit,
    CreateLoanPayload,
    EventsItem,
    EventTypeDefinition,
    LoanProductPayload,
    Problem,
    StreamBatch,
    SubscriptionDefinition,
)

client = Client(base_url=os.environ.get("LENDSTREAM_URL", "http://127.0.0.1:8080"))
event_type = "python.order-placed"

schema = json.dumps({"properties": {"order": {"type": "string"}}, "required": ["order"]})
definition = EventTypeDefinition.from_dict(
    {
        "name": event_type,
        "owning_application": "python",
        "category": "business",
        "enrichment_strategies": ["metadata_enrichment"],
        "schema": {"type": "json_schema", "schema": schema},
    }
)
created = create_event_type.sync_detailed(client=client, body=definition)
print("event type:", int(created.status_code))
again = create_event_type.sync(client=client, body=definition)
assert isinstance(again, Problem)
print("again:", again.status, again.code)


def new_event(**fields: str) -> EventsItem:
    metadata = {"eid": str(uuid.uuid4()), "occurred_at": datetime.now(timezone.utc).isoformat()}
    return EventsItem.from_dict({"metadata": metadata, **fields})


published = publish_events.sync_detailed(event_type, client=client, body=[new_event(order="A-1"), new_event(order="A-2")])
print("published:", int(published.status_code))
refused = publish_events.sync(event_type, client=client, body=[new_event(other="A-3")])
assert isinstance(refused, list)
print("refused:", refused[0].publishing_status, refused[0].detail)

subscription = create_subscription.sync(
    client=client,
    body=SubscriptionDefinition(owning_application="python", event_types=[event_type], read_from="begin"),
)
assert subscription is not None and not isinstance(subscription, Problem)

# A generated call returns when its response has ended, so the lines of a stream are read with the client's own connection.
parameters = {"batch_limit": 2, "batch_flush_timeout": 1, "stream_timeout": 30}
path = f"/subscriptions/{subscription.id}/events"
with client.get_httpx_client().stream("GET", path, params=parameters, timeout=60) as response:
    stream_id = response.headers["X-Nakadi-StreamId"]
    for line in response.iter_lines():
        batch = StreamBatch.from_dict(json.loads(line))
        if not batch.events:
            continue
        print("received:", *(event.additional_properties["order"] for event in batch.events))
        committed = commit_cursors.sync_detailed(
            subscription.id,
            client=client,
            body=Commit.from_dict({"items": [batch.cursor.to_dict()]}),
            x_nakadi_stream_id=stream_id,
        )
        print("committed:", int(committed.status_code))
        break

statistics = get_subscription_statistics.sync(subscription.id, client=client)
assert statistics is not None and not isinstance(statistics, Problem)
print("lag:", statistics.items[0].partitions[0].unconsumed_events)

product = LoanProductPayload.from_dict(
    {"id": "python", "name": "Four months", "type": "FIXED_TERM_LOAN", "currency": {"code": "EUR"}}
)
print("product:", int(create_loan_product.sync_detailed(client=client, body=product).status_code))
loan = CreateLoanPayload.from_dict(
    {
        "id": "python-1",
        "productTypeKey": "python",
        "loanAmount": 1000.5,
        "scheduleSettings": {"repaymentInstallments": 4, "repaymentPeriodCount": 1, "repaymentPeriodUnit": "MONTHS"},
    }
)
opened = create_loan.sync_detailed(client=client, body=loan, idempotency_key="open-python-1")
print("opened:", int(opened.status_code))
account = get_loan.sync("python-1", client=client)
print("loan:", account.account_state, account.loan_amount)
