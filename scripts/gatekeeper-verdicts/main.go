// Command gatekeeper-verdicts says what Gatekeeper's validation webhook would: its constraint client with both of its drivers, CEL first, as its main.go
// sets them up. A line of standard input is {"id", "template", "constraints", "requests"}, of which a request is {"request", "namespace"}: an
// AdmissionRequest and the Namespace that it is about. A line of standard output is {"id", "error", "answers"}; an answer is {"error", "results"}, of which
// a result is {"constraint", "action", "scoped", "message"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sort"

	templatesv1 "github.com/open-policy-agent/frameworks/constraint/pkg/apis/templates/v1"
	templatesv1beta1 "github.com/open-policy-agent/frameworks/constraint/pkg/apis/templates/v1beta1"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client/drivers/rego"
	"github.com/open-policy-agent/frameworks/constraint/pkg/client/reviews"
	"github.com/open-policy-agent/frameworks/constraint/pkg/core/templates"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/drivers/k8scel"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/mutation/types"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/target"
	"github.com/open-policy-agent/gatekeeper/v3/pkg/util"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

type question struct {
	ID          string                   `json:"id"`
	Template    json.RawMessage          `json:"template"`
	Constraints []map[string]interface{} `json:"constraints"`
	Requests    []struct {
		Request   admissionv1.AdmissionRequest `json:"request"`
		Namespace *corev1.Namespace            `json:"namespace"`
	} `json:"requests"`
}

type result struct {
	Constraint string   `json:"constraint"`
	Action     string   `json:"action"`
	Scoped     []string `json:"scoped,omitempty"`
	Message    string   `json:"message"`
}

type answer struct {
	Error   string   `json:"error,omitempty"`
	Results []result `json:"results"`
}

type output struct {
	ID      string   `json:"id"`
	Error   string   `json:"error,omitempty"`
	Answers []answer `json:"answers,omitempty"`
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// decode reads a template of either version as Gatekeeper does, with the defaults of its version.
func decode(raw []byte) (*templates.ConstraintTemplate, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	var versioned interface {
		ToVersionless() (*templates.ConstraintTemplate, error)
	}
	if head.APIVersion == "templates.gatekeeper.sh/v1beta1" {
		versioned = &templatesv1beta1.ConstraintTemplate{}
	} else {
		versioned = &templatesv1.ConstraintTemplate{}
	}
	if err := json.Unmarshal(raw, versioned); err != nil {
		return nil, err
	}
	return versioned.ToVersionless()
}

func answers(ctx context.Context, asked question) ([]answer, error) {
	celDriver, err := k8scel.New()
	must(err)
	regoDriver, err := rego.New()
	must(err)
	asking, err := client.NewClient(
		client.Targets(&target.K8sValidationTarget{}),
		client.Driver(celDriver),
		client.Driver(regoDriver),
		client.EnforcementPoints(util.WebhookEnforcementPoint),
	)
	must(err)
	template, err := decode(asked.Template)
	if err != nil {
		return nil, err
	}
	if _, err := asking.AddTemplate(ctx, template); err != nil {
		return nil, err
	}
	for _, object := range asked.Constraints {
		if _, err := asking.AddConstraint(ctx, &unstructured.Unstructured{Object: object}); err != nil {
			return nil, err
		}
	}
	given := []answer{}
	for _, each := range asked.Requests {
		options := []reviews.ReviewOpt{reviews.EnforcementPoint(util.WebhookEnforcementPoint)}
		if each.Namespace != nil {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(each.Namespace)
			must(err)
			options = append(options, reviews.Namespace(object))
		}
		review := &target.AugmentedReview{
			AdmissionRequest: each.Request.DeepCopy(), Namespace: each.Namespace, Source: types.SourceTypeOriginal, IsAdmission: true,
		}
		responses, err := asking.Review(ctx, review, options...)
		one := answer{Results: []result{}}
		if err != nil {
			one.Error = err.Error()
		} else {
			for _, found := range responses.Results() {
				one.Results = append(one.Results, result{found.Constraint.GetName(), found.EnforcementAction, found.ScopedEnforcementActions, found.Msg})
			}
		}
		sort.Slice(one.Results, func(i, j int) bool {
			left, right := one.Results[i], one.Results[j]
			return left.Constraint+left.Message < right.Constraint+right.Message
		})
		given = append(given, one)
	}
	return given, nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		must(json.Unmarshal(lines.Bytes(), &asked))
		given, err := answers(context.Background(), asked)
		line := output{ID: asked.ID, Answers: given}
		if err != nil {
			line.Error = err.Error()
		}
		must(out.Encode(line))
	}
	must(lines.Err())
}
