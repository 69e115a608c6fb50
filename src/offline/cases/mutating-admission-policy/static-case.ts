/** The API server's answer to writing a new MutatingAdmissionPolicy or binding. */
import { type Server, versionOfNewExpressions } from "../../../kinds/admission-policy/server.js";
import { compilePolicy } from "../../../kinds/mutating-admission-policy/compiled-policy.js";
import type { MutationCompilers } from "../../../kinds/mutating-admission-policy/compilers.js";
import { readDocument } from "../../../kinds/mutating-admission-policy/read.js";
import { validateBinding } from "../../../kinds/mutating-admission-policy/validate-binding.js";
import { validatePolicy } from "../../../kinds/mutating-admission-policy/validate-policy.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { answered, refusedUnread, type StaticResult } from "../admission-policy/static-result.js";

/** Validates a case `{object}`. */
export function validateMutatingCase({ object }: JsonObject, server: Server<MutationCompilers>): StaticResult {
  const read = readDocument(object);
  if (read.kind === "unreadable" || read.kind === "other") return refusedUnread(read, object);
  if (read.kind === "binding") return answered(read.resource, validateBinding(read.resource, server), server);
  const compilers = server.compiler(versionOfNewExpressions(server.version));
  const compiled = compilePolicy(read.resource.spec, compilers, "written");
  return answered(read.resource, validatePolicy(read.resource, compiled, server), server);
}
