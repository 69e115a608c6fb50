/** Requests to the policies of parity-policies.ts. All but those that say otherwise are dry runs, so that both turns find the same objects. */
import type { Asked } from "./api.js";

/** One request, and what it is for. */
export interface ParityRequest extends Asked {
  readonly title: string;
}

const at = (namespace: string, rest = "configmaps"): string => `/api/v1/namespaces/${namespace}/${rest}`;
const data = (...keys: readonly string[]): object => Object.fromEntries(keys.map((key) => [key, "0"]));
const object = (name: string, keys: object, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...more },
  data: keys,
});
const create = (
  title: string,
  namespace: string,
  keys: object,
  more: Partial<Asked> & { metadata?: object } = {},
): ParityRequest => {
  const { metadata, ...others } = more;
  const body = object("c", keys, metadata);
  return { title, method: "POST", path: `${at(namespace)}?dryRun=All`, body, ...others };
};
const patch = (title: string, path: string, body: object, more: Partial<Asked> = {}): ParityRequest => ({
  ...{ title, method: "PATCH", type: "application/merge-patch+json", path: `${path}?dryRun=All`, body },
  ...more,
});
const remove = (title: string, path: string): ParityRequest => ({
  title,
  method: "DELETE",
  path: `${path}?dryRun=All`,
});
const applied = (title: string, name: string, keys: object, query = "fieldManager=parity"): ParityRequest => ({
  ...{ title, method: "PATCH", type: "application/apply-patch+yaml" },
  path: `${at("apply", `configmaps/${name}`)}?dryRun=All&${query}`,
  body: object(name, keys),
});
const widget = (namespace: string, version: string, colour: string, name = "w"): ParityRequest => ({
  title: `a ${colour} widget ${name} ${version} with rules for v1, ${namespace}`,
  method: "POST",
  path: `/apis/parity.example.com/${version}/namespaces/${namespace}/widgets?dryRun=All`,
  body: { apiVersion: `parity.example.com/${version}`, kind: "Widget", metadata: { name }, spec: { colour } },
});
const connect = (title: string, rest: string): ParityRequest => ({
  title,
  method: "POST",
  path: at("connect", `pods/p/${rest}`),
});

/** What must be there before. */
export const OBJECTS: readonly (readonly [namespace: string, object: object])[] = [
  ["params", object("limits", { most: "2" })],
  ["params-selector", object("one", { key: "a" }, { labels: { limit: "yes" } })],
  ["params-selector", object("two", { key: "b" }, { labels: { limit: "yes" } })],
  ["update", object("final", data("final"))],
  ["update", object("open", data("x"))],
  ["delete", object("kept", data("keep"))],
  ["delete", object("free", data("x"))],
  ["apply", object("there", data("x"))],
  ["names", object("named", data("x"))],
  ...["connect", "status"].map((namespace) => [namespace, pod("p")] as const),
  ...["stays", "goes"].map((name) => ["scale", pod(name)] as const),
  ["scale", { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "sa" } }],
  ["scale", deployment()],
  ...["exact", "equivalent"].map(
    (namespace) =>
      [
        namespace,
        { apiVersion: "parity.example.com/v2", kind: "Widget", metadata: { name: "old" }, spec: { replicas: 1 } },
      ] as const,
  ),
];

function pod(name: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { nodeName: "nowhere", containers: [{ name: "c", image: "i" }] },
  };
}

function deployment(): object {
  const [labels, spec] = [{ app: "a" }, { containers: [{ name: "c", image: "i" }] }];
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const scale = (replicas: number): ParityRequest =>
  patch(`scaled to ${replicas}`, "/apis/apps/v1/namespaces/scale/deployments/d/scale", { spec: { replicas } });
const evict = (name: string): ParityRequest => ({
  ...{ title: `eviction of ${name}`, method: "POST", path: `${at("scale", `pods/${name}/eviction`)}?dryRun=All` },
  body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "scale" } },
});
const token = (expirationSeconds: number): ParityRequest => ({
  ...{
    title: `a token for ${expirationSeconds} s`,
    method: "POST",
    path: `${at("scale", "serviceaccounts/sa/token")}?dryRun=All`,
  },
  body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [], expirationSeconds } },
});
const podStatus = (message: string): ParityRequest =>
  patch(`a pod's status "${message}"`, at("status", "pods/p/status"), { status: { message } });

/** In order. */
export const PARITY_REQUESTS: readonly ParityRequest[] = [
  create("within a parameter", "params", data("a", "b")),
  create("over a parameter", "params", data("a", "b", "c")),
  create("no data for a parameter's rule", "params", {}),
  patch("the parameter itself", at("params", "configmaps/limits"), { data: { most: "9", a: "1", b: "2" } }),
  create("none of the selected parameters forbids", "params-selector", data("c")),
  create("one of the selected parameters forbids", "params-selector", data("a")),
  create("the other of them", "params-selector", data("b")),
  create("both of them", "params-selector", data("a", "b")),
  create("a parameter that is not there", "params-missing", data("a")),
  create("production with an owner", "labels", data("owner")),
  create("production without", "labels", data("x")),
  create("an administrator with every right", "authz", data("privileged", "own", "path")),
  create("somebody who may not read Secrets", "authz", data("privileged"), { as: "writer" }),
  create("somebody who may not delete", "authz", data("own"), { as: "writer" }),
  create("somebody who may read /healthz as all may", "authz", data("path"), { as: "writer" }),
  create("somebody who needs no right", "authz", data("x"), { as: "writer" }),
  create("somebody who may read Secrets", "authz", data("privileged"), { as: "reader" }),
  patch("an open one changes", at("update", "configmaps/open"), { data: { y: "1" } }),
  patch("a final one changes", at("update", "configmaps/final"), { data: { y: "1" } }),
  patch("a final one's labels change", at("update", "configmaps/final"), { metadata: { labels: { a: "b" } } }),
  patch("a final one by JSON Patch", at("update", "configmaps/final"), [{ op: "add", path: "/data/z", value: "1" }], {
    type: "application/json-patch+json",
  }),
  patch(
    "a final one by strategic merge",
    at("update", "configmaps/final"),
    { data: { y: "1" } },
    { type: "application/strategic-merge-patch+json" },
  ),
  {
    title: "a final one replaced",
    method: "PUT",
    path: `${at("update", "configmaps/final")}?dryRun=All`,
    body: object("final", data("other")),
  },
  create("a new one where only updates are asked about", "update", data("final")),
  remove("one that is free", at("delete", "configmaps/free")),
  remove("one that is kept", at("delete", "configmaps/kept")),
  { title: "all of a collection", method: "DELETE", path: `${at("delete")}?dryRun=All` },
  connect("exec of a shell", "exec?command=sh&stdout=true"),
  connect("exec of something else", "exec?command=ls&stdout=true"),
  connect("exec of nothing", "exec?stdout=true"),
  connect("a forwarded port", "portforward"),
  connect("attached", "attach?stdout=true"),
  scale(4),
  scale(5),
  evict("stays"),
  evict("goes"),
  token(3_600),
  token(7_200),
  podStatus("good"),
  podStatus("bad"),
  create("a dry run that needs to be one", "dry", data("real")),
  create("a dry run that must not be one", "dry", data("dry")),
  { ...create("one that must be a dry run", "dry", data("real")), path: at("dry") },
  create("one that is none, and need not be", "dry", data("dry"), { metadata: { name: "real" }, path: at("dry") }),
  applied("applied anew, not allowed then", "new", data("created")),
  applied("applied anew", "new", data("changed")),
  applied("applied to what is there", "there", data("created")),
  applied("applied to what is there, not allowed then", "there", data("changed")),
  applied("applied by a manager", "new", { manager: "parity" }),
  applied("applied by another manager", "new", { manager: "parity" }, "fieldManager=other&force=true"),
  ...["exact", "equivalent"].flatMap((namespace) =>
    ["v1", "v2"].flatMap((version) => ["red", "blue"].map((colour) => widget(namespace, version, colour))),
  ),
  patch("the other version changed", "/apis/parity.example.com/v2/namespaces/equivalent/widgets/old", {
    spec: { colour: "red" },
  }),
  create("a match condition that skips", "conditions", data("skip", "longer")),
  create("a user who is exempt", "conditions", data("longer"), { as: "exempt" }),
  create("a variable of a variable", "conditions", data("longer", "longest", "a")),
  create("short names", "conditions", data("a", "b")),
  create("an expression as message", "messages", data("bare")),
  create("a reason that is a code", "messages", data("reason")),
  create("a reason with another code", "messages", data("large")),
  create("a message expression that fails", "messages", { broken: "1", zero: "0" }),
  create("two at once", "messages", data("first")),
  create("a match condition that fails", "failing-condition", data("a")),
  ...["there", "new"].map((name) => widget("named-versions", "v1", "red", name)),
  {
    ...{ title: "another version of a built-in kind than a mutating policy's", method: "POST" },
    path: "/apis/autoscaling/v2/namespaces/named-versions/horizontalpodautoscalers?dryRun=All",
    body: {
      ...{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { name: "h" } },
      spec: { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" } },
    },
  },
  create("an error, Fail", "errors", data("a")),
  create("no error, Fail", "errors", { missing: "x" }),
  create("an error, Ignore", "ignore", data("a")),
  create("false, Ignore", "ignore", { missing: "y" }),
  create("a name that a rule names", "names", data("a"), {
    metadata: { name: "named" },
    path: `${at("names")}?dryRun=All`,
  }),
  create("another name", "names", data("a")),
  patch("what is excluded", at("names", "configmaps/named"), { data: { b: "1" } }),
  create("an object that is selected", "objects", data("a"), { metadata: { labels: { "looked-at": "" } } }),
  create("an object that is not", "objects", data("a")),
  create("a generated name", "generate", data("a"), { metadata: { name: undefined, generateName: "bad-" } }),
  create("a generated name that is fine", "generate", data("a"), {
    metadata: { name: undefined, generateName: "fine-" },
  }),
];
