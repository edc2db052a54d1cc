package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	patience = 30 * time.Second
	often    = 50 * time.Millisecond
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
}

// collectsGarbage does what the garbage collector does: reads metadata, patches finalizers, deletes one very object.
func (p *parts) collectsGarbage(ctx context.Context) error {
	made, err := p.clientset.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("garbage"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	api := p.metadata.Resource(configMaps).Namespace(namespace)
	held := fmt.Appendf(nil, `{"metadata":{"uid":%q,"resourceVersion":%q,"finalizers":["clients.example.com/held"]}}`, made.UID, made.ResourceVersion)
	patched, err := api.Patch(ctx, "garbage", types.MergePatchType, held, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	if patched.UID != made.UID || len(patched.Finalizers) != 1 {
		return fmt.Errorf("the patch answered %+v", patched)
	}
	if _, err := api.Patch(ctx, "garbage", types.MergePatchType, held, metav1.PatchOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("a patch of an old revision: %w", err)
	}
	other := types.UID("00000000-0000-0000-0000-000000000000")
	err = api.Delete(ctx, "garbage", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("a deletion of another uid: %w", err)
	}
	background := metav1.DeletePropagationBackground
	err = api.Delete(ctx, "garbage", metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &made.UID, ResourceVersion: &patched.ResourceVersion},
		PropagationPolicy: &background,
	})
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	waiting, err := api.Get(ctx, "garbage", metav1.GetOptions{})
	if err != nil || waiting.DeletionTimestamp == nil {
		return fmt.Errorf("a held object is not waiting for its end: %w", err)
	}
	released := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := api.Patch(ctx, "garbage", types.MergePatchType, released, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	if _, err := api.Get(ctx, "garbage", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("a released object is still there: %w", err)
	}
	return nil
}

// electsLeader lets two candidates want one Lease, of which the leader then leaves.
func (p *parts) electsLeader(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	led := make(chan string, 2)
	resign := map[string]context.CancelFunc{}
	var all sync.WaitGroup
	for _, identity := range []string{"first", "second"} {
		running, leave := context.WithCancel(ctx)
		resign[identity] = leave
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:          p.leaseOf(identity),
			LeaseDuration: 5 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { led <- identity },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		all.Go(func() { elector.Run(running) })
	}
	seen := map[string]bool{}
	for range 2 {
		select {
		case leader := <-led:
			seen[leader] = true
			resign[leader]()
		case <-ctx.Done():
			return errors.New("nobody leads")
		}
	}
	all.Wait()
	if len(seen) != 2 {
		return fmt.Errorf("not both led: %v", seen)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return leave(context.Background(), p.leaseOf("first")) })
}

func (p *parts) leaseOf(identity string) *resourcelock.LeaseLock {
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: namespace},
		Client:     p.clientset.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

// leave writes what a leader writes that leaves: a lease of nobody.
func leave(ctx context.Context, lease *resourcelock.LeaseLock) error {
	if _, _, err := lease.Get(ctx); err != nil {
		return err
	}
	now := metav1.Now()
	nobody := resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now}
	if err := lease.Update(ctx, nobody); err != nil {
		return err
	}
	left, _, err := lease.Get(ctx)
	if err == nil && left.HolderIdentity != "" {
		err = fmt.Errorf("%s still holds the lease", left.HolderIdentity)
	}
	return err
}

// removesOwned sets an owner as controllers do, and lets the owner go.
func (p *parts) removesOwned(ctx context.Context) error {
	owner, owned := configMap("owner"), configMap("owned")
	if err := p.typed.Create(ctx, owner); err != nil {
		return err
	}
	outcome, err := controllerutil.CreateOrUpdate(ctx, p.typed, owned, func() error {
		return controllerutil.SetControllerReference(owner, owned, p.scheme)
	})
	if err != nil || outcome != controllerutil.OperationResultCreated {
		return fmt.Errorf("%s: %w", outcome, err)
	}
	outcome, err = controllerutil.CreateOrPatch(ctx, p.typed, owned, func() error { return nil })
	if err != nil || outcome != controllerutil.OperationResultNone {
		return fmt.Errorf("again %s: %w", outcome, err)
	}
	if err := p.typed.Delete(ctx, owner, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		return err
	}
	for _, gone := range []*corev1.ConfigMap{owned, owner} {
		err := wait.PollUntilContextTimeout(ctx, often, patience, true, func(ctx context.Context) (bool, error) {
			err := p.typed.Get(ctx, client.ObjectKeyFromObject(gone), &corev1.ConfigMap{})
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", gone.Name, err)
		}
	}
	return nil
}

// retriesOnConflict lets many writers count in one object; no step may be lost.
func (p *parts) retriesOnConflict(ctx context.Context) error {
	const writers, steps = 10, 10
	api := p.clientset.CoreV1().ConfigMaps(namespace)
	if _, err := api.Create(ctx, configMap("counter"), metav1.CreateOptions{}); err != nil {
		return err
	}
	patient := wait.Backoff{Steps: 500, Duration: 2 * time.Millisecond, Factor: 1, Jitter: 5}
	step := func() error {
		return retry.RetryOnConflict(patient, func() error {
			counter, err := api.Get(ctx, "counter", metav1.GetOptions{})
			if err != nil {
				return err
			}
			// Absent at first, which counts as 0.
			count, _ := strconv.Atoi(counter.Data["count"])
			counter.Data = map[string]string{"count": strconv.Itoa(count + 1)}
			_, err = api.Update(ctx, counter, metav1.UpdateOptions{})
			return err
		})
	}
	finished := make(chan error)
	for range writers {
		go func() {
			var err error
			for i := 0; i < steps && err == nil; i++ {
				err = step()
			}
			finished <- err
		}()
	}
	var problems error
	for range writers {
		problems = errors.Join(problems, <-finished)
	}
	counter, err := api.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if counter.Data["count"] != strconv.Itoa(writers*steps) {
		return fmt.Errorf("counted %s of %d: %w", counter.Data["count"], writers*steps, problems)
	}
	return problems
}

// isConflictOver tells whether a server-side apply was refused because of this field.
func isConflictOver(err error, field string) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldManagerConflict)
	return apierrors.IsConflict(err) && found && cause.Field == field
}
