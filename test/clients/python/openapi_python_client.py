import json
import sys

from openapi_python import Client
from openapi_python.api.config import config_dump
from openapi_python.api.endpoints import endpoints_create
from openapi_python.api.events import events_create, events_list
from openapi_python.models import ConfigDumpFormat, EndpointInput, EndpointInputRequest, EventInput, EventInputData

url, workspace = sys.argv[1:]
client = Client(base_url=url, raise_on_unexpected_status=True)

endpoint = endpoints_create.sync(
    workspace,
    client=client,
    body=EndpointInput(
        name=workspace, events=["invoice.*"], request=EndpointInputRequest(url="https://example.com/hook")
    ),
)
data = EventInputData.from_dict({"amount": 4200})
event = events_create.sync(workspace, client=client, body=EventInput(event_type="invoice.paid", data=data))
page = events_list.sync(workspace, client=client, created_atgte=event.created_at, limit=10)
later = events_list.sync(workspace, client=client, created_atgt=event.created_at + 3_600_000)
dump = config_dump.sync(workspace, client=client, format_=ConfigDumpFormat.JSON)

seen = {
    "endpoint": endpoint.id,
    "event": event.id,
    "listed": [row.id for row in page.data],
    "later": len(later.data),
    "dumped": [row.name for row in dump.endpoints],
}
print(json.dumps(seen))
