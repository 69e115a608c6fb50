/** `scaffold cel`: an inline CEL policy, its test file and two objects. */
import { yamlName } from "../../data/print-yaml.js";
import { nextCommands, pod } from "./fixtures.js";
import type { Plan } from "./plan.js";

/** What it makes. */
export function celPlan(name: string, policies: string): Plan {
  const folder = `policies/${name}`;
  return {
    entry: { id: name, text: entry(name) },
    files: [
      { path: `${folder}/${name}.test.yaml`, content: test(name) },
      pod(`${folder}/good.yaml`, "A Pod that the policy allows.", "team: shop"),
      pod(`${folder}/bad.yaml`, "A Pod that the policy denies: it has no label."),
    ],
    next: nextCommands(policies, name, folder, "bad.yaml"),
  };
}

const entry = (
  name: string,
): string => `# A CEL policy: Pods say whose they are. The keys below cel: are those of a ValidatingAdmissionPolicy's spec.
${yamlName(name)}:
  cel:
    # What it is asked about; without matchConstraints, everything.
    matchConstraints:
      resourceRules:
        - apiGroups: [""]
          apiVersions: ["v1"]
          operations: ["CREATE", "UPDATE"]
          resources: ["pods"]
    variables:
      - name: labels
        expression: "object.metadata.?labels.orValue({})"
    validations:
      # True allows. All of them must be true.
      - expression: "'team' in variables.labels"
        message: "the label team is missing"
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
  - name: other kinds are none of its business
    object: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings, namespace: default } }
    expect: skip
`;
