// What Kyverno says about ImageValidatingPolicies and globs of images: reads {"policies": [...], "globs": [{"glob", "texts"}]} and prints the answers.
package main

import (
	"encoding/json"
	"os"

	"github.com/gobwas/glob"
	"github.com/kyverno/api/api/policies.kyverno.io/v1beta1"
	"github.com/kyverno/kyverno/pkg/cel/policies/ivpol/autogen"
	"github.com/kyverno/kyverno/pkg/image/verification/evaluator"
)

type globCase struct {
	Glob    string   `json:"glob"`
	Texts   []string `json:"texts"`
	Error   string   `json:"error,omitempty"`
	Matches []bool   `json:"matches,omitempty"`
}

type policyAnswer struct {
	Autogen any      `json:"autogen"`
	Errors  []string `json:"errors"`
}

func main() {
	var cases struct {
		Policies []v1beta1.ImageValidatingPolicy `json:"policies"`
		Globs    []globCase                      `json:"globs"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	answers := []policyAnswer{}
	for i := range cases.Policies {
		variants, err := autogen.Autogen(&cases.Policies[i])
		if err != nil {
			panic(err)
		}
		texts, _ := evaluator.Validate(&cases.Policies[i], nil)
		answers = append(answers, policyAnswer{variants, texts})
	}
	for i := range cases.Globs {
		each := &cases.Globs[i]
		compiled, err := glob.Compile(each.Glob)
		if err != nil {
			each.Error = err.Error()
			continue
		}
		for _, text := range each.Texts {
			each.Matches = append(each.Matches, compiled.Match(text))
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"policies": answers, "globs": cases.Globs})
}
