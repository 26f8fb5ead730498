package main

import (
	"context"
	"os"

	seen "clients/go"
	"clients/made/openapi_generator_go"
)

func main() {
	url, workspace := os.Args[1], os.Args[2]
	ctx := context.Background()
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: url}}
	client := api.NewAPIClient(configuration)

	input := api.NewEndpointInput(*api.NewEndpointInputRequest("https://example.com/hook"))
	input.SetName(workspace)
	input.SetEvents([]string{"invoice.*"})
	endpoint, _, err := client.EndpointsAPI.EndpointsCreate(ctx, workspace).EndpointInput(*input).Execute()
	check(err)

	data := map[string]interface{}{"amount": 4200}
	event, _, err := client.EventsAPI.EventsCreate(ctx, workspace).EventInput(*api.NewEventInput("invoice.paid", data)).Execute()
	check(err)

	page, _, err := client.EventsAPI.EventsList(ctx, workspace).CreatedAtGte(event.CreatedAt).Limit(10).Execute()
	check(err)
	later, _, err := client.EventsAPI.EventsList(ctx, workspace).CreatedAtGt(event.CreatedAt + 3_600_000).Execute()
	check(err)
	dump, _, err := client.ConfigAPI.ConfigDump(ctx, workspace).Execute()
	check(err)

	answer := seen.Seen{Endpoint: endpoint.Id, Event: event.Id, Later: len(later.Data)}
	for _, row := range page.Data {
		answer.Listed = append(answer.Listed, row.Id)
	}
	for _, row := range dump.Endpoints {
		answer.Dumped = append(answer.Dumped, row.GetName())
	}
	answer.Tell()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
