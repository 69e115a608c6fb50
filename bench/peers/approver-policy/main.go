// Command approver-policy measures what cert-manager's approver-policy takes for a decision: bench/certificate-requests.ts starts it and asks over standard
// input, a JSON object a line. One with a name, policies and a CertificateRequest is a case; one with the name of a case in "run" is answered with a line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	_ "unsafe"

	policyapi "github.com/cert-manager/approver-policy/pkg/apis/policy/v1alpha1"
	"github.com/cert-manager/approver-policy/pkg/approver"
	"github.com/cert-manager/approver-policy/pkg/approver/manager"
	_ "github.com/cert-manager/approver-policy/pkg/cmd"
	"github.com/cert-manager/approver-policy/pkg/registry"
	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	authzv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

//go:linkname newManager github.com/cert-manager/approver-policy/pkg/internal/approver/manager.New
func newManager(client client.Client, evaluators []approver.Evaluator) manager.Interface

type line struct {
	Name               string                               `json:"name"`
	Policies           []policyapi.CertificateRequestPolicy `json:"policies"`
	CertificateRequest cmapi.CertificateRequest             `json:"certificateRequest"`

	Run string `json:"run"`
	// "evaluators": those alone, policy by policy until one approves; "review": the manager.
	Mode  string `json:"mode"`
	Times int    `json:"times"`
}

// world answers at once, and everybody may use everything.
type world struct {
	client.Client
	policies []policyapi.CertificateRequestPolicy
}

func (w *world) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*policyapi.CertificateRequestPolicyList).Items = append([]policyapi.CertificateRequestPolicy(nil), w.policies...)
	return nil
}

func (w *world) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	obj.(*authzv1.SubjectAccessReview).Status.Allowed = true
	return nil
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// approves asks the evaluators as the manager does.
func approves(ctx context.Context, c *line) (bool, error) {
	for i := range c.Policies {
		denied := false
		for _, evaluator := range registry.Shared.Evaluators() {
			response, err := evaluator.Evaluate(ctx, &c.Policies[i], &c.CertificateRequest)
			if err != nil {
				return false, err
			}
			denied = denied || response.Result == approver.ResultDenied
		}
		if !denied {
			return true, nil
		}
	}
	return false, nil
}

func run(ctx context.Context, c *line, mode string, times int) (approved bool, err error) {
	reviewer := newManager(&world{policies: c.Policies}, registry.Shared.Evaluators())
	for i := 0; i < times; i++ {
		if mode == "review" {
			var response manager.ReviewResponse
			response, err = reviewer.Review(ctx, &c.CertificateRequest)
			approved = response.Result == manager.ResultApproved
		} else {
			approved, err = approves(ctx, c)
		}
		if err != nil {
			return false, err
		}
	}
	return approved, nil
}

func main() {
	cases := map[string]*line{}
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<28)
	for input.Scan() {
		asked := &line{}
		if err := json.Unmarshal(input.Bytes(), asked); err != nil {
			panic(err)
		}
		if asked.Run == "" {
			cases[asked.Name] = asked
			continue
		}
		before := cpuSeconds()
		approved, err := run(context.Background(), cases[asked.Run], asked.Mode, asked.Times)
		if err != nil {
			panic(err)
		}
		fmt.Printf("{\"seconds\":%f,\"approved\":%t}\n", cpuSeconds()-before, approved)
	}
}
