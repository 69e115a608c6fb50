import { compileInline, type ExpressionCompiler, loadPolicies, type SchemaFactory } from "../../cel-policy/index.js";
import type { CelEntry, Problem, ResourceEntry } from "../../config/index.js";
import { clusterUse } from "../../loader/cluster-needs.js";
import { LoadError } from "../../loader/load-error.js";
import type { Policy } from "../../policy/index.js";
import { type Authorizer, NO_OPINION } from "../../world/authorizer/authorizer.js";
import type { ClusterWorld } from "../../world/cluster.js";
import type { FileResourcesOptions } from "../../world/resources/file-resources.js";
import type { ResourceSource } from "../../world/resources/resource-source.js";
import { resourcesOf } from "./load.js";

/** What CEL policies are compiled with and look things up in. */
export interface CelWorld {
  readonly compiler: ExpressionCompiler;
  /** Where policies that ask a cluster look behind the documents beside them; absent: nowhere. */
  readonly cluster?: ClusterWorld;
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
  const { authorizer, source, resources } = beyond(entry, world);
  const compiled = compileInline(entry.cel, {
    id: entry.id,
    compiler: world.compiler,
    authorizer,
    source: resourcesOf([], { resources, ...(source && { source }) }),
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
    now: world.now,
    ...beyond(entry, world),
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

/**
 * What a policy looks things up in beside its documents. Who does not ask a cluster does not depend on one, but for the versions of resources
 * when a request comes in another than its rules name.
 */
function beyond(
  entry: CelEntry | ResourceEntry,
  { cluster }: CelWorld,
): {
  readonly authorizer: Authorizer;
  readonly source?: ResourceSource;
  readonly resources: Pick<FileResourcesOptions, "versions">;
} {
  const resources = cluster === undefined ? {} : { versions: cluster.resources };
  const { asks, needs } = clusterUse(entry);
  if (cluster === undefined || !(cluster.absent ? needs : asks)) return { authorizer: NO_OPINION, resources };
  return { authorizer: cluster.authorizer, source: cluster.resources, resources };
}

/** The place of an expression's error inside the expression, when the text names one as the engine does. */
function innerPlace(text: string): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = /<input>:(\d+):(\d+):/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

const firstLine = (text = ""): string => text.split("\n")[0] ?? "";
