import { knownPolicies } from "./reviews.js";
import type { Exchange } from "./soak.js";

/** The policies that the soak runs against: the known ones, and `chaos`, a guest that misbehaves as the request says. */
export const soakPolicies = (root: string): string => `${knownPolicies(root)}
chaos: { module: "${root}/test/fixtures/chaos/extism.wasm", timeoutEvalSeconds: 1 }
never:
  expression: "!chaos()"
  message: "never says no"
  policies: { chaos: { policy: chaos } }
`;

const pod = (containers: string, extra = "") =>
  `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},` +
  `"resource":{"group":"","version":"v1","resource":"pods"},"operation":"CREATE","userInfo":{"username":"alice"},${extra}` +
  `"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[${containers}]}}}}`;
const plain = pod('{"name":"a","image":"i"}');
const privileged = pod('{"name":"a","image":"i","securityContext":{"privileged":true}}');
const many = pod(
  Array.from({ length: 2000 }, (_, i) => `{"name":"c${i}","image":"registry.example/i:${i}"}`).join(","),
);
const mode = (name: string) => `{"request":{"mode":"${name}"}}`;

/** Ordinary and hostile requests with the answers of spec kubewarden.md 3. */
export const EXCHANGES: readonly Exchange[] = [
  { name: "cel allows", path: "/validate/rule", body: plain, status: 200, answer: /"allowed":true/ },
  { name: "cel denies", path: "/validate/rule", body: privileged, status: 200, answer: /"allowed":false.*privileged/ },
  { name: "wasm allows", path: "/validate/guest", body: plain, status: 200, answer: /"allowed":true/ },
  { name: "wasm denies", path: "/validate/guest", body: privileged, status: 200, answer: /"allowed":false/ },
  { name: "group allows", path: "/validate/group", body: plain, status: 200, answer: /"allowed":true/ },
  {
    name: "group denies",
    path: "/validate/group",
    body: privileged,
    status: 200,
    answer: /"allowed":false.*group says no/,
  },
  { name: "large", path: "/validate/group", body: many, status: 200, answer: /"allowed":true/ },
  {
    name: "broken",
    path: "/validate/rule",
    body: '{"request":',
    status: 400,
    answer: /Failed to parse the request body as JSON/,
  },
  { name: "empty", path: "/validate/rule", status: 400, answer: /Failed to parse/ },
  { name: "wrong shape", path: "/validate/rule", body: "{}", status: 422, answer: /missing field `request`/ },
  {
    name: "deep",
    path: "/validate_raw/rule",
    body: `{"request":${"[".repeat(50_000)}`,
    status: 400,
    answer: /recursion limit/,
  },
  { name: "huge", path: "/validate/rule", body: "x".repeat(2_200_000), status: 413, answer: /length limit exceeded/ },
  {
    name: "wrong type",
    path: "/validate/rule",
    contentType: "text/plain",
    body: plain,
    status: 415,
    answer: /Content-Type/,
  },
  { name: "unknown policy", path: "/validate/nope", body: plain, status: 404, answer: /unknown policy: nope/ },
  {
    name: "unknown path",
    path: "/nowhere",
    body: plain,
    status: 404,
    answer: /^POST \/nowhere: nothing is served here/,
  },
  { name: "wrong method", method: "PUT", path: "/validate/rule", body: plain, status: 405, answer: /asked by POST/ },
  {
    name: "prototype keys",
    path: "/validate/rule",
    body: pod('{"name":"a","__proto__":{"securityContext":{"privileged":true}}}'),
    status: 200,
    answer: /"allowed":true/,
  },
  {
    name: "guest traps",
    path: "/validate_raw/never",
    body: mode("trap"),
    status: 200,
    answer: /"allowed":false.*"code":500/,
  },
  {
    name: "guest answers rubbish",
    path: "/validate_raw/never",
    body: mode("not-json"),
    status: 200,
    answer: /"allowed":false.*"code":500/,
  },
  {
    name: "guest mutates",
    path: "/validate_raw/never",
    body: mode("mutate"),
    status: 200,
    answer: /"allowed":false.*"code":500/,
  },
];

/** A request whose guest loops until it is stopped. */
export const LOOPING: Exchange = {
  name: "guest loops",
  path: "/validate_raw/never",
  body: mode("loop"),
  status: 200,
  answer: /"allowed":false.*"code":500/,
};
