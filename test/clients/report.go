package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// line is what the program prints: the outcome of one check, or a wish that whoever started it must fulfil.
type line struct {
	Check   string `json:"check,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Restart asks for the server to be ended with this signal and started again, and for a line on standard input.
	Restart string `json:"restart,omitempty"`
}

var printing sync.Mutex

func print(l line) {
	printing.Lock()
	defer printing.Unlock()
	encoded, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout, string(encoded))
}

// check prints what became of one check.
func check(name string, body func() error) {
	l := line{Check: name}
	if err := body(); err != nil {
		l.Problem = err.Error()
	}
	print(l)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
