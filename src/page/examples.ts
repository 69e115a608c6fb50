/** The examples: a CEL policy, a ValidatingAdmissionPolicy with its binding, and a group, each with an object that it judges. */
import type { PageExample } from "./api.js";

const CEL = `replica-limit:
  cel:
    matchConstraints:
      resourceRules:
        - apiGroups: ["apps"]
          apiVersions: ["v1"]
          operations: ["CREATE", "UPDATE"]
          resources: ["deployments"]
    variables:
      - name: limit
        expression: "object.metadata.?labels['tier'].orValue('') == 'critical' ? 10 : 3"
    validations:
      - expression: "object.spec.replicas <= variables.limit"
        messageExpression: "'at most ' + string(variables.limit) + ' replicas, not ' + string(object.spec.replicas)"
`;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  namespace: default
spec:
  replicas: 5
  selector:
    matchLabels: { app: shop }
  template:
    metadata:
      labels: { app: shop }
    spec:
      containers:
        - name: shop
          image: registry.example.com/shop:1.4
`;

const VAP = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: no-host-network
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [""]
        apiVersions: ["v1"]
        operations: ["CREATE", "UPDATE"]
        resources: ["pods"]
  validations:
    - expression: "!object.spec.?hostNetwork.orValue(false)"
      message: "the network of the node is not for Pods"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: no-host-network
spec:
  policyName: no-host-network
  validationActions: ["Deny"]
`;

const POD = `apiVersion: v1
kind: Pod
metadata:
  name: probe
  namespace: default
  labels: { team: platform }
spec:
  hostNetwork: true
  containers:
    - name: probe
      image: registry.example.com/probe:latest
`;

const GROUP = `trusted-pods:
  expression: "no_latest() && (own_network() || exempt())"
  message: "the Pod is not trusted"
  policies:
    no_latest:
      cel:
        validations:
          - expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))"
            message: "images need a version"
    own_network:
      cel:
        validations:
          - expression: "!object.spec.?hostNetwork.orValue(false)"
            message: "the network of the node is not for Pods"
    exempt:
      cel:
        validations:
          - expression: "object.metadata.?labels['team'].orValue('') == 'platform'"
            message: "only the platform team is exempt"
`;

/** The examples in the order in which they are offered. */
export const EXAMPLES: readonly PageExample[] = [
  { name: "CEL policy", draft: { kind: "entry", text: CEL }, payload: DEPLOYMENT },
  { name: "ValidatingAdmissionPolicy", draft: { kind: "resource", text: VAP }, payload: POD },
  { name: "Group", draft: { kind: "entry", text: GROUP }, payload: POD.replace(":latest", ":1.0") },
];
