import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MatchIndex } from "../../../src/kinds/shared/match/match-index.js";
import { matchRequest, type PreparedMatch, prepareMatch } from "../../../src/kinds/shared/match/match-resources.js";
import { attributesOf } from "../../../src/kinds/shared/match/request-attributes.js";
import type { GroupVersionResource } from "../../../src/kubernetes/names.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { requestWorldOver } from "../../support/worlds.js";

const GROUPS = ["", "apps", "extensions", "acme.example"];
const RESOURCES = ["pods", "deployments", "jobs", "widgets"];
const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "CONNECT"];
const SUBRESOURCES = ["", "status", "exec"];

/** A small generator of the same numbers every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

function randomMatch(next: (below: number) => number): PreparedMatch {
  const some = (words: readonly string[]): string[] =>
    next(4) === 0 ? ["*"] : words.filter(() => next(3) === 0).concat(words[next(words.length)] ?? []);
  const rules = Array.from({ length: next(3) }, () => ({
    operations: some(OPERATIONS),
    apiGroups: some(GROUPS),
    apiVersions: ["*"],
    resources: some([...RESOURCES, "*/status", "pods/*", "*/*", "deployments/scale"]),
  }));
  return prepareMatch({ namespaceSelector: {}, objectSelector: {}, matchPolicy: "Equivalent", resourceRules: rules });
}

describe("the index over match rules", () => {
  const equivalent = (group: string, resource: string) => ({
    resource: { group, version: "v1", resource },
    kind: { group, version: "v1", kind: "X" },
  });
  const resources = new FileResources([], {
    equivalentSets: [
      {
        resources: SUBRESOURCES.flatMap((subresource) =>
          [equivalent("apps", "deployments"), equivalent("extensions", "deployments")].map((each) => ({
            ...each,
            subresource,
          })),
        ),
      },
    ],
  });
  const world = requestWorldOver(resources);

  test("leaves out no policy that matches, and keeps their order", () => {
    const next = random(7);
    const policies = Array.from({ length: 300 }, (_, i) => ({ i, match: randomMatch(next) }));
    const index = new MatchIndex(policies, ({ match }) => match);
    const word = (words: readonly string[]): string => words[next(words.length)] ?? "";
    let narrowed = 0;
    let matched = 0;
    let onlyConverted = 0;
    for (const group of GROUPS) {
      for (const resource of RESOURCES) {
        for (const operation of OPERATIONS) {
          for (const subResource of SUBRESOURCES) {
            const kind = { group, version: "v1", kind: "X" };
            const gvr: GroupVersionResource = { group, version: "v1", resource };
            const addressed = { group: word(GROUPS), version: word(["v1", "v2"]), resource: word(RESOURCES) };
            const request = attributesOf({
              uid: "",
              kind,
              resource: gvr,
              subResource,
              ...(next(2) === 0 && { requestResource: addressed, requestKind: { ...kind, ...addressed } }),
              operation,
              userInfo: {},
              object: {},
            });
            const matching = policies.filter(({ match }) => {
              const result = matchRequest(match, request, world);
              return "outcome" in result && result.outcome !== "no";
            });
            const { resource: asked, converted } = request;
            const candidates = index.candidates(operation, asked.group, asked.resource, converted?.resource);
            const without = new Set(index.candidates(operation, asked.group, asked.resource));
            assert.deepEqual(
              [...candidates].sort((a, b) => a.i - b.i),
              candidates,
            );
            for (const each of matching) assert.ok(candidates.includes(each), `policy ${each.i} is missing`);
            if (candidates.length < policies.length) narrowed++;
            matched += matching.length;
            onlyConverted += matching.filter((each) => !without.has(each)).length;
          }
        }
      }
    }
    assert.ok(narrowed > 0);
    assert.ok(matched > 0);
    assert.ok(onlyConverted > 0, "what was converted to finds some that what was addressed does not");
  });

  test("remembers no more than it may", () => {
    const rule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };
    const match = prepareMatch({ namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] });
    const index = new MatchIndex([{ match }, { match }], (each) => each.match);
    for (let i = 0; i < 5_000; i++) index.candidates("CREATE", "", `r${i}`);
    assert.ok(index.rememberedCount <= 1_000);
  });
});
