/** Events of an audit log, as the API server asks admission. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readAuditEvent } from "../../../src/offline/replay/audit-event.js";

const pod = (metadata: object) => ({ apiVersion: "v1", kind: "Pod", metadata });
const status = { kind: "Status", apiVersion: "v1" };
const web = pod({ name: "web" });
const answered = { requestObject: web, responseObject: pod({ name: "web", uid: "1" }) };
const ofPods = { resource: "pods", apiVersion: "v1", namespace: "shop" };

/** What is asked for an event, with the number of doubts; or why nothing is. */
function told(verb: string, code: number, more: object): readonly string[] {
  const event = {
    ...{ level: "RequestResponse", auditID: "a", verb, objectRef: { ...ofPods, name: "web" } },
    ...{ stage: "ResponseComplete", user: { username: "ann" }, responseStatus: { code }, ...more },
  };
  return [...readAuditEvent(event, "log:1")].map((found) => {
    if (found.kind !== "question") return found.why;
    const { review, doubts } = found.question;
    if (review.kind !== "admission") return review.kind;
    const { operation, name = "-", namespace = "-", object, oldObject, dryRun, userInfo, kind } = review.request;
    const parts = [operation, kind.kind, namespace, name, object === undefined ? "" : "object"];
    const rest = [oldObject === undefined ? "" : "old", dryRun ? "dry" : "", userInfo.username, doubts.length];
    return [...parts, ...rest].filter((part) => part !== "").join(" ");
  });
}

const CREATED = "CREATE Pod shop web object ann 0";
const CONNECTION = "audit events of connections (exec, proxy), whose options they do not hold";
const CASES: readonly [string, string, number, object, ...string[]][] = [
  ["POST", "create", 201, answered, CREATED],
  ["POST that an aggregated server answers with 200", "create", 200, answered, CREATED],
  ["PATCH that created", "patch", 201, answered, CREATED],
  ["PUT that created", "update", 201, answered, CREATED],
  ["PATCH that changed", "patch", 200, answered, "UPDATE Pod shop web object ann 1"],
  ["PUT that changed", "update", 200, answered, "UPDATE Pod shop web object ann 1"],
  [
    ...(["server-side apply that created, without the answer", "patch", 201] as const),
    ...([{ level: "Request", requestObject: web }, "CREATE Pod shop web object ann 1"] as const),
  ],
  [
    ...(["PUT that was refused", "update", 409] as const),
    ...([{ requestObject: web, responseObject: status }, "UPDATE Pod shop web object ann 3"] as const),
  ],
  [
    ...(["PUT of a version that was refused", "update", 409] as const),
    { requestObject: pod({ name: "web", resourceVersion: "7" }), responseObject: status },
    "UPDATE Pod shop web object ann 2",
  ],
  ["dry run", "patch", 201, { ...answered, requestURI: "/x?dryRun=All" }, "CREATE Pod shop web object dry ann 0"],
  [
    ...(["dry run of a deletion", "delete", 200] as const),
    { requestObject: { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] }, responseObject: web },
    "DELETE Pod shop web old dry ann 0",
  ],
  [
    ...(["generated name", "create", 201] as const),
    { objectRef: ofPods, requestObject: pod({ generateName: "w-" }), responseObject: pod({ name: "w-x1" }) },
    "CREATE Pod shop w-x1 object ann 0",
  ],
  [
    ...(["impersonated user", "patch", 201] as const),
    ...([{ ...answered, impersonatedUser: { username: "bob" } }, "CREATE Pod shop web object bob 0"] as const),
  ],
  [
    ...(["Namespace, which is in itself for admission", "create", 201] as const),
    {
      objectRef: { resource: "namespaces", apiVersion: "v1", name: "shop" },
      responseObject: { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
      requestObject: { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    },
    "CREATE Namespace shop shop object ann 0",
  ],
  [
    ...(["scale", "patch", 200] as const),
    {
      objectRef: { apiGroup: "apps", apiVersion: "v1", resource: "deployments", subresource: "scale", name: "web" },
      responseObject: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "web" } },
    },
    "UPDATE Scale - web object ann 1",
  ],
  [
    ...(["status", "update", 200] as const),
    { ...answered, objectRef: { ...ofPods, name: "web", subresource: "status" } },
    "UPDATE Pod shop web object ann 1",
  ],
  ...["status", "scale", "ephemeralcontainers"].flatMap((subresource) =>
    ["patch", "update"].map((verb): (typeof CASES)[number] => [
      ...([`${verb} of ${subresource}, which never creates`, verb, 201] as const),
      { ...answered, objectRef: { ...ofPods, name: "web", subresource } },
      "UPDATE Pod shop web object ann 1",
    ]),
  ),
  [
    ...(["collection", "deletecollection", 200] as const),
    { objectRef: ofPods, responseObject: { kind: "PodList", apiVersion: "v1", items: [web, { metadata: {} }] } },
    "DELETE Pod shop - old ann 0",
    "DELETE Pod shop - old ann 0",
  ],
  [
    ...(["collection without its objects", "deletecollection", 200, { responseObject: status }] as const),
    "audit events of deletecollection without the deleted objects",
  ],
  ...["create", "get", "delete", "update"].map((verb): (typeof CASES)[number] => [
    ...([`connection by ${verb}`, verb, 200] as const),
    { objectRef: { ...ofPods, name: "web", subresource: "exec" }, requestObject: web, responseObject: web },
    CONNECTION,
  ]),
  [
    ...(["patch that was refused", "patch", 422, { requestObject: {}, responseObject: status }] as const),
    "audit events of patches without what came of them (level RequestResponse holds it)",
  ],
  [
    ...(["other stage", "patch", 201, { ...answered, stage: "ResponseStarted" }] as const),
    "audit events of other stages than ResponseComplete",
  ],
];

describe("events of an audit log", () => {
  for (const [what, verb, code, more, ...expected] of CASES)
    test(what, () => {
      assert.deepEqual(told(verb, code, more), expected);
    });
});
