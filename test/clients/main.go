// Clients as Go programs have them, against one running API server: informers of client-go and of a controller-runtime
// manager on every resource, in every form, and what controllers are built of. Prints one line of JSON for each check.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// samples are the objects to write, by `group/version/plural`.
type samples map[string][]unstructured.Unstructured

func main() {
	// controller-runtime has a flag of that name in the common set.
	flags := flag.NewFlagSet("clients", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "file with the contexts of the fleet")
	contextName := flags.String("context", "", "the server to talk to")
	objectsFile := flags.String("objects", "", "JSON: the objects to write, by group/version/plural")
	isStreaming := flags.Bool("streaming", true, "whether informers are expected to start with streaming lists")
	contested := flags.String("contested", "", "resources whose objects a controller takes back, separated by commas")
	only := flags.String("only", "", "informers or parts; both when empty")
	// ExitOnError: no error comes back.
	_ = flags.Parse(os.Args[1:])
	ctrl.SetLogger(klog.Background())
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: *kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: *contextName},
	).ClientConfig()
	if err != nil {
		fail(err)
	}
	config.QPS = -1
	objects, err := readSamples(*objectsFile)
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	if *only != "parts" {
		if err := followAll(ctx, config, objects, strings.Split(*contested, ","), *isStreaming); err != nil {
			fail(err)
		}
	}
	if *only != "informers" {
		if err := checkParts(ctx, config, objects); err != nil {
			fail(err)
		}
	}
}

func readSamples(path string) (samples, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects samples
	return objects, json.Unmarshal(content, &objects)
}

// followAll lets every informer follow all changes, over two restarts of the server.
func followAll(ctx context.Context, config *rest.Config, objects samples, contested []string, isStreaming bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	discovered, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	resources, err := discover(discovered)
	if err != nil {
		return err
	}
	followers, err := startClientGo(ctx, config, resources)
	if err != nil {
		return err
	}
	managed, err := startManager(ctx, config, resources)
	if err != nil {
		return err
	}
	followers = append(followers, managed...)
	awaitSync(ctx, followers)
	verdicts := make([]verdict, len(followers))
	for i, follower := range followers {
		verdicts[i] = begin(follower, isStreaming)
	}
	writers, err := writeAll(ctx, config, resources, objects, followers)
	if err != nil {
		return err
	}
	for _, w := range writers {
		check("changes: "+w.resource.String(), func() error {
			return w.complete(slices.Contains(contested, w.resource.gvr.Resource))
		})
	}
	return settle(ctx, config, verdicts, revisionsBy(writers))
}

// writeAll makes all changes, and meanwhile asks twice for a restart, the second time when all follow again.
func writeAll(ctx context.Context, config *rest.Config, resources []served, objects samples, followers []*follower) ([]*writer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	var done atomic.Int64
	var total int64
	finished := make(chan error)
	half := &gate{open: make(chan struct{})}
	var writers []*writer
	for _, resource := range resources {
		mine := objects[key(resource)]
		if resource.isWritable() {
			total += int64(len(mine) * changesOfEach)
			w := &writer{resource: resource, client: client, done: &done, gate: half, written: map[string][]string{}}
			writers = append(writers, w)
		}
	}
	half.at = total / 2
	for _, w := range writers {
		go func() { finished <- w.change(ctx, objects[key(w.resource)]) }()
	}
	restarted := make(chan struct{})
	go func() {
		defer close(restarted)
		reach(&done, total/3)
		before := resumedWatches(followers)
		restart("SIGTERM")
		awaitResumed(followers, before)
		close(half.open)
		reach(&done, total*2/3)
		restart("SIGKILL")
	}()
	for range writers {
		if err := <-finished; err != nil {
			return nil, err
		}
	}
	<-restarted
	return writers, nil
}

// revisionsBy returns the revisions of all objects by the resource, in whatever version they were written.
func revisionsBy(writers []*writer) map[string]map[string][]string {
	written := map[string]map[string][]string{}
	for _, w := range writers {
		of := w.resource.gvr.GroupResource().String()
		if written[of] == nil {
			written[of] = map[string][]string{}
		}
		maps.Copy(written[of], w.written)
	}
	return written
}

func key(resource served) string {
	return resource.gvr.Group + "/" + resource.gvr.Version + "/" + resource.gvr.Resource
}

var answers = bufio.NewScanner(os.Stdin)

// reach returns when so many changes are done.
func reach(done *atomic.Int64, count int64) {
	for done.Load() < count {
		time.Sleep(10 * time.Millisecond)
	}
}

// restart asks for a restart, and returns when the server is back.
func restart(signal string) {
	print(line{Restart: signal})
	answers.Scan()
}
