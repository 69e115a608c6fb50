/** Reviews whose right answers are known, for traffic that is checked answer by answer. */

/** One kind of request and its only right answer. */
export interface Known {
  readonly name: string;
  readonly path: string;
  /** The body around its uid. */
  readonly before: string;
  readonly after: string;
  readonly allowed: boolean;
  /** Status code of a denial. */
  readonly code?: number;
  /** Message of a denial. */
  readonly message?: string;
}

/** What an answer came to. */
export type Judgement = "right" | "refused" | "failed" | { readonly wrong: string };

/** Statuses of requests that are refused for load; whoever sends them knows that nothing was decided. */
const REFUSALS: ReadonlySet<number> = new Set([429, 500, 503]);
/** Characters of a wrong answer that are shown. */
const SHOWN = 300;

/** Judges an answer: `failed` is a denial because the policy could not decide, which is never what a known request should get. */
export function judge(known: Known, uid: string, status: number, body: string): Judgement {
  if (REFUSALS.has(status)) return "refused";
  const wrong = { wrong: `${known.name}: ${status} ${body.slice(0, SHOWN)}` };
  if (status !== 200) return wrong;
  const response = responseIn(body);
  if (response?.uid !== uid || typeof response.allowed !== "boolean") return wrong;
  if (response.allowed !== known.allowed) return isFailure(response) ? "failed" : wrong;
  if (known.allowed) return "right";
  if (response.status?.message === known.message && response.status?.code === known.code) return "right";
  return isFailure(response) ? "failed" : wrong;
}

/** Whether a policy could not decide: a denial of code 500. */
export function isFailure({ allowed, status }: Response): boolean {
  return allowed === false && status?.code === 500;
}

/** As much of an answer as is looked at. */
export interface Response {
  readonly uid?: unknown;
  readonly allowed?: unknown;
  readonly status?: { readonly message?: unknown; readonly code?: unknown };
}

/** The `response` in an answer's body; undefined when it is not one. */
export function responseIn(body: string): Response | undefined {
  try {
    const { response } = JSON.parse(body) as { response?: Response };
    return response;
  } catch {
    return undefined;
  }
}

/** Policies that the known requests are put to. */
export const knownPolicies = (root: string): string => `
rule:
  cel:
    validations:
      - expression: "!object.spec.containers.exists(c, c.?securityContext.?privileged.orValue(false))"
        message: "privileged"
kyverno: { resource: "${root}/policies/kyverno/memory-limits/policy.yaml" }
guest: { module: "${root}/policies/privileged-pods/policy.wasm" }
group:
  expression: "guest() && rule()"
  message: "group says no"
  policies: { guest: { policy: guest }, rule: { policy: rule } }
`;

/** A review of a Pod, in two parts: its uid belongs between them. */
function pod(privileged: boolean, kind = "Pod", namespace = "default"): [before: string, after: string] {
  const context = privileged ? ',"securityContext":{"privileged":true}' : "";
  return [
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"',
    `","kind":{"group":"","version":"v1","kind":${JSON.stringify(kind)}},"resource":{"group":"","version":"v1","resource":"pods"},` +
      `"operation":"CREATE","namespace":${JSON.stringify(namespace)},"userInfo":{"username":"alice"},` +
      `"object":{"apiVersion":"v1","kind":${JSON.stringify(kind)},"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"${context}}]}}}}`,
  ];
}

const [before, plain] = pod(false);
const [, privileged] = pod(true);
const limited = plain.replace('"image":"i"', '"image":"i","resources":{"limits":{"memory":"1Gi"}}');

/** The requests of honest clients: policies that answer at once, guests, and groups of both, each allowing and denying. */
export const KNOWN: readonly Known[] = [
  { name: "cel allows", path: "/validate/rule", before, after: plain, allowed: true },
  {
    ...{ name: "cel denies", path: "/validate/rule", before, after: privileged },
    ...{ allowed: false, code: 422, message: "privileged" },
  },
  { name: "wasm allows", path: "/validate/guest", before, after: plain, allowed: true },
  {
    ...{ name: "wasm denies", path: "/validate/guest", before, after: privileged },
    ...{ allowed: false, code: 403, message: "container a is privileged" },
  },
  { name: "kyverno allows", path: "/validate/kyverno", before, after: limited, allowed: true },
  {
    ...{ name: "kyverno denies", path: "/validate/kyverno", before, after: plain },
    ...{ allowed: false, message: "Policy memory-limits failed: no memory limit: a" },
  },
  { name: "group allows", path: "/validate/group", before, after: plain, allowed: true },
  {
    ...{ name: "group denies", path: "/validate/group", before, after: privileged },
    ...{ allowed: false, code: 403, message: "group says no" },
  },
];

/** A request about an object of any kind in any namespace, which is allowed. */
export function allowedIn(kind: string, namespace: string): Known {
  const [start, rest] = pod(false, kind, namespace);
  return { name: "label", path: "/validate/rule", before: start, after: rest, allowed: true };
}
