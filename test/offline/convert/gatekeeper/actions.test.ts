import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { constraint, converted, errorsOf, type Json, SOURCE, template } from "./converted.js";

describe("enforcement actions", () => {
  const scoped = (...points: readonly (readonly [string, ...string[]])[]): Json => ({
    enforcementAction: "scoped",
    scopedEnforcementActions: points.map(([action, ...names]) => ({
      action,
      enforcementPoints: names.map((name) => ({ name })),
    })),
  });
  for (const [spec, actions] of [
    [{}, ["Deny"]],
    [{ enforcementAction: "deny" }, ["Deny"]],
    [{ enforcementAction: "warn" }, ["Warn"]],
    [{ enforcementAction: "dryrun" }, ["Audit"]],
    [scoped(["deny", "*"]), ["Deny"]],
    [scoped(["warn", "validation.gatekeeper.sh"], ["deny", "audit.gatekeeper.sh"]), ["Warn"]],
    [scoped(["warn", "vap.k8s.io"], ["dryrun", "validation.gatekeeper.sh"]), ["Audit", "Warn"]],
    [scoped(["warn", "*"], ["deny", "validation.gatekeeper.sh"]), ["Deny"]],
    [scoped(["deny", "audit.gatekeeper.sh"]), ["Audit"]],
  ] as const)
    test(`${JSON.stringify(spec)}: ${actions.join(", ")}`, () => {
      const made = converted(template(SOURCE), constraint(spec));
      assert.deepEqual(errorsOf(made), []);
      assert.deepEqual(
        made.policies.map(({ documents }) => (documents.at(-1) as { spec: Json }).spec.validationActions),
        [actions],
      );
    });

  for (const [spec, expected] of [
    [{ enforcementAction: "Deny" }, /enforcementAction: expected one of .*did you mean "deny"/],
    [{ enforcementAction: "constructor" }, /expected one of/],
    [{ enforcementAction: "drynun" }, /did you mean "dryrun"/],
    [{ enforcementAction: true }, /enforcementAction: expected a text/],
    [{ enforcmentAction: "dryrun" }, /enforcmentAction: unknown field.*did you mean "enforcementAction"/],
    [{ enforcementAction: "scoped" }, /scopedEnforcementActions: the actions .* are missing/],
    [scoped(["block", "*"]), /action: expected one of deny/],
    [scoped(["deny", "validation.gatekeeper.io"]), /name: expected one of .*did you mean "validation.gatekeeper.sh"/],
    [scoped(["deny"]), /an action and a point are needed/],
    [scoped(["deny", "gator.gatekeeper.sh"]), /not about admission/],
  ] as const)
    test(`${JSON.stringify(spec)} is named`, () => {
      const made = converted(template(SOURCE), constraint(spec));
      assert.equal(made.policies.length, 0);
      assert.match(errorsOf(made).join("\n"), expected);
    });
});
