import type { CelEntry, Problem, ResourceEntry } from "../config/index.js";
import type { Authorizer } from "../kubernetes/authorizer.js";
import { FileResources } from "../kubernetes/file-resources.js";
import type { ResourceSource } from "../kubernetes/resource-source.js";
import type { Policy } from "../policy/index.js";
import { compileInline, type ExpressionCompiler, loadPolicies, type SchemaFactory } from "../validating/index.js";
import { LoadError } from "./load-error.js";

/** What CEL policies are compiled with and look things up in. */
export interface CelWorld {
  readonly compiler: ExpressionCompiler;
  readonly authorizer: Authorizer;
  /** Where Namespaces and parameters come from; absent: only the documents beside a policy. */
  readonly source?: ResourceSource;
  /** Makes the schemas that expressions' types are checked against; absent: they are not checked. */
  readonly schemas?: SchemaFactory;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * A policy from an inline `cel:` entry.
 * @throws LoadError with every mistake at its place in the file
 */
export function loadInline(entry: CelEntry, world: CelWorld, warn: (problem: Problem) => void): Policy {
  const compiled = compileInline(entry.cel, {
    id: entry.id,
    compiler: world.compiler,
    authorizer: world.authorizer,
    source: world.source ?? new FileResources([], { guessScope: true, synthesiseNamespaces: true }),
    now: world.now,
    ...(world.schemas !== undefined && { schemas: world.schemas() }),
    ...(entry.validationActions !== undefined && { validationActions: entry.validationActions }),
  });
  if ("policy" in compiled) {
    for (const { path, text } of compiled.warnings) {
      warn(entry.origin.warning(["cel", ...path], text, innerPlace(text)));
    }
    return compiled.policy;
  }
  const problems = compiled.errors.map(({ path, text }) =>
    entry.origin.error(["cel", ...path], text, innerPlace(text)),
  );
  throw new LoadError(`the policy is invalid: ${firstLine(compiled.errors[0]?.text)}`, problems);
}

/**
 * A policy from the documents of a `resource:` entry: all policies among them, asked together as the API server does.
 * @throws LoadError with every mistake at its place; one broken policy makes the entry unavailable, since what it forbids is not known
 */
export function loadResource(entry: ResourceEntry, world: CelWorld, warn: (problem: Problem) => void): Policy {
  const documents = entry.documents.map((document) => ({
    document: document.value,
    file: document.file,
    position: (path: readonly (string | number)[]) => document.positionOf(path),
  }));
  const { policies, together, problems } = loadPolicies(documents, {
    compiler: world.compiler,
    authorizer: world.authorizer,
    now: world.now,
    ...(world.source !== undefined && { source: world.source }),
    ...(world.schemas !== undefined && { schemas: world.schemas }),
    ...(entry.validationActions !== undefined && { validationActions: entry.validationActions }),
  });
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new LoadError(`the policy is invalid: ${firstLine(errors[0]?.message)}`, errors);
  if (policies.length === 0) {
    const message = "the files hold no policy: expected a ValidatingAdmissionPolicy among their documents";
    throw new LoadError(message, [entry.origin.error(["resource"], message)]);
  }
  for (const problem of problems) warn(problem);
  return together(entry.id);
}

/** The place of an expression's error inside the expression, when the text names one as the engine does. */
function innerPlace(text: string): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = /<input>:(\d+):(\d+):/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

const firstLine = (text = ""): string => text.split("\n")[0] ?? "";
