import assert from "node:assert/strict";
import { test } from "node:test";
import { type Resource, written } from "./judged.js";

/** A pattern, and the CEL that a person would have written, with its variables first. */
const TEXTS: readonly (readonly [Resource, unknown, ...string[]])[] = [
  ["services", { spec: { type: "!NodePort" } }, 'object.spec.?type.orValue("NodePort") != "NodePort"'],
  [
    "services",
    { spec: { type: "ClusterIP | LoadBalancer" } },
    'object.spec.?type.orValue("") in ["ClusterIP", "LoadBalancer"]',
  ],
  ["services", { spec: { "=(type)": "ClusterIP" } }, 'object.spec.?type.orValue("ClusterIP") == "ClusterIP"'],
  ["pods", { spec: { hostNetwork: false } }, "object.spec.?hostNetwork.orValue(true) == false"],
  ["pods", { spec: { "=(hostNetwork)": "false" } }, "object.spec.?hostNetwork.orValue(false) == false"],
  ["pods", { spec: { priorityClassName: "*" } }, "has(object.spec.priorityClassName)"],
  ["pods", { spec: { "X(hostAliases)": "null" } }, "!has(object.spec.hostAliases)"],
  [
    "pods",
    { spec: { terminationGracePeriodSeconds: "<=30" } },
    "object.spec.?terminationGracePeriodSeconds.orValue(30) <= 30",
  ],
  [
    "pods",
    { metadata: { labels: { "app.example.com/name": "?*" } } },
    "has(object.metadata.labels)",
    'object.metadata.labels[?"app.example.com/name"].orValue("") != ""',
  ],
  [
    "pods",
    { metadata: { "=(annotations)": { "X(example.com/*)": "null" } } },
    '!object.metadata.?annotations.orValue({}).exists(key, key.startsWith("example.com/"))',
  ],
  [
    "pods",
    { spec: { "=(securityContext)": { "=(runAsUser)": ">0" } } },
    "object.spec.?securityContext.?runAsUser.orValue(1) > 0",
  ],
  [
    "pods",
    { spec: { "=(volumes)": [{ "X(hostPath)": "null" }] } },
    "hostPath = object.spec.?volumes.orValue([]).map(volume, !has(volume.hostPath))",
    "variables.hostPath.all(ok, ok)",
  ],
  [
    "pods",
    { spec: { "=(initContainers)": [{ resources: { limits: { memory: "?*" } } }] } },
    'memory = object.spec.?initContainers.orValue([]).map(initContainer, string(initContainer.?resources.?limits.?memory.orValue("")) != "")',
    "variables.memory.all(ok, ok)",
  ],
  [
    "pods",
    { spec: { "=(containers)": [{ "(image)": "*:latest", imagePullPolicy: "Always" }] } },
    'imagePullPolicy = object.spec.?containers.orValue([]).map(container, !container.?image.orValue("").endsWith(":latest") || container.?imagePullPolicy.orValue("") == "Always")',
    "variables.imagePullPolicy.all(ok, ok)",
  ],
  [
    "pods",
    { spec: { "^(containers)": [{ name: "web" }] } },
    '!has(object.spec.containers) || object.spec.containers.exists(container, container.?name.orValue("") == "web")',
  ],
  [
    "pods",
    { spec: { "<(hostNetwork)": true, dnsPolicy: "Default" } },
    'object.spec.?hostNetwork.orValue(true) != true || object.spec.?dnsPolicy.orValue("") == "Default"',
  ],
  [
    "pods",
    [{ spec: { hostNetwork: true } }, { spec: { hostPID: true } }],
    "object.spec.?hostNetwork.orValue(false) == true || object.spec.?hostPID.orValue(false) == true",
  ],
];

test("patterns are the CEL that a person would write", () => {
  for (const [resource, pattern, ...texts] of TEXTS) assert.deepEqual(written(pattern, resource), texts);
});

test("a field of a kind without a schema may be a list, whose items are tested", () => {
  const ofField = (pattern: unknown): string | undefined => written({ spec: { v: pattern } }, "widgets").at(-1);
  assert.equal(ofField("a*"), '[object.spec.?v.orValue("")].flatten().all(v, v.startsWith("a"))');
  assert.equal(ofField("?*"), 'dyn([object.spec.?v.orValue("")].flatten()).all(v, string(v) != "")');
  assert.equal(ofField(true), "[object.spec.?v.orValue(false)].flatten().all(v, v == true)");
  assert.equal(
    ofField(">=1Gi"),
    'dyn([object.spec.?v.orValue("0")].flatten()).all(v, isQuantity(string(v)) && quantity(string(v)).compareTo(quantity("1Gi")) >= 0)',
  );
});
