/** ValidatingAdmissionPolicies: documents with their bindings, and the same written inline. */
import type { ExpressionCompiler, SchemaFactory } from "../../cel-policy/index.js";
import type { World } from "../../world/world.js";
import type { DocumentKind, InlineKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { compileInline } from "./inline.js";
import { type LoadOptions, loadPolicies, resourcesOf } from "./load.js";
import { needsOf } from "./needs.js";
import { BINDING_KIND, GROUP, POLICY_KIND } from "./resource.js";

/**
 * The kind.
 * @param schemas makes the schemas that expressions' types are checked against; absent: they are not checked
 */
export function validatingAdmissionPolicyKind(
  compiler: ExpressionCompiler,
  schemas: SchemaFactory | undefined,
): DocumentKind & { readonly inline: InlineKind } {
  return {
    name: POLICY_KIND,
    policies: [{ group: GROUP, kind: POLICY_KIND }],
    companions: [{ group: GROUP, kind: BINDING_KIND }],
    prepare({ id, own, others, validationActions }, warn) {
      const documents = [...own, ...others];
      const load = (world: Parameters<ReturnType<DocumentKind["prepare"]>["policy"]>[0] | undefined) =>
        loadPolicies(
          documents.map((document) => ({
            document: document.value,
            file: document.file,
            position: (path) => document.positionOf(path),
          })),
          {
            compiler,
            now: world?.now ?? (() => 0),
            authorizer: world?.authorizer ?? { authorize: () => ({ decision: "noOpinion", reason: "" }) },
            ...sources(world),
            ...(schemas !== undefined && { schemas }),
            ...(validationActions !== undefined && { validationActions }),
          },
        );
      const { problems } = load(undefined);
      const errors = problems.filter(({ severity }) => severity === "error");
      if (errors.length > 0) throw new LoadError(`the policy is invalid: ${firstLine(errors[0]?.message)}`, errors);
      for (const problem of problems) warn(problem);
      return { needs: needsOf(documents.map(({ value }) => value)), policy: (world) => load(world).together(id) };
    },
    inline: {
      prepare(entry, warn) {
        const compile = (
          world: { authorizer?: never } | Parameters<ReturnType<InlineKind["prepare"]>["policy"]>[0],
        ) => {
          const given = world as Partial<Parameters<ReturnType<InlineKind["prepare"]>["policy"]>[0]>;
          return compileInline(entry.cel, {
            id: entry.id,
            compiler,
            authorizer: given.authorizer ?? { authorize: () => ({ decision: "noOpinion", reason: "" }) },
            source: resourcesOf([], sources(given)),
            now: given.now ?? (() => 0),
            ...(schemas !== undefined && { schemas: schemas() }),
            ...(entry.validationActions !== undefined && { validationActions: entry.validationActions }),
          });
        };
        const compiled = compile({});
        if ("errors" in compiled) {
          const problems = compiled.errors.map(({ path, text }) =>
            entry.origin.error(["cel", ...path], text, innerPlace(text)),
          );
          throw new LoadError(`the policy is invalid: ${firstLine(compiled.errors[0]?.text)}`, problems);
        }
        for (const { path, text } of compiled.warnings) {
          warn(entry.origin.warning(["cel", ...path], text, innerPlace(text)));
        }
        return {
          needs: needsOf([{ spec: entry.cel }]),
          policy: (world) => {
            const made = compile(world);
            if ("errors" in made) throw new Error("an inline policy that compiled no longer does");
            return made.policy;
          },
        };
      },
    },
  };
}

/** Where policies look things up beside their documents. */
const sources = ({ resources, versions }: Partial<World> = {}): Pick<LoadOptions, "source" | "resources"> => ({
  ...(resources && { source: resources }),
  ...(versions && { resources: { versions } }),
});

/** The place of an expression's error inside the expression, when the text names one as the engine does. */
function innerPlace(text: string): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = /<input>:(\d+):(\d+):/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

const firstLine = (text = ""): string => text.split("\n")[0] ?? "";
