// Verifies the headers of a delivery with the library named, and signs the same body with it.
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	svix "github.com/svix/svix-webhooks/go"

	seen "clients/go"
)

type webhook interface {
	Verify(payload []byte, headers http.Header) error
	Sign(id string, at time.Time, payload []byte) (string, error)
}

func main() {
	var given struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	if err := json.Unmarshal([]byte(os.Args[2]), &given); err != nil {
		panic(err)
	}
	var library webhook
	if os.Args[1] == "svix" {
		library = seen.Must(svix.NewWebhook(given.Secret))
	} else {
		library = seen.Must(standard.NewWebhook(given.Secret))
	}
	headers := http.Header{}
	for name, value := range given.Headers {
		headers.Set(name, value)
	}
	if err := library.Verify([]byte(given.Body), headers); err != nil {
		panic(err)
	}
	var verified any
	if err := json.Unmarshal([]byte(given.Body), &verified); err != nil {
		panic(err)
	}
	refused := library.Verify([]byte(given.Body+" "), headers) != nil

	now := time.Now()
	signature := seen.Must(library.Sign("msg_theirs", now, []byte(given.Body)))
	answer := map[string]any{"verified": verified, "refused": refused, "headers": map[string]string{
		"webhook-id":        "msg_theirs",
		"webhook-timestamp": strconv.FormatInt(now.Unix(), 10),
		"webhook-signature": signature,
	}}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		panic(err)
	}
}
