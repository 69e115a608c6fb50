import type { TestResource } from "./fake-api-server.js";

const resource = (name: string, kind: string, namespaced = true): TestResource => ({ name, kind, namespaced });

/** What the fake API server serves from its start, by the path of the API version. */
export const FAKE_RESOURCES: Readonly<Record<string, readonly TestResource[]>> = {
  "/api/v1": [
    resource("pods", "Pod"),
    resource("pods/status", "Pod"),
    resource("configmaps", "ConfigMap"),
    resource("secrets", "Secret"),
    resource("services", "Service"),
    resource("namespaces", "Namespace", false),
    resource("events", "Event"),
  ],
  "/apis/apps/v1": [resource("deployments", "Deployment"), resource("deployments/status", "Deployment")],
  "/apis/events.k8s.io/v1": [resource("events", "Event")],
  "/apis/coordination.k8s.io/v1": [resource("leases", "Lease")],
  "/apis/apiextensions.k8s.io/v1": [resource("customresourcedefinitions", "CustomResourceDefinition", false)],
  "/apis/admissionregistration.k8s.io/v1": [
    resource("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false),
    resource("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false),
    resource("mutatingadmissionpolicies", "MutatingAdmissionPolicy", false),
    resource("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", false),
    resource("validatingadmissionpolicies", "ValidatingAdmissionPolicy", false),
    resource("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", false),
  ],
  "/apis/policies.kubewarden.io/v1": [
    resource("clusteradmissionpolicies", "ClusterAdmissionPolicy", false),
    resource("admissionpolicies", "AdmissionPolicy"),
    resource("clusteradmissionpolicygroups", "ClusterAdmissionPolicyGroup", false),
    resource("admissionpolicygroups", "AdmissionPolicyGroup"),
    resource("policyservers", "PolicyServer", false),
  ],
  "/apis/openreports.io/v1alpha1": [resource("reports", "Report"), resource("clusterreports", "ClusterReport", false)],
  "/apis/wgpolicyk8s.io/v1alpha2": [
    resource("policyreports", "PolicyReport"),
    resource("clusterpolicyreports", "ClusterPolicyReport", false),
  ],
  "/apis/cert-manager.io/v1": [resource("certificaterequests", "CertificateRequest")],
  "/apis/policy.cert-manager.io/v1alpha1": [resource("certificaterequestpolicies", "CertificateRequestPolicy", false)],
  "/apis/rbac.authorization.k8s.io/v1": [
    resource("roles", "Role"),
    resource("rolebindings", "RoleBinding"),
    resource("clusterroles", "ClusterRole", false),
    resource("clusterrolebindings", "ClusterRoleBinding", false),
  ],
  "/apis/acme.example/v1": [resource("limits", "Limit", false)],
  "/apis/acme.example/v2": [resource("limits", "Limit", false)],
};
