package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcsclient "sigs.k8s.io/mcs-api/pkg/client/clientset/versioned"
	mcsinformers "sigs.k8s.io/mcs-api/pkg/client/informers/externalversions"
)

// withCounts is the same server, with the requests of one client counted by themselves.
func withCounts(config *rest.Config) (*rest.Config, *requests) {
	counts := newRequests()
	counted := rest.CopyConfig(config)
	counted.Wrap(counts.wrap)
	return counted, counts
}

type informerOf func(served) (cache.SharedIndexInformer, error)

// startClientGo starts the informers of client-go, one form after the other on a connection of its own.
func startClientGo(ctx context.Context, config *rest.Config, resources []served) ([]*follower, error) {
	forms := []struct {
		name string
		of   func(*rest.Config) (informerOf, error)
	}{
		{"typed", typedInformers},
		{"unstructured", dynamicInformers},
		{"metadata", metadataInformers},
	}
	var followers []*follower
	for _, form := range forms {
		counted, counts := withCounts(config)
		of, err := form.of(counted)
		if err != nil {
			return nil, err
		}
		for _, resource := range resources {
			informer, err := of(resource)
			if err != nil {
				return nil, fmt.Errorf("%s informer of %s: %w", form.name, resource, err)
			}
			follower, err := follow(resource, form.name, informer, counts)
			if err != nil {
				return nil, err
			}
			followers = append(followers, follower)
			go informer.RunWithContext(ctx)
		}
	}
	return followers, nil
}

func dynamicInformers(config *rest.Config) (informerOf, error) {
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	return func(resource served) (cache.SharedIndexInformer, error) {
		return factory.ForResource(resource.gvr).Informer(), nil
	}, nil
}

func metadataInformers(config *rest.Config) (informerOf, error) {
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := metadatainformer.NewSharedInformerFactory(metadataClient, 0)
	return func(resource served) (cache.SharedIndexInformer, error) {
		return factory.ForResource(resource.gvr).Informer(), nil
	}, nil
}

// typedInformers are generated ones where there are any, with protocol buffers preferred as client-go advises.
func typedInformers(config *rest.Config) (informerOf, error) {
	clientset, err := kubernetes.NewForConfig(preferringProtobuf(config))
	if err != nil {
		return nil, err
	}
	mcsClientset, err := mcsclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	builtIn := informers.NewSharedInformerFactory(clientset, 0)
	mcs := mcsinformers.NewSharedInformerFactory(mcsClientset, 0)
	scheme := typedScheme()
	return func(resource served) (cache.SharedIndexInformer, error) {
		if generic, err := mcs.ForResource(resource.gvr); err == nil {
			return generic.Informer(), nil
		}
		if resource.gvr.GroupVersion() != hubVersion {
			generic, err := builtIn.ForResource(resource.gvr)
			if err != nil {
				return nil, err
			}
			return generic.Informer(), nil
		}
		restClient, err := typedClient(config, scheme)
		if err != nil {
			return nil, err
		}
		example, err := scheme.New(resource.gvk)
		if err != nil {
			return nil, err
		}
		source := cache.NewListWatchFromClient(restClient, resource.gvr.Resource, metav1.NamespaceAll, fields.Everything())
		return cache.NewSharedIndexInformer(source, example, 0, cache.Indexers{}), nil
	}, nil
}

func typedClient(config *rest.Config, scheme *runtime.Scheme) (*rest.RESTClient, error) {
	typed := rest.CopyConfig(config)
	typed.GroupVersion = &hubVersion
	typed.APIPath = "/apis"
	typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(typed)
}

func preferringProtobuf(config *rest.Config) *rest.Config {
	preferring := rest.CopyConfig(config)
	preferring.ContentType = runtime.ContentTypeProtobuf
	preferring.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return preferring
}

// startManager starts a manager of controller-runtime whose cache holds every resource in all three forms.
func startManager(ctx context.Context, config *rest.Config, resources []served) ([]*follower, error) {
	counted, counts := withCounts(config)
	manager, err := ctrl.NewManager(counted, ctrl.Options{
		Scheme:  typedScheme(),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, err
	}
	var followers []*follower
	for _, resource := range resources {
		for form, example := range examples(manager.GetScheme(), resource) {
			informer, err := manager.GetCache().GetInformer(ctx, example, ctrlcache.BlockUntilSynced(false))
			if err != nil {
				return nil, fmt.Errorf("%s informer of %s: %w", form, resource, err)
			}
			shared, ok := informer.(cache.SharedIndexInformer)
			if !ok {
				return nil, errors.New("the manager's informers are not those of client-go")
			}
			follower, err := follow(resource, "manager's "+form, shared, counts)
			if err != nil {
				return nil, err
			}
			followers = append(followers, follower)
		}
	}
	go func() {
		if err := manager.Start(ctx); err != nil {
			fail(fmt.Errorf("manager: %w", err))
		}
	}()
	return followers, nil
}

func examples(scheme *runtime.Scheme, resource served) map[string]client.Object {
	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(resource.gvk)
	onlyMetadata := &metav1.PartialObjectMetadata{}
	onlyMetadata.SetGroupVersionKind(resource.gvk)
	found := map[string]client.Object{"unstructured": untyped, "metadata": onlyMetadata}
	if made, err := scheme.New(resource.gvk); err == nil {
		if typed, ok := made.(client.Object); ok {
			found["typed"] = typed
		}
	}
	return found
}

// awaitSync waits until every informer has its first state.
func awaitSync(ctx context.Context, followers []*follower) {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, follower := range followers {
		cache.WaitForCacheSync(limited.Done(), follower.informer.HasSynced)
	}
}
