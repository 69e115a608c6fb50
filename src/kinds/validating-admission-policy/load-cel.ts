import type { ExpressionCompiler, SchemaFactory } from "../../cel-policy/index.js";
import type { CelEntry, Problem, ResourceEntry } from "../../config/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { LoadError } from "../../loader/load-error.js";
import type { Policy } from "../../policy/index.js";
import type { ClusterWorld } from "../../world/cluster.js";
import { isAny, type WorldUse } from "../../world/needs.js";
import { type World, worldOf } from "../../world/world.js";
import { prepareInline } from "./inline.js";
import { prepareDocuments } from "./prepare.js";

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
  const prepared = prepareInline(entry.cel, {
    compiler: world.compiler,
    ...(world.schemas !== undefined && { schemas: world.schemas() }),
    ...(entry.validationActions !== undefined && { validationActions: entry.validationActions }),
  });
  if (!("errors" in prepared)) {
    for (const { path, text } of prepared.warnings) {
      warn(entry.origin.warning(["cel", ...path], text, innerPlace(text)));
    }
    return prepared.policy(entry.id, worldAround(prepared, [], world));
  }
  const problems = prepared.errors.map(({ path, text }) =>
    entry.origin.error(["cel", ...path], text, innerPlace(text)),
  );
  throw new LoadError(`the policy is invalid: ${firstLine(prepared.errors[0]?.text)}`, problems);
}

/**
 * A policy from the documents of a `resource:` entry: all policies among them, asked together as the API server does.
 * @throws LoadError with every mistake at its place; one broken policy makes the entry unavailable, since what it forbids is not known
 */
export function loadResource(entry: ResourceEntry, world: CelWorld, warn: (problem: Problem) => void): Policy {
  const prepared = prepareDocuments(entry.documents, {
    compiler: world.compiler,
    ...(world.schemas !== undefined && { schemas: world.schemas }),
    ...(entry.validationActions !== undefined && { validationActions: entry.validationActions }),
  });
  const { problems, names, objects } = prepared;
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new LoadError(`the policy is invalid: ${firstLine(errors[0]?.message)}`, errors);
  if (names.length === 0) {
    const message = "the files hold no policy: expected a ValidatingAdmissionPolicy among their documents";
    throw new LoadError(message, [entry.origin.error(["resource"], message)]);
  }
  for (const problem of problems) warn(problem);
  return prepared.policy(entry.id, worldAround(prepared, objects, world));
}

/** Who asks a cluster for nothing does not depend on one. The versions of resources alone are no reason to. */
function worldAround({ asks, needs }: WorldUse, objects: readonly JsonObject[], { cluster, now }: CelWorld): World {
  const asked = { ...(cluster?.absent ? needs : asks), equivalents: false };
  return worldOf(objects, now, isAny(asked) ? cluster : undefined);
}

/** The place of an expression's error inside the expression, when the text names one as the engine does. */
function innerPlace(text: string): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = /<input>:(\d+):(\d+):/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

const firstLine = (text = ""): string => text.split("\n")[0] ?? "";
