package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/pager"
)

func (p *parts) mapsByAggregatedDiscovery(context.Context) error {
	groups, resources, failed, err := p.clientset.GroupsAndMaybeResources()
	if err != nil || len(failed) > 0 {
		return fmt.Errorf("%v: %w", failed, err)
	}
	if len(groups.Groups) == 0 || resources == nil {
		return errors.New("discovery is not aggregated")
	}
	return p.mapsBy(p.clientset.DiscoveryClient)
}

func (p *parts) mapsByLegacyDiscovery(context.Context) error {
	return p.mapsBy(p.clientset.DiscoveryClient.WithLegacy())
}

// mapsBy checks that a RESTMapper leads from every kind to its resource and back.
func (p *parts) mapsBy(client discovery.DiscoveryInterface) error {
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	resources, err := discover(client)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		mapping, err := mapper.RESTMapping(resource.gvk.GroupKind(), resource.gvk.Version)
		if err != nil {
			return err
		}
		isNamespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
		if mapping.Resource != resource.gvr || isNamespaced != resource.namespaced {
			return fmt.Errorf("%s leads to %s, %s", resource.gvk, mapping.Resource, mapping.Scope.Name())
		}
		if kind, err := mapper.KindFor(resource.gvr); err != nil || kind != resource.gvk {
			return fmt.Errorf("%s leads to %s: %w", resource.gvr, kind, err)
		}
	}
	if len(resources) == 0 {
		return errors.New("nothing is served")
	}
	return nil
}

// appliesOnServer applies a ConfigMap by two managers, the second of which has to force its way.
func (p *parts) appliesOnServer(ctx context.Context) error {
	api := p.dynamic.Resource(configMaps).Namespace(namespace)
	wanted := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "applied", "namespace": namespace},
			"data":     map[string]any{"key": value},
		}}
	}
	first, err := api.Apply(ctx, "applied", wanted("one"), metav1.ApplyOptions{FieldManager: "first"})
	if err != nil {
		return err
	}
	again, err := api.Apply(ctx, "applied", wanted("one"), metav1.ApplyOptions{FieldManager: "first"})
	if err != nil || again.GetResourceVersion() != first.GetResourceVersion() {
		return fmt.Errorf("applied again: from %s to %s: %w", first.GetResourceVersion(), again.GetResourceVersion(), err)
	}
	_, err = api.Apply(ctx, "applied", wanted("two"), metav1.ApplyOptions{FieldManager: "second"})
	if !isConflictOver(err, ".data.key") {
		return fmt.Errorf("no conflict: %w", err)
	}
	forced, err := api.Apply(ctx, "applied", wanted("two"), metav1.ApplyOptions{FieldManager: "second", Force: true})
	if err != nil {
		return err
	}
	value, _, err := unstructured.NestedString(forced.Object, "data", "key")
	if value != "two" {
		return fmt.Errorf("forced to %q: %w", value, err)
	}
	return err
}

// sendsProtobuf writes with the typed client, which prefers protocol buffers, and reads the same with the untyped one.
func (p *parts) sendsProtobuf(ctx context.Context) error {
	sent := configMap("protobuf")
	sent.Data = map[string]string{"text": "ä\x00\"", "empty": ""}
	sent.BinaryData = map[string][]byte{"bytes": {0, 255, 10}}
	made, err := p.clientset.CoreV1().ConfigMaps(namespace).Create(ctx, sent, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	read, err := p.dynamic.Resource(configMaps).Namespace(namespace).Get(ctx, "protobuf", metav1.GetOptions{})
	if err != nil {
		return err
	}
	var typed corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(read.Object, &typed); err != nil {
		return err
	}
	for _, held := range []*corev1.ConfigMap{made, &typed} {
		if held.Data["text"] != sent.Data["text"] || !bytes.Equal(held.BinaryData["bytes"], sent.BinaryData["bytes"]) {
			return fmt.Errorf("read %+v", held)
		}
	}
	return nil
}

// readsPages checks that pages are of one revision and hold everything once.
func (p *parts) readsPages(ctx context.Context) error {
	const count, page = 50, 7
	api := p.clientset.CoreV1().ConfigMaps(namespace)
	for i := range count {
		paged := configMap(fmt.Sprintf("paged-%d", i))
		paged.Labels = map[string]string{"part": "paged"}
		if _, err := api.Create(ctx, paged, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	seen, pages, revisions := map[string]bool{}, 0, map[string]bool{}
	reader := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		pages++
		list, err := api.List(ctx, options)
		if err == nil {
			revisions[list.ResourceVersion] = true
			// What is written between two pages is in none of them.
			_, err = api.Patch(ctx, "paged-49", types.MergePatchType, labelled(fmt.Sprint(pages)), metav1.PatchOptions{})
		}
		return list, err
	})
	reader.PageSize = page
	err := reader.EachListItem(ctx, metav1.ListOptions{LabelSelector: "part=paged"}, func(item runtime.Object) error {
		key, _, _ := identity(item)
		if seen[key] {
			return fmt.Errorf("%s is on two pages", key)
		}
		seen[key] = true
		return nil
	})
	if err != nil {
		return err
	}
	if len(seen) != count || pages != (count+page-1)/page || len(revisions) != 1 {
		return fmt.Errorf("%d objects on %d pages of revisions %v", len(seen), pages, revisions)
	}
	return nil
}

// readsOpenAPI parses every document, and finds in it the schema of every kind and the ways to write it.
func (p *parts) readsOpenAPI(context.Context) error {
	resources, err := discover(p.clientset.DiscoveryClient)
	if err != nil {
		return err
	}
	root := openapi3.NewRoot(p.clientset.OpenAPIV3())
	for _, resource := range resources {
		document, err := root.GVSpec(resource.gvr.GroupVersion())
		if err != nil {
			return fmt.Errorf("%s: %w", resource.gvr.GroupVersion(), err)
		}
		found := false
		for name, schema := range document.Components.Schemas {
			var kinds []metav1.GroupVersionKind
			if err := schema.Extensions.GetObject("x-kubernetes-group-version-kind", &kinds); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, kind := range kinds {
				if kind.Kind == resource.gvk.Kind && kind.Group == resource.gvk.Group && kind.Version == resource.gvk.Version {
					found = len(schema.Properties) > 0
				}
			}
		}
		if !found {
			return fmt.Errorf("%s has no schema", resource.gvk)
		}
	}
	return nil
}

// makesMergeTypes does what a client must to compute an apply: from the schemas to typed values, for every sample.
func (p *parts) makesMergeTypes(context.Context) error {
	converter, err := openapi.NewTypeConverter(p.clientset.OpenAPIV3(), false)
	if err != nil {
		return err
	}
	for _, objects := range p.objects {
		typed, err := converter.ObjectToTyped(&objects[0])
		if err != nil {
			return fmt.Errorf("%s: %w", objects[0].GroupVersionKind(), err)
		}
		if _, err := typed.ToFieldSet(); err != nil {
			return err
		}
	}
	return nil
}

// decodesStrictly reads what the server holds of every kind into Go structs, which must know every field.
func (p *parts) decodesStrictly(ctx context.Context) error {
	resources, err := discover(p.clientset.DiscoveryClient)
	if err != nil {
		return err
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, p.scheme, p.scheme, json.SerializerOptions{Strict: true})
	decoded := 0
	for _, resource := range resources {
		if mine := p.objects[key(resource)]; resource.isWritable() && len(mine) > 0 {
			last := mine[len(mine)-1]
			api := dynamic.ResourceInterface(p.dynamic.Resource(resource.gvr))
			if resource.namespaced {
				api = p.dynamic.Resource(resource.gvr).Namespace(last.GetNamespace())
			}
			if _, err := api.Create(ctx, &last, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("%s: %w", resource, err)
			}
		}
		list, err := p.dynamic.Resource(resource.gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			content, err := list.Items[i].MarshalJSON()
			if err != nil {
				return err
			}
			if _, _, err := decoder.Decode(content, nil, nil); err != nil {
				return fmt.Errorf("%s %s: %w", resource, list.Items[i].GetName(), err)
			}
			decoded++
		}
	}
	if decoded < len(p.objects) {
		return fmt.Errorf("only %d objects were there", decoded)
	}
	return nil
}
