package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	mcsv1alpha1 "sigs.k8s.io/mcs-api/pkg/apis/v1alpha1"
	mcsv1beta1 "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"
)

var hubVersion = schema.GroupVersion{Group: "hub.isthmus.dev", Version: "v1alpha1"}

// object is a typed object of a kind of the hub that has a spec and a status.
type object[Spec, Status any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec    `json:"spec"`
	Status            *Status `json:"status,omitempty"`
}

func (o *object[Spec, Status]) DeepCopyObject() runtime.Object { return copied(o) }

type importable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Source            string               `json:"source,omitempty"`
	Object            runtime.RawExtension `json:"object"`
}

func (i *importable) DeepCopyObject() runtime.Object { return copied(i) }

// list is the list of a kind; Item is a struct above.
type list[Item any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Item `json:"items"`
}

func (l *list[Item]) DeepCopyObject() runtime.Object { return copied(l) }

func copied[T any](original *T) *T {
	encoded, err := json.Marshal(original)
	utilruntime.Must(err)
	made := new(T)
	utilruntime.Must(json.Unmarshal(encoded, made))
	return made
}

type port struct {
	Name        string `json:"name,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
	AppProtocol string `json:"appProtocol,omitempty"`
	Port        int32  `json:"port"`
}

type affinityConfig struct {
	ClientIP *struct {
		TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
	} `json:"clientIP,omitempty"`
}

type traffic struct {
	SessionAffinity       string          `json:"sessionAffinity,omitempty"`
	SessionAffinityConfig *affinityConfig `json:"sessionAffinityConfig,omitempty"`
	InternalTrafficPolicy string          `json:"internalTrafficPolicy,omitempty"`
	TrafficDistribution   string          `json:"trafficDistribution,omitempty"`
}

type clusterSetServiceSpec struct {
	Namespace    string   `json:"namespace"`
	Service      string   `json:"service"`
	Consumers    []string `json:"consumers,omitempty"`
	Reported     bool     `json:"reported,omitempty"`
	importedSpec `json:",inline"`
}

type clusterSetServiceStatus struct {
	Clusters []struct {
		Cluster           string       `json:"cluster"`
		Taint             string       `json:"taint,omitempty"`
		Unreachable       bool         `json:"unreachable,omitempty"`
		Region            string       `json:"region,omitempty"`
		Draining          bool         `json:"draining,omitempty"`
		Ports             []port       `json:"ports"`
		Since             *metav1.Time `json:"since,omitempty"`
		Definition        *attributes  `json:"definition,omitempty"`
		LabelsDigest      string       `json:"labelsDigest,omitempty"`
		AnnotationsDigest string       `json:"annotationsDigest,omitempty"`
	} `json:"clusters"`
	Addresses []string `json:"addresses"`
	Problem   *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"problem,omitempty"`
	Audiences []struct {
		Consumers []string     `json:"consumers,omitempty"`
		Clusters  []string     `json:"clusters"`
		Spec      importedSpec `json:"spec"`
		Problem   *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"problem,omitempty"`
	} `json:"audiences,omitempty"`
	ReleasedAt *metav1.Time `json:"releasedAt,omitempty"`
}

type importedSpec struct {
	Type        string   `json:"type"`
	Ports       []port   `json:"ports"`
	IPs         []string `json:"ips"`
	IPFamilies  []string `json:"ipFamilies"`
	traffic     `json:",inline"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type importedServiceSpec struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
}

type exportedServiceSpec struct {
	Namespace           string            `json:"namespace"`
	Service             string            `json:"service"`
	ExportedAt          metav1.Time       `json:"exportedAt"`
	ExportGeneration    int64             `json:"exportGeneration"`
	ExportedLabels      map[string]string `json:"exportedLabels,omitempty"`
	ExportedAnnotations map[string]string `json:"exportedAnnotations,omitempty"`
	Consumers           []string          `json:"consumers,omitempty"`
	Addresses           []string          `json:"addresses,omitempty"`
	WhenUnreachable     *struct {
		Action       string `json:"action"`
		AfterSeconds *int32 `json:"afterSeconds,omitempty"`
	} `json:"whenUnreachable,omitempty"`
	Definition struct {
		attributes `json:",inline"`
		Ports      []port `json:"ports"`
	} `json:"definition"`
}

type attributes struct {
	Type       string   `json:"type"`
	IPFamilies []string `json:"ipFamilies"`
	traffic    `json:",inline"`
}

type exportedServiceStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type exportedEndpointSliceSpec struct {
	Namespace   string   `json:"namespace"`
	Service     string   `json:"service"`
	Slice       string   `json:"slice"`
	Consumers   []string `json:"consumers,omitempty"`
	AddressType string   `json:"addressType"`
	Endpoints   []struct {
		Addresses  []string `json:"addresses"`
		Conditions *struct {
			Ready       *bool `json:"ready,omitempty"`
			Serving     *bool `json:"serving,omitempty"`
			Terminating *bool `json:"terminating,omitempty"`
		} `json:"conditions,omitempty"`
		Hostname string `json:"hostname,omitempty"`
		Zone     string `json:"zone,omitempty"`
	} `json:"endpoints"`
	Ports []port `json:"ports"`
}

type joinTokenSpec struct {
	SecretSHA256   string      `json:"secretSHA256"`
	ClusterID      string      `json:"clusterID,omitempty"`
	ExpirationTime metav1.Time `json:"expirationTime"`
}

type joinTokenStatus struct {
	Used *struct {
		ClusterID string      `json:"clusterID"`
		KeySHA256 string      `json:"keySHA256"`
		Time      metav1.Time `json:"time"`
	} `json:"used,omitempty"`
}

type memberClusterSpec struct {
	Accepted             bool     `json:"accepted"`
	CredentialGeneration int64    `json:"credentialGeneration"`
	Namespaces           []string `json:"namespaces,omitempty"`
	Taints               []struct {
		Key       string       `json:"key"`
		Value     string       `json:"value,omitempty"`
		Effect    string       `json:"effect"`
		TimeAdded *metav1.Time `json:"timeAdded,omitempty"`
	} `json:"taints,omitempty"`
}

type memberClusterStatus struct {
	Namespace         string             `json:"namespace,omitempty"`
	FirstAcceptedTime *metav1.Time       `json:"firstAcceptedTime,omitempty"`
	LastHeartbeatTime *metav1.Time       `json:"lastHeartbeatTime,omitempty"`
	IPFamilies        []string           `json:"ipFamilies,omitempty"`
	ServiceCIDRs      []string           `json:"serviceCIDRs,omitempty"`
	PodCIDRs          []string           `json:"podCIDRs,omitempty"`
	ClockSkewSeconds  *int64             `json:"clockSkewSeconds,omitempty"`
	Conditions        []metav1.Condition `json:"conditions,omitempty"`
}

// typedScheme knows a Go struct for every kind: those of client-go, those of mcs-api, and ours for the hub.
func typedScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(mcsv1alpha1.AddToScheme(scheme))
	utilruntime.Must(mcsv1beta1.AddToScheme(scheme))
	known[object[clusterSetServiceSpec, clusterSetServiceStatus]](scheme, "ClusterSetService")
	known[object[exportedServiceSpec, exportedServiceStatus]](scheme, "ExportedService")
	known[object[exportedEndpointSliceSpec, struct{}]](scheme, "ExportedEndpointSlice")
	known[object[importedServiceSpec, struct{}]](scheme, "ImportedService")
	known[object[joinTokenSpec, joinTokenStatus]](scheme, "JoinToken")
	known[object[memberClusterSpec, memberClusterStatus]](scheme, "MemberCluster")
	known[importable](scheme, "Importable")
	metav1.AddToGroupVersion(scheme, hubVersion)
	return scheme
}

func known[Item any, Pointer interface {
	*Item
	runtime.Object
}](scheme *runtime.Scheme, kind string) {
	scheme.AddKnownTypeWithName(hubVersion.WithKind(kind), Pointer(new(Item)))
	scheme.AddKnownTypeWithName(hubVersion.WithKind(kind+"List"), &list[Item]{})
}
