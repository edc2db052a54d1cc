// Small programs of the lab: the first process of nodes and pods, a way into a node, and what pods serve.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

var programs = map[string]func(arguments []string) error{
	"ask":     ask,
	"forward": forward,
	"pause":   pause,
	"serve":   serve,
}

func main() {
	name, arguments := filepath.Base(os.Args[0]), os.Args[1:]
	if programs[name] == nil && len(arguments) > 0 {
		name, arguments = arguments[0], arguments[1:]
	}
	program, known := programs[name]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: tools pause | forward LISTEN PID TARGET | serve PORT | ask ADDRESS SECONDS")
		os.Exit(2)
	}
	if err := program(arguments); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
