package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-logr/logr"
	"github.com/julienschmidt/httprouter"
	policiesv1beta1 "github.com/kyverno/api/api/policies.kyverno.io/v1beta1"
	celengine "github.com/kyverno/kyverno/pkg/cel/engine"
	"github.com/kyverno/kyverno/pkg/cel/libs"
	"github.com/kyverno/kyverno/pkg/cel/matching"
	"github.com/kyverno/kyverno/pkg/cel/policies/ivpol/autogen"
	ivpolengine "github.com/kyverno/kyverno/pkg/cel/policies/ivpol/engine"
	"github.com/kyverno/kyverno/pkg/config"
	"github.com/kyverno/kyverno/pkg/event"
	imageverifycache "github.com/kyverno/kyverno/pkg/image/verification/cache"
	eval "github.com/kyverno/kyverno/pkg/image/verification/evaluator"
	"github.com/kyverno/kyverno/pkg/webhooks/handlers"
	webhook "github.com/kyverno/kyverno/pkg/webhooks/resource/ivpol"
	patches "gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Answer is Kyverno's: of each policy what its check says, of each request what each policy that matches says, and the webhook's response.
type Answer struct {
	Failed   string          `json:"failed,omitempty"`
	Checks   []Check         `json:"checks,omitempty"`
	Requests []RequestAnswer `json:"requests,omitempty"`
	Payload  []Result        `json:"payload,omitempty"`
}

// Check is what Kyverno says when a policy is created, and the rules that it makes of it.
type Check struct {
	Policy  string   `json:"policy"`
	Errors  []string `json:"errors,omitempty"`
	Autogen []string `json:"autogen,omitempty"`
}

type RequestAnswer struct {
	Failed   string                       `json:"failed,omitempty"`
	Pinned   []Result                     `json:"pinned,omitempty"`
	Patches  []patches.JsonPatchOperation `json:"patches,omitempty"`
	Results  []Result                     `json:"results"`
	Allowed  bool                         `json:"allowed"`
	Message  string                       `json:"message,omitempty"`
	Warnings []string                     `json:"warnings,omitempty"`
}

type Result struct {
	Policy      string            `json:"policy"`
	Rule        string            `json:"rule"`
	Status      string            `json:"status"`
	Message     string            `json:"message"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type noEvents struct{}

func (noEvents) Add(...event.Info) {}

// remembered lets the webhook answer with what the engine answered, without asking it twice.
type remembered struct {
	ivpolengine.Engine
	response eval.ImageVerifyEngineResponse
	patches  []patches.JsonPatchOperation
}

func (e remembered) HandleValidating(context.Context, ivpolengine.EngineRequest, ivpolengine.Predicate) (eval.ImageVerifyEngineResponse, error) {
	return e.response, nil
}

func (e remembered) HandleMutating(context.Context, ivpolengine.EngineRequest, ivpolengine.Predicate) (eval.ImageVerifyEngineResponse, []patches.JsonPatchOperation, error) {
	return e.response, e.patches, nil
}

func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func policyOf(raw []byte) (policiesv1beta1.ImageValidatingPolicyLike, error) {
	var tm struct{ Kind string }
	_ = json.Unmarshal(raw, &tm)
	var p policiesv1beta1.ImageValidatingPolicyLike
	switch tm.Kind {
	case "ImageValidatingPolicy":
		p = &policiesv1beta1.ImageValidatingPolicy{}
	case "NamespacedImageValidatingPolicy":
		p = &policiesv1beta1.NamespacedImageValidatingPolicy{}
	default:
		return nil, fmt.Errorf("kind %q", tm.Kind)
	}
	if err := decode(raw, p); err != nil {
		return nil, err
	}
	// Keyless trust comes from this program's own TUF repository, never from the public one.
	for i := range p.GetSpec().Attestors {
		if a := &p.GetSpec().Attestors[i]; a.Cosign != nil && a.Cosign.TUF == nil {
			a.Cosign.TUF = privateTrust()
		}
	}
	return p, nil
}

func copied(p policiesv1beta1.ImageValidatingPolicyLike) policiesv1beta1.ImageValidatingPolicyLike {
	return p.DeepCopyObject().(policiesv1beta1.ImageValidatingPolicyLike)
}

func resultsOf(response eval.ImageVerifyEngineResponse) []Result {
	out := []Result{}
	for _, p := range response.Policies {
		r := p.Result
		if r.Name() == "" {
			continue
		}
		out = append(out, Result{p.Policy.GetName(), r.Name(), string(r.Status()), r.Message(), r.Properties()})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Policy+out[i].Message < out[j].Policy+out[j].Message })
	return out
}

var scopes = map[string]bool{"Namespace": true, "ClusterRole": true, "Node": true}

func requestOf(raw []byte, user authenticationv1.UserInfo) (admissionv1.AdmissionRequest, error) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return admissionv1.AdmissionRequest{}, err
	}
	gvk := u.GroupVersionKind()
	gvr, _ := meta.UnsafeGuessKindToResource(gvk)
	namespace := u.GetNamespace()
	if gvk.Kind == "Namespace" {
		namespace = u.GetName()
	}
	r := celengine.Request(nil, gvk, gvr, "", u.GetName(), namespace, admissionv1.Create, user, u, nil, false, nil).Request
	r.Object, r.OldObject, r.Options = runtime.RawExtension{Raw: raw}, runtime.RawExtension{}, runtime.RawExtension{}
	return r, nil
}

func run(c *Case, a *Answer) error {
	fake := libs.NewFakeContextProvider()
	libs.LibraryContext = fake
	secrets := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, raw := range c.Objects {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, &u.Object); err != nil {
			return err
		}
		gvr, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
		if err := fake.AddResource(gvr, u); err != nil {
			return err
		}
		if u.GetKind() == "Secret" {
			s := &corev1.Secret{}
			if err := json.Unmarshal(raw, s); err != nil {
				return err
			}
			for key, value := range s.StringData {
				if s.Data == nil {
					s.Data = map[string][]byte{}
				}
				s.Data[key] = []byte(value)
			}
			_ = secrets.Add(s)
		}
	}
	lister := corev1listers.NewSecretLister(secrets)
	var policies []policiesv1beta1.ImageValidatingPolicyLike
	var names []string
	namespaced := true
	for _, raw := range c.Policies {
		p, err := policyOf(raw)
		if err != nil {
			return fmt.Errorf("cannot be loaded: %w", err)
		}
		policies, names = append(policies, p), append(names, p.GetName())
		namespaced = namespaced && p.GetNamespace() != ""
		k := Check{Policy: p.GetName()}
		k.Errors, _ = eval.Validate(copied(p), lister)
		made, err := autogen.Autogen(copied(p))
		if err != nil {
			k.Errors = append(k.Errors, "autogen: "+err.Error())
		}
		for key := range made {
			k.Autogen = append(k.Autogen, key)
		}
		sort.Strings(k.Autogen)
		a.Checks = append(a.Checks, k)
	}
	var exceptions []*policiesv1beta1.PolicyException
	for _, raw := range c.Exceptions {
		e := &policiesv1beta1.PolicyException{}
		if err := decode(raw, e); err != nil {
			return err
		}
		exceptions = append(exceptions, e)
	}
	namespaces := map[string]*corev1.Namespace{}
	for _, raw := range c.Namespaces {
		n := &corev1.Namespace{}
		if err := json.Unmarshal(raw, n); err != nil {
			return err
		}
		namespaces[n.Name] = n
	}
	var user authenticationv1.UserInfo
	if c.UserInfo != nil {
		if err := json.Unmarshal(c.UserInfo, &user); err != nil {
			return err
		}
	}
	if c.Payload != nil {
		return runPayload(c.Payload, policies, a, lister)
	}
	requests := []admissionv1.AdmissionRequest{}
	for _, raw := range c.Resources {
		r, err := requestOf(raw, user)
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	for _, raw := range c.Requests {
		r := admissionv1.AdmissionRequest{}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if r.RequestResource == nil {
			r.RequestResource, r.RequestKind = &r.Resource, &r.Kind
		}
		requests = append(requests, r)
	}
	resolve := func(name string) *corev1.Namespace {
		if n := namespaces[name]; n != nil {
			return n
		}
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
	}
	ctx := context.WithValue(context.Background(), httprouter.ParamsKey, httprouter.Params{{Key: "policies", Value: "/" + strings.Join(names, "/")}})
	for _, r := range requests {
		// A policy's attestors keep what their expressions gave: every request has its own.
		own := []policiesv1beta1.ImageValidatingPolicyLike{}
		for _, p := range policies {
			own = append(own, copied(p))
		}
		provider, err := ivpolengine.NewProvider(own, exceptions)
		if err != nil {
			return err
		}
		engine := ivpolengine.NewEngine(provider, resolve, matching.NewMatcher(), lister, imageverifycache.DisabledImageVerifyCache(), config.NewDefaultConfiguration(false))
		predicate := ivpolengine.And(ivpolengine.MatchNames(names...), scopeOf(namespaced, r.Namespace))
		a.Requests = append(a.Requests, ask(ctx, engine, predicate, fake, r, c.Pin, namespaced))
	}
	return nil
}

func scopeOf(namespaced bool, namespace string) ivpolengine.Predicate {
	if namespaced {
		return ivpolengine.NamespacedPolicy(namespace)
	}
	return ivpolengine.ClusteredPolicy()
}

// ask pins first, if asked to, as the API server asks the mutating webhook first, and then validates.
func ask(ctx context.Context, engine ivpolengine.Engine, predicate ivpolengine.Predicate, lc libs.Context, r admissionv1.AdmissionRequest, pin, namespaced bool) RequestAnswer {
	a := RequestAnswer{}
	respond := func(e remembered, mutate bool) handlers.AdmissionResponse {
		h := webhook.New(e, lc, nil, false, noEvents{})
		ask := h.ValidateClustered
		switch {
		case mutate && namespaced:
			ask = h.MutateNamespaced
		case mutate:
			ask = h.MutateClustered
		case namespaced:
			ask = h.ValidateNamespaced
		}
		answer := ask(ctx, logr.Discard(), handlers.AdmissionRequest{AdmissionRequest: r}, "", time.Now())
		a.Allowed, a.Message = answer.Allowed, ""
		if answer.Result != nil {
			parts := strings.Split(answer.Result.Message, "; ")
			if len(e.response.Policies) > 1 {
				sort.Strings(parts)
			}
			a.Message = strings.Join(parts, "; ")
		}
		a.Warnings = append(a.Warnings, answer.Warnings...)
		sort.Strings(a.Warnings)
		return answer
	}
	if pin {
		response, made, err := engine.HandleMutating(ctx, celengine.RequestFromAdmission(lc, r), predicate)
		if err != nil {
			a.Failed = "mutating: " + err.Error()
			return a
		}
		sort.Slice(made, func(i, j int) bool { return made[i].Path < made[j].Path })
		a.Pinned, a.Patches = resultsOf(response), made
		if !respond(remembered{engine, response, made}, true).Allowed {
			return a
		}
		if len(made) > 0 {
			raw, _ := json.Marshal(made)
			patch, err := jsonpatch.DecodePatch(raw)
			if err == nil {
				r.Object.Raw, err = patch.Apply(r.Object.Raw)
			}
			if err != nil {
				a.Failed = "patching: " + err.Error()
				return a
			}
		}
	}
	response, err := engine.HandleValidating(ctx, celengine.RequestFromAdmission(lc, r), predicate)
	if err != nil {
		a.Failed = err.Error()
		return a
	}
	a.Results = resultsOf(response)
	respond(remembered{engine, response, nil}, false)
	return a
}

// runPayload is what Kyverno's command does with --json.
func runPayload(raw []byte, policies []policiesv1beta1.ImageValidatingPolicyLike, a *Answer, lister corev1listers.SecretLister) error {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return err
	}
	var compiled []*eval.CompiledImageValidatingPolicy
	for _, p := range policies {
		compiled = append(compiled, &eval.CompiledImageValidatingPolicy{Policy: p})
	}
	results, err := eval.Evaluate(context.Background(), compiled, u.Object, nil, nil, lister)
	if err != nil {
		return err
	}
	for name, r := range results {
		switch {
		case r == nil:
			a.Payload = append(a.Payload, Result{name, name, "none", "", nil})
		case r.Error != nil:
			a.Payload = append(a.Payload, Result{name, "evaluation", "error", "failed to evaluate policy for JSON: " + r.Error.Error(), nil})
		case r.Result:
			a.Payload = append(a.Payload, Result{name, name, "pass", "success", nil})
		default:
			a.Payload = append(a.Payload, Result{name, name, "fail", r.Message, r.AuditAnnotations})
		}
	}
	sort.Slice(a.Payload, func(i, j int) bool { return a.Payload[i].Policy < a.Payload[j].Policy })
	return nil
}

var _ = schema.GroupVersionKind{}
