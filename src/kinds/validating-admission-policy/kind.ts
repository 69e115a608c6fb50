import { type FieldMistake, fieldProblem } from "../../config/documents/field-problem.js";
import { worldOf } from "../../world/world.js";
import type { Server } from "../admission-policy/server.js";
import type { DocumentKind, InlineKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { reportOrThrow } from "../report-or-throw.js";
import type { ExpressionCompiler, SchemaFactory } from "../shared/index.js";
import { prepareInline } from "./inline.js";
import { prepareDocuments } from "./prepare.js";
import { VALIDATING_DOCUMENTS } from "./resource.js";

/**
 * ValidatingAdmissionPolicies: documents with their bindings, and the same written inline.
 * @param compiler compiles the expressions
 * @param schemas makes the schemas that expressions' types are checked against; absent: they are not checked
 * @param server the server that documents are written for; absent: any known version
 */
export function validatingAdmissionPolicyKind(
  compiler: ExpressionCompiler,
  schemas: SchemaFactory | undefined,
  server?: Server<ExpressionCompiler>,
): DocumentKind & { readonly inline: InlineKind } {
  return {
    ...VALIDATING_DOCUMENTS,
    prepare({ id, own, others, validationActions }, warn) {
      const prepared = prepareDocuments([...own, ...others], {
        compiler,
        ...(schemas !== undefined && { schemas }),
        ...(server !== undefined && { server }),
        ...(validationActions !== undefined && { validationActions }),
      });
      reportOrThrow(prepared.problems, warn);
      const { needs, objects } = prepared;
      return { needs, policy: (world) => prepared.policy(id, worldOf(objects, world)) };
    },
    inline: {
      prepare({ id, cel, origin, validationActions }, warn) {
        const prepared = prepareInline(cel, {
          compiler,
          ...(schemas !== undefined && { schemas: schemas() }),
          ...(validationActions !== undefined && { validationActions }),
        });
        const inEntry = (mistake: FieldMistake): FieldMistake => ({
          ...mistake,
          path: [...origin.path, "cel", ...mistake.path],
        });
        for (const warning of prepared.warnings) warn(fieldProblem(origin.document, "warning", inEntry(warning)));
        if ("errors" in prepared) {
          throw LoadError.of(prepared.errors.map((error) => fieldProblem(origin.document, "error", inEntry(error))));
        }
        return { needs: prepared.needs, policy: (world) => prepared.policy(id, worldOf([], world)) };
      },
    },
  };
}
