package main

import (
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// revisions of objects by their key.
type revisions map[string]string

// follower checks what one informer tells: every revision of an object once, in order, from its creation to its end.
type follower struct {
	resource served
	// form says which client the informer is of, such as "typed".
	form     string
	informer cache.SharedIndexInformer
	requests *requests

	mutex    sync.Mutex
	current  map[string]uint64
	seen     map[string]map[string]bool
	problems []string
}

func follow(resource served, form string, informer cache.SharedIndexInformer, counts *requests) (*follower, error) {
	f := &follower{
		resource: resource, form: form, informer: informer, requests: counts,
		current: map[string]uint64{}, seen: map[string]map[string]bool{},
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    f.added,
		UpdateFunc: f.updated,
		DeleteFunc: f.deleted,
	})
	return f, err
}

func (f *follower) added(made any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	key, text, number := identity(made)
	if _, exists := f.current[key]; exists {
		f.wrong("%s was added twice, again at %s", key, text)
	}
	f.note(key, text, number)
}

func (f *follower) updated(old, made any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	key, text, number := identity(made)
	_, oldText, oldNumber := identity(old)
	before, exists := f.current[key]
	switch {
	case !exists:
		f.wrong("%s was updated before it was added, at %s", key, text)
	case number <= before:
		f.wrong("%s went from %d to %s", key, before, text)
	case oldNumber != before:
		f.wrong("%s was updated from %s and not from %d", key, oldText, before)
	}
	f.note(key, text, number)
}

func (f *follower) deleted(gone any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if unknown, ok := gone.(cache.DeletedFinalStateUnknown); ok {
		f.wrong("the deletion of %s was missed", unknown.Key)
		delete(f.current, unknown.Key)
		return
	}
	key, text, number := identity(gone)
	before, exists := f.current[key]
	if !exists || number <= before {
		f.wrong("%s was deleted at %s after %d", key, text, before)
	}
	delete(f.current, key)
}

func (f *follower) note(key, text string, number uint64) {
	f.current[key] = number
	if f.seen[key] == nil {
		f.seen[key] = map[string]bool{}
	}
	f.seen[key][text] = true
}

func (f *follower) wrong(format string, args ...any) {
	if len(f.problems) < 5 {
		f.problems = append(f.problems, fmt.Sprintf(format, args...))
	}
}

// missed returns the first written revision that the informer never told.
func (f *follower) missed(written map[string][]string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for key, texts := range written {
		for _, text := range texts {
			if !f.seen[key][text] {
				return fmt.Errorf("%s at %s was never told", key, text)
			}
		}
	}
	if len(f.problems) > 0 {
		return fmt.Errorf("%v", f.problems)
	}
	return nil
}

// differs compares the informer's store with a list of the server.
func (f *follower) differs(listed revisions) error {
	stored := revisions{}
	for _, held := range f.informer.GetStore().List() {
		key, text, _ := identity(held)
		stored[key] = text
	}
	for key, text := range listed {
		if stored[key] != text {
			return fmt.Errorf("the store has %s at %q, the server at %q", key, stored[key], text)
		}
	}
	if len(stored) != len(listed) {
		return fmt.Errorf("the store holds %d objects, the server %d", len(stored), len(listed))
	}
	return nil
}

func identity(held any) (key, text string, number uint64) {
	accessor, err := meta.Accessor(held)
	if err != nil {
		panic(err)
	}
	key = accessor.GetName()
	if accessor.GetNamespace() != "" {
		key = accessor.GetNamespace() + "/" + key
	}
	text = accessor.GetResourceVersion()
	number, err = strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s has the resourceVersion %q", key, text))
	}
	return key, text, number
}
