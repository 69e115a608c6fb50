/** `scaffold vap`: a ValidatingAdmissionPolicy with its binding, and optionally its parameter, as kubectl would apply them. */
import { yamlName } from "../../data/print-yaml.js";
import { deployment, nextCommands } from "./fixtures.js";
import type { Plan } from "./plan.js";

/**
 * The plan of a ValidatingAdmissionPolicy.
 * @param param whether the limit is in a ConfigMap
 */
export function vapPlan(name: string, policies: string, param: boolean): Plan {
  const folder = `policies/${name}`;
  return {
    entry: {
      id: name,
      text: `# A ValidatingAdmissionPolicy with its binding${param ? " and its parameter" : ""}, as a cluster have them.\n${yamlName(name)}:\n  resource: ${folder}/policy.yaml\n`,
    },
    files: [
      { path: `${folder}/policy.yaml`, content: policy(name, param) },
      { path: `${folder}/${name}.test.yaml`, content: test(name) },
      deployment(`${folder}/good.yaml`, "A Deployment that the policy allows.", 5),
      deployment(`${folder}/bad.yaml`, "A Deployment that the policy denies: it has too many replicas.", 6),
    ],
    next: nextCommands(policies, name, folder, "bad.yaml"),
  };
}

function policy(name: string, param: boolean): string {
  const limit = param ? "int(params.data.maxReplicas)" : "5";
  const text = param ? "params.data.maxReplicas" : "'5'";
  const kind = param
    ? "  # What params is in expressions; the binding names the object.\n  paramKind:\n    apiVersion: v1\n    kind: ConfigMap\n"
    : "";
  const reference = param
    ? `  paramRef:\n    name: ${yamlName(name)}\n    namespace: default\n    # Without its parameter the policy denies.\n    parameterNotFoundAction: Deny\n`
    : "";
  const object = param
    ? `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${yamlName(name)}\n  namespace: default\ndata:\n  maxReplicas: "5"\n`
    : "";
  return `# Deployments have few replicas. The same file can be applied to a cluster: kubectl apply -f policy.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: ${yamlName(name)}
spec:
${kind}  matchConstraints:
    resourceRules:
      - apiGroups: ["apps"]
        apiVersions: ["v1"]
        operations: ["CREATE", "UPDATE"]
        resources: ["deployments"]
  variables:
    - name: replicas
      expression: "object.spec.?replicas.orValue(1)"
  validations:
    # True allows. All of them must be true.
    - expression: "variables.replicas <= ${limit}"
      messageExpression: "'at most ' + ${text} + ' replicas are allowed, not ' + string(variables.replicas)"
---
# Puts the policy in force${param ? " with a parameter" : ""}.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: ${yamlName(name)}
spec:
  policyName: ${yamlName(name)}
  validationActions: [Deny]
${reference}${object}`;
}

const test = (name: string): string => `# npx policy-server test policies/${name}
policy: ${yamlName(name)}
cases:
  - name: as many replicas as are allowed
    object: good.yaml
    expect: allow
  - name: one more
    object: bad.yaml
    expect: deny
    messageContains: at most 5 replicas are allowed, not 6
  - name: other kinds are none of its business
    object: { apiVersion: v1, kind: Pod, metadata: { name: web, namespace: default } }
    expect: skip
`;
