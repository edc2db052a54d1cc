package main

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// ask opens one connection after the other, and prints when each began, in milliseconds, and who answered.
func ask(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("want ADDRESS SECONDS, got %q", arguments)
	}
	seconds, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		began := time.Now()
		who, err := whoAnswers(arguments[0])
		if err != nil {
			who = "nobody"
		}
		fmt.Printf("%.1f %s\n", float64(began.UnixMicro())/1000, who)
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// whoAnswers is the first word of the answer of `serve`.
func whoAnswers(address string) (string, error) {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprint(connection, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return "", err
	}
	last := ""
	for lines := bufio.NewScanner(connection); lines.Scan(); {
		last = lines.Text()
	}
	who, _, found := strings.Cut(last, " ")
	if !found {
		return "", fmt.Errorf("no answer")
	}
	return who, nil
}
