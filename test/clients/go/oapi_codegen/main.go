package main

import (
	"context"
	"os"

	seen "clients/go"
	"clients/made/oapi_codegen"
)

func main() {
	url, workspace := os.Args[1], os.Args[2]
	ctx := context.Background()
	client := seen.Must(api.NewClientWithResponses(url))

	input := api.EndpointInput{Name: &workspace, Events: &[]string{"invoice.*"}}
	input.Request.Url = "https://example.com/hook"
	endpoint := seen.Must(client.EndpointsCreateWithResponse(ctx, workspace, nil, input)).JSON201

	event := seen.Must(client.EventsCreateWithResponse(ctx, workspace, nil, api.EventInput{
		EventType: "invoice.paid",
		Data:      map[string]interface{}{"amount": 4200},
	})).JSON201

	made, hourLater := event.CreatedAt, event.CreatedAt+3_600_000
	limit := 10
	page := seen.Must(client.EventsListWithResponse(ctx, workspace, &api.EventsListParams{CreatedAtGte: &made, Limit: &limit})).JSON200
	later := seen.Must(client.EventsListWithResponse(ctx, workspace, &api.EventsListParams{CreatedAtGt: &hourLater})).JSON200

	format := api.ConfigDumpParamsFormat("json")
	dump := seen.Must(client.ConfigDumpWithResponse(ctx, workspace, &api.ConfigDumpParams{Format: &format})).JSON200

	answer := seen.Seen{Endpoint: endpoint.Id, Event: event.Id, Later: len(later.Data)}
	for _, row := range page.Data {
		answer.Listed = append(answer.Listed, row.Id)
	}
	for _, row := range *dump.Endpoints {
		answer.Dumped = append(answer.Dumped, *row.Name)
	}
	answer.Tell()
}
