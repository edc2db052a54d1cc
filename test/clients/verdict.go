package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// formsOfManager is how many informers of one manager share a path.
const formsOfManager = 3

// verdict is what is to be said of one informer.
type verdict struct {
	follower *follower
	// atSync is what was asked for up to the first state.
	atSync  asked
	problem error
}

// sharing is how many informers ask for the path of this one in the same requests.
func (f *follower) sharing() int {
	if strings.HasPrefix(f.form, "manager's") {
		return formsOfManager
	}
	return 1
}

// begin checks how an informer came to its first state.
func begin(f *follower, isStreaming bool) verdict {
	v := verdict{follower: f, atSync: f.requests.of(f.resource.path())}
	expected := f.sharing()
	switch {
	case !f.informer.HasSynced():
		v.problem = fmt.Errorf("not synced within a minute: %+v", v.atSync)
	case isStreaming && (v.atSync.lists != 0 || v.atSync.initialWatches != expected):
		v.problem = fmt.Errorf("expected %d streaming lists and nothing else: %+v", expected, v.atSync)
	case !isStreaming && (v.atSync.lists != expected || v.atSync.initialWatches != 0):
		v.problem = fmt.Errorf("expected %d lists and nothing else: %+v", expected, v.atSync)
	}
	return v
}

// settle waits until every informer has all that the server has, and prints what is to be said of it.
func settle(ctx context.Context, config *rest.Config, verdicts []verdict, written map[string]map[string][]string) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(90 * time.Second)
	for _, v := range verdicts {
		f := v.follower
		check("informer: "+f.form+" "+f.resource.String(), func() error {
			if v.problem != nil {
				return v.problem
			}
			for {
				problem := f.compare(ctx, client, written[f.resource.gvr.GroupResource().String()])
				if problem == nil {
					return v.resumed()
				}
				if time.Now().After(deadline) {
					return problem
				}
				time.Sleep(200 * time.Millisecond)
			}
		})
	}
	return nil
}

func (f *follower) compare(ctx context.Context, client dynamic.Interface, written map[string][]string) error {
	list, err := client.Resource(f.resource.gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	listed := revisions{}
	for i := range list.Items {
		key, text, _ := identity(&list.Items[i])
		listed[key] = text
	}
	if err := f.differs(listed); err != nil {
		return err
	}
	if !f.resource.isWritable() {
		// Computed from other objects: when it changes as a whole, all is listed again.
		return nil
	}
	return f.missed(written)
}

// resumed checks that the informer got over the restarts with watches alone.
func (v verdict) resumed() error {
	now := v.follower.requests.of(v.follower.resource.path())
	if !v.follower.resource.isWritable() {
		return nil
	}
	if now.lists != v.atSync.lists || now.initialWatches != v.atSync.initialWatches {
		return fmt.Errorf("listed again: %+v at first, %+v at the end", v.atSync, now)
	}
	if now.watches <= v.atSync.watches {
		return fmt.Errorf("never resumed a watch: %+v at first, %+v at the end", v.atSync, now)
	}
	return nil
}
