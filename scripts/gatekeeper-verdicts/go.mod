module gatekeeper-verdicts

go 1.26.0

require (
	github.com/open-policy-agent/frameworks/constraint v0.0.0-20260616163050-e1eaa1bf6d62
	github.com/open-policy-agent/gatekeeper/v3 v3.23.1
	k8s.io/api v0.36.3
	k8s.io/apimachinery v0.36.3
)
