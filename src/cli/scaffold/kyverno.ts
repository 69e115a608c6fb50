/** `scaffold kyverno`: a ValidatingPolicy of Kyverno. */
import { yamlName } from "../../data/print-yaml.js";
import { deployment, nextCommands, pod } from "./fixtures.js";
import type { Plan } from "./plan.js";

/** The plan of a ValidatingPolicy. */
export function kyvernoPlan(name: string, policies: string): Plan {
  const folder = `policies/${name}`;
  return {
    entry: {
      id: name,
      text: `# Kyverno's ValidatingPolicy, as a cluster has it.\n${yamlName(name)}:\n  resource: ${folder}/policy.yaml\n`,
    },
    files: [
      { path: `${folder}/policy.yaml`, content: policy(name) },
      { path: `${folder}/${name}.test.yaml`, content: test(name) },
      pod(`${folder}/good.yaml`, "A Pod that the policy allows.", "team: shop"),
      pod(`${folder}/bad.yaml`, "A Pod that the policy denies: it has no label."),
      deployment(`${folder}/workload.yaml`, "Its template makes such Pods, so it is denied, too.", 1),
    ],
    next: nextCommands(policies, name, folder, "bad.yaml"),
  };
}

const policy = (
  name: string,
): string => `# Pods say whose they are. Written for Pods: Kyverno's rules make the same policy for Deployments, Jobs, CronJobs and the like.
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata:
  name: ${yamlName(name)}
spec:
  validationActions: [Deny]
  matchConstraints:
    resourceRules:
      - apiGroups: [""]
        apiVersions: ["v1"]
        operations: ["CREATE", "UPDATE"]
        resources: ["pods"]
  validations:
    # True allows. All of them must be true.
    - expression: "'team' in object.metadata.?labels.orValue({})"
      message: the label team is missing
`;

const test = (name: string): string => `# npx policy-server test policies/${name}
policy: ${yamlName(name)}
cases:
  - name: a Pod with the label
    object: good.yaml
    expect: allow
  - name: a Pod without it
    object: bad.yaml
    expect: deny
    messageContains: the label team is missing
  - name: a Deployment that makes such Pods
    object: workload.yaml
    expect: deny
  - name: other kinds are none of its business
    object: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings, namespace: default } }
    expect: skip
`;
