module approver-policy-peer

go 1.26.0

require (
	github.com/cert-manager/approver-policy v0.28.0
	github.com/cert-manager/cert-manager v1.21.2
	k8s.io/api v0.37.0
	sigs.k8s.io/controller-runtime v0.25.0
)
