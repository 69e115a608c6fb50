import type { Watcher } from "../../cel-policy/watcher.js";
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
 * @param watcher told what becomes of their expressions
 */
export function kyvernoKind(watcher?: Watcher): DocumentKind {
  const compilers = createCompilers(watcher);
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
        policy: (outer) => {
          const world = worldOf(objects, outer);
          return new KyvernoPolicySet(policies, { id, world, validationActions, watcher });
        },
      };
    },
  };
}
