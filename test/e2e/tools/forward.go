package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// forward listens here and connects from the network namespace of a process, as long as that process is there.
func forward(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("want LISTEN PID TARGET, got %q", arguments)
	}
	listen, namespace, target := arguments[0], "/proc/"+arguments[1]+"/ns/net", arguments[2]
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		go carry(client, namespace, target)
	}
}

func carry(client net.Conn, namespace, target string) {
	defer client.Close()
	server, err := dialFrom(namespace, target)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		io.Copy(to, from)
		// The other direction may go on: half-closed connections are ordinary.
		to.(*net.TCPConn).CloseWrite()
		ended <- struct{}{}
	}
	go pass(server, client)
	go pass(client, server)
	<-ended
	<-ended
}

// dialFrom connects on a thread of its own, which is never used for anything else again.
func dialFrom(namespace, target string) (net.Conn, error) {
	type dialled struct {
		connection net.Conn
		err        error
	}
	done := make(chan dialled, 1)
	go func() {
		// Without an unlock the thread ends with the goroutine.
		runtime.LockOSThread()
		connection, err := enterAndDial(namespace, target)
		done <- dialled{connection, err}
	}()
	result := <-done
	return result.connection, result.err
}

func enterAndDial(namespace, target string) (net.Conn, error) {
	// Opened for each connection: a namespace that is held open outlives its processes.
	file, err := os.Open(namespace)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("enter %s: %w", namespace, err)
	}
	return net.Dial("tcp", target)
}
