import type { Server } from "../../admission-policy/server.js";
import type { ExpressionCompiler, SchemaFactory } from "../../cel-policy/index.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind, InlineKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { prepareInline } from "./inline.js";
import { prepareDocuments } from "./prepare.js";
import { VALIDATING_DOCUMENTS } from "./resource.js";

/**
 * ValidatingAdmissionPolicies: documents with their bindings, and the same written inline.
 * @param compiler compiles the expressions
 * @param schemas makes the schemas that expressions' types are checked against; absent: they are not checked
 * @param server the server that documents are written for; absent: they are understood whoever stores them
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
      const errors = prepared.problems.filter(({ severity }) => severity === "error");
      if (errors.length > 0) throw LoadError.of(errors);
      for (const problem of prepared.problems) warn(problem);
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
        if ("errors" in prepared) {
          throw LoadError.of(
            prepared.errors.map(({ path, text }) => origin.error(["cel", ...path], text, placeInside(text))),
          );
        }
        for (const { path, text } of prepared.warnings) {
          warn(origin.warning(["cel", ...path], text, placeInside(text)));
        }
        return { needs: prepared.needs, policy: (world) => prepared.policy(id, worldOf([], world)) };
      },
    },
  };
}

/** The place of an expression's error inside the expression, when the text names one as the engine does. */
function placeInside(text: string): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = /<input>:(\d+):(\d+):/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}
