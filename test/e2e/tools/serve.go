package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

// serve answers on a TCP port over HTTP and on the same UDP port, with its host name and who asked. It prints requests.
func serve(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("want PORT, got %q", arguments)
	}
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	packets, err := net.ListenPacket("udp", ":"+arguments[0])
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	go func() { failed <- answerPackets(packets, hostname) }()
	go func() {
		failed <- http.ListenAndServe(":"+arguments[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Println(r.RemoteAddr, r.Method, r.URL)
			fmt.Fprintf(w, "%s %s\n", hostname, r.RemoteAddr)
		}))
	}()
	return <-failed
}

func answerPackets(packets net.PacketConn, hostname string) error {
	var buffer [1500]byte
	for {
		_, from, err := packets.ReadFrom(buffer[:])
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(answer{packets, from}, "%s %s\n", hostname, from); err != nil {
			return err
		}
	}
}

// answer writes packets to one address.
type answer struct {
	packets net.PacketConn
	to      net.Addr
}

func (a answer) Write(octets []byte) (int, error) {
	return a.packets.WriteTo(octets, a.to)
}
