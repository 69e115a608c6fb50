module image-policies-golden

go 1.26.6

// `go mod tidy` adds what these need.
require (
	github.com/gobwas/glob v0.2.3
	github.com/kyverno/api v0.0.1-alpha.3.0.20260723090831-fb2785727f98
	github.com/kyverno/kyverno v1.19.1
)
