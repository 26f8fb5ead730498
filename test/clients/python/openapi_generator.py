import json
import sys

import openapi_client as api

url, workspace = sys.argv[1:]
with api.ApiClient(api.Configuration(host=url)) as client:
    endpoint = api.EndpointsApi(client).endpoints_create(
        workspace,
        api.EndpointInput(
            name=workspace, events=["invoice.*"], request=api.EndpointInputRequest(url="https://example.com/hook")
        ),
    )
    events = api.EventsApi(client)
    event = events.events_create(workspace, api.EventInput(event_type="invoice.paid", data={"amount": 4200}))
    page = events.events_list(workspace, created_at_gte=event.created_at, limit=10)
    later = events.events_list(workspace, created_at_gt=event.created_at + 3_600_000)
    dump = api.ConfigApi(client).config_dump(workspace)

seen = {
    "endpoint": endpoint.id,
    "event": event.id,
    "listed": [row.id for row in page.data],
    "later": len(later.data),
    "dumped": [row.name for row in dump.endpoints],
}
print(json.dumps(seen))
