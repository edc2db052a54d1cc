package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// served is a resource that can be listed and watched.
type served struct {
	gvr        schema.GroupVersionResource
	gvk        schema.GroupVersionKind
	namespaced bool
	verbs      []string
	hasStatus  bool
}

func (s served) String() string {
	return strings.TrimPrefix(s.gvr.GroupVersion().String()+" "+s.gvr.Resource, "/")
}

func (s served) path() string {
	if s.gvr.Group == "" {
		return "/api/" + s.gvr.Version + "/" + s.gvr.Resource
	}
	return "/apis/" + s.gvr.Group + "/" + s.gvr.Version + "/" + s.gvr.Resource
}

func (s served) isWritable() bool {
	return slices.Contains(s.verbs, "create") && slices.Contains(s.verbs, "delete")
}

// discover returns every version of every resource that discovery names with list and watch.
func discover(client discovery.DiscoveryInterface) ([]served, error) {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	var found []served
	withStatus := map[schema.GroupVersionResource]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if parent, ok := strings.CutSuffix(resource.Name, "/status"); ok {
				withStatus[gv.WithResource(parent)] = true
			}
			if slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "watch") {
				found = append(found, served{
					gvr:        gv.WithResource(resource.Name),
					gvk:        gv.WithKind(resource.Kind),
					namespaced: resource.Namespaced,
					verbs:      resource.Verbs,
				})
			}
		}
	}
	for i := range found {
		found[i].hasStatus = withStatus[found[i].gvr]
	}
	return found, nil
}
