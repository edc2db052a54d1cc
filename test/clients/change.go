package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// changesOfEach is how many changes one object goes through: create, label, status, update, delete.
const changesOfEach = 5

// errGone says that somebody else removed an object, as a controller of the server may.
var errGone = errors.New("gone")

// writer takes the objects of one resource through their lives.
type writer struct {
	resource served
	client   dynamic.Interface
	done     *atomic.Int64
	gate     *gate

	// written holds the revisions that the server answered with, by key.
	written map[string][]string
	// changes were answered; overtaken objects were removed by somebody else.
	changes, overtaken int
}

// change takes all objects through their lives, also while the server is away.
func (w *writer) change(ctx context.Context, objects []unstructured.Unstructured) error {
	for i := range objects {
		w.gate.pass(ctx, w.done.Load())
		err := w.live(ctx, &objects[i])
		if errors.Is(err, errGone) {
			w.overtaken++
			w.done.Add(changesOfEach)
		} else if err != nil {
			return fmt.Errorf("%s %s: %w", w.resource, objects[i].GetName(), err)
		}
	}
	return nil
}

// complete tells whether every object went through its whole life.
func (w *writer) complete(isContested bool) error {
	if w.changes == 0 || (w.overtaken > 0 && !isContested) {
		return fmt.Errorf("%d changes, and %d objects were removed by somebody else", w.changes, w.overtaken)
	}
	return nil
}

func (w *writer) live(ctx context.Context, sample *unstructured.Unstructured) error {
	name := sample.GetName()
	api := w.in(sample.GetNamespace())
	steps := []func() (*unstructured.Unstructured, error){
		func() (*unstructured.Unstructured, error) { return w.create(ctx, api, sample) },
		func() (*unstructured.Unstructured, error) {
			return api.Patch(ctx, name, types.MergePatchType, labelled("first"), metav1.PatchOptions{})
		},
		func() (*unstructured.Unstructured, error) { return w.patchStatus(ctx, api, sample) },
		func() (*unstructured.Unstructured, error) { return w.update(ctx, api, name) },
	}
	for _, step := range steps {
		if err := w.persist(ctx, step); err != nil {
			return err
		}
	}
	return w.persist(ctx, func() (*unstructured.Unstructured, error) {
		err := api.Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return nil, err
	})
}

func (w *writer) in(namespace string) dynamic.ResourceInterface {
	if w.resource.namespaced {
		return w.client.Resource(w.resource.gvr).Namespace(namespace)
	}
	return w.client.Resource(w.resource.gvr)
}

// create takes it for created when a first attempt, whose answer was lost, did it.
func (w *writer) create(ctx context.Context, api dynamic.ResourceInterface, sample *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	made, err := api.Create(ctx, sample, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return api.Get(ctx, sample.GetName(), metav1.GetOptions{})
	}
	return made, err
}

func (w *writer) patchStatus(ctx context.Context, api dynamic.ResourceInterface, sample *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	status, exists := sample.Object["status"]
	if !w.resource.hasStatus || !exists {
		return api.Patch(ctx, sample.GetName(), types.MergePatchType, labelled("second"), metav1.PatchOptions{})
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return nil, err
	}
	return api.Patch(ctx, sample.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
}

func (w *writer) update(ctx context.Context, api dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	current, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	current.SetAnnotations(map[string]string{"clients.example.com/step": "update"})
	return api.Update(ctx, current, metav1.UpdateOptions{})
}

// persist repeats a step while the server is away or somebody else was faster, and notes what it answered.
func (w *writer) persist(ctx context.Context, step func() (*unstructured.Unstructured, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		answered, err := step()
		switch {
		case err == nil:
			w.note(answered)
			return true, nil
		case apierrors.IsNotFound(err):
			return false, errGone
		case isPassing(err):
			last = err
			return false, nil
		}
		return false, err
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

// isPassing tells of a server that is away or busy, or of a write that was overtaken, from a refusal.
func isPassing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	return apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || status.Status().Code >= 500
}

func (w *writer) note(answered *unstructured.Unstructured) {
	w.done.Add(1)
	w.changes++
	if answered == nil {
		return
	}
	key, text, _ := identity(answered)
	w.written[key] = append(w.written[key], text)
}

func labelled(value string) []byte {
	return fmt.Appendf(nil, `{"metadata":{"labels":{"clients.example.com/step":%q}}}`, value)
}
