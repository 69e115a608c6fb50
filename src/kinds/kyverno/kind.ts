import type { Coverage } from "../../cel-policy/coverage/coverage.js";
import { allNeeds } from "../../world/needs.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { createCompilers } from "./dialect.js";
import { needsOf } from "./needs.js";
import { KyvernoPolicySet } from "./policy.js";
import { prepareDocuments } from "./prepare-documents.js";
import {
  CONTEXT_ENTRY_KIND,
  CONTEXT_GROUP,
  EXCEPTION_KIND,
  GROUP,
  NAMESPACED_POLICY_KIND,
  POLICY_KIND,
} from "./resource.js";

/**
 * Kyverno's ValidatingPolicies and NamespacedValidatingPolicies, with exceptions and context entries (spec kyverno.md 1 to 6).
 * @param coverage told what is reached of their expressions
 */
export function kyvernoKind(coverage?: Coverage): DocumentKind {
  const compilers = createCompilers(coverage);
  return {
    policies: [
      { group: GROUP, kind: POLICY_KIND },
      { group: GROUP, kind: NAMESPACED_POLICY_KIND },
    ],
    companions: [
      { group: GROUP, kind: EXCEPTION_KIND },
      { group: CONTEXT_GROUP, kind: CONTEXT_ENTRY_KIND },
    ],
    prepare({ id, own, others, validationActions }, warn) {
      const prepared = prepareDocuments([...own, ...others], { compilers, now: Date.now() });
      const errors = prepared.problems.filter(({ severity }) => severity === "error");
      if (errors.length > 0) throw LoadError.of(errors);
      for (const problem of prepared.problems) warn(problem);
      const { policies, objects } = prepared;
      return {
        needs: allNeeds(policies.map((policy) => needsOf(policy, objects))),
        policy: (world) => new KyvernoPolicySet(policies, { id, world: worldOf(objects, world), validationActions }),
      };
    },
  };
}
