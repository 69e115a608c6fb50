/** Short ways for tests to make policies out of documents and inline specs. */

import type { Problem } from "../../../src/config/documents/problem.js";
import {
  createExpressionCompiler,
  prepareDocuments,
  prepareInline,
} from "../../../src/kinds/validating-admission-policy/index.js";
import type { PreparedDocuments, PrepareOptions } from "../../../src/kinds/validating-admission-policy/prepare.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { Policy } from "../../../src/policy/policy.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { type World, worldOf } from "../../../src/world/world.js";

const compiler = createExpressionCompiler();

/** A world without documents. */
export const worldWith = (more: Partial<World> = {}): World => ({
  resources: new FileResources([], { guessScope: true, synthesiseNamespaces: true }),
  authorizer: NO_OPINION,
  now: () => performance.now(),
  ...more,
});

/** An inline policy. */
export function inline(spec: JsonObject, more: Partial<World> = {}): Policy {
  const prepared = prepareInline(spec, { compiler });
  if ("errors" in prepared) throw new Error(JSON.stringify(prepared.errors));
  return prepared.policy("p", worldWith(more));
}

/** Documents `0.yaml`, `1.yaml` …, whose positions are the lengths of the paths asked for. */
export function prepare(documents: readonly unknown[], more: Partial<PrepareOptions> = {}): PreparedDocuments {
  const written = documents.map((value, i) => ({
    value,
    problem: (severity: Problem["severity"], path: Problem["path"], message: string): Problem => ({
      severity,
      path,
      message,
      file: `${i}.yaml`,
      line: path.length,
      column: 1,
    }),
  }));
  return prepareDocuments(written, { compiler, ...more });
}

/** All policies of documents together, in the world of those documents. */
export const asked = (prepared: PreparedDocuments): Policy =>
  prepared.policy("all", worldOf(prepared.objects, { authorizer: NO_OPINION, now: () => performance.now() }));
