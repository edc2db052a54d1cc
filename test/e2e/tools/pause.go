package main

import (
	"os"
	"os/signal"
	"syscall"
)

// pause waits to be ended, and buries the children that others left to it.
func pause([]string) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for {
		// First without a signal: children may have ended before there was someone to tell.
		bury()
		if <-signals != syscall.SIGCHLD {
			return nil
		}
	}
}

func bury() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
	}
}
