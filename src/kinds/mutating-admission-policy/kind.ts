import { bundledSchemas } from "../../kubernetes/structured-merge/merge-schemas.js";
import { worldOf } from "../../world/world.js";
import type { Server } from "../admission-policy/server.js";
import type { DocumentKind } from "../kind.js";
import { reportOrThrow } from "../report-or-throw.js";
import type { SchemaFactory } from "../shared/type-check/bundled-schemas.js";
import type { MutationCompilers } from "./compilers.js";
import { prepareDocuments } from "./prepare.js";
import { MUTATING_DOCUMENTS, POLICY_KIND } from "./resource.js";

/**
 * MutatingAdmissionPolicies: documents with their bindings.
 * @param compilers compile the expressions
 * @param server the server that documents are written for; absent: any known version
 * @param checked makes the schemas by which expressions are examined; absent: they are not
 */
export function mutatingAdmissionPolicyKind(
  compilers: MutationCompilers,
  server?: Server<MutationCompilers>,
  checked?: SchemaFactory,
): DocumentKind {
  return {
    ...MUTATING_DOCUMENTS,
    prepare({ id, own, others, optionalCompanions: inCluster = false }, warn) {
      const prepared = prepareDocuments([...own, ...others], {
        compilers,
        schemas: bundledSchemas(),
        checked,
        inCluster,
        ...(server && { server }),
      });
      reportOrThrow(prepared.problems, warn);
      const { needs, objects } = prepared;
      return { needs, mutates: [POLICY_KIND], policy: (world) => prepared.policy(id, worldOf(objects, world)) };
    },
  };
}
