package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// namespace is where the parts write; whoever starts the program makes it.
const namespace = "clients"

// parts are what controllers are built of, each checked by itself.
type parts struct {
	config    *rest.Config
	objects   samples
	scheme    *runtime.Scheme
	clientset *kubernetes.Clientset
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	typed     client.Client
}

func checkParts(ctx context.Context, config *rest.Config, objects samples) error {
	p := parts{config: config, objects: objects, scheme: typedScheme()}
	var err error
	if p.clientset, err = kubernetes.NewForConfig(preferringProtobuf(config)); err != nil {
		return err
	}
	if p.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	if p.metadata, err = metadata.NewForConfig(config); err != nil {
		return err
	}
	if p.typed, err = client.New(config, client.Options{Scheme: p.scheme}); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		body func(context.Context) error
	}{
		{"maps every kind by aggregated discovery", p.mapsByAggregatedDiscovery},
		{"maps every kind by legacy discovery", p.mapsByLegacyDiscovery},
		{"collects garbage with metadata alone", p.collectsGarbage},
		{"applies on the server, with conflicts and force", p.appliesOnServer},
		{"elects a leader, and another when it leaves", p.electsLeader},
		{"removes what was owned by an object that is gone", p.removesOwned},
		{"retries on conflict with many writers", p.retriesOnConflict},
		{"sends protocol buffers and reads JSON", p.sendsProtobuf},
		{"reads a list in pages of one revision", p.readsPages},
		{"reads every schema of OpenAPI v3", p.readsOpenAPI},
		{"makes structured-merge types of every schema", p.makesMergeTypes},
		{"decodes every kind strictly into its Go type", p.decodesStrictly},
	} {
		check("part: "+part.name, func() error { return part.body(ctx) })
	}
	return nil
}
