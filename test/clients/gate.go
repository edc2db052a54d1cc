package main

import (
	"context"
	"slices"
	"time"
)

// shortWatch is longer than a watch has to last for client-go not to list again when it ends without an event.
const shortWatch = 1500 * time.Millisecond

// gate holds up writers, once so many changes are done, until it is open.
type gate struct {
	at   int64
	open chan struct{}
}

func (g *gate) pass(ctx context.Context, done int64) {
	if done < g.at {
		return
	}
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}

// resumedWatches returns how many watches the server took so far, by informer.
func resumedWatches(followers []*follower) []int {
	counts := make([]int, len(followers))
	for i, f := range followers {
		counts[i] = f.requests.of(f.resource.path()).resumed
	}
	return counts
}

// awaitResumed waits, for a minute at most, until every informer watches again what it watched before, and has done so for a while.
func awaitResumed(followers []*follower, before []int) {
	deadline := time.Now().Add(time.Minute)
	last, since := before, time.Now()
	for time.Now().Before(deadline) && (time.Since(since) < shortWatch || !haveResumed(followers, before)) {
		time.Sleep(50 * time.Millisecond)
		now := resumedWatches(followers)
		if !slices.Equal(now, last) {
			last, since = now, time.Now()
		}
	}
}

func haveResumed(followers []*follower, before []int) bool {
	now := resumedWatches(followers)
	for i, f := range followers {
		if f.resource.isWritable() && now[i] < before[i]+f.sharing() {
			return false
		}
	}
	return true
}
