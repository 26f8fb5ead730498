// Package seen tells what a scenario saw, in the words that the test reads.
package seen

import (
	"encoding/json"
	"os"
)

type Seen struct {
	Endpoint string   `json:"endpoint"`
	Event    string   `json:"event"`
	Listed   []string `json:"listed"`
	Later    int      `json:"later"`
	Dumped   []string `json:"dumped"`
}

func (seen Seen) Tell() {
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		panic(err)
	}
}

func Must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}
