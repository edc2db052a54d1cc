package main

import (
	"net/http"
	"strings"
	"sync"
)

// asked counts how often a collection was read, by the ways to read it.
type asked struct {
	lists, initialWatches, watches int
	// resumed is how many of the watches the server took.
	resumed int
}

// requests counts what really went over the wire, by path.
type requests struct {
	mutex sync.Mutex
	paths map[string]asked
}

func newRequests() *requests {
	return &requests{paths: map[string]asked{}}
}

func (r *requests) of(path string) asked {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.paths[path]
}

func (r *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return recorded{next: next, requests: r}
}

type recorded struct {
	next     http.RoundTripper
	requests *requests
}

func (r recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil && request.Method == http.MethodGet {
		r.requests.count(request, response.StatusCode)
	}
	return response, err
}

func (r *requests) count(request *http.Request, code int) {
	query := request.URL.Query()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	path := strings.TrimSuffix(request.URL.Path, "/")
	counted := r.paths[path]
	isWatch := query.Get("watch") == "true" || query.Get("watch") == "1"
	switch {
	case !isWatch:
		counted.lists++
	case query.Get("sendInitialEvents") == "true":
		counted.initialWatches++
	default:
		counted.watches++
		if code == http.StatusOK {
			counted.resumed++
		}
	}
	r.paths[path] = counted
}
