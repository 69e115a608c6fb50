/**
 * The API server's answer to writing a policy or binding, from a complete case: the object, its former state, its writer (spec
 * validating-admission-policy.md 1.5).
 */

import { isSince, type KubernetesVersion } from "../../../cel/index.js";
import { type Server, versionOfNewExpressions } from "../../../kinds/admission-policy/server.js";
import type { ExpressionCompiler } from "../../../kinds/shared/expressions/expression-compiler.js";
import { compilePolicy } from "../../../kinds/validating-admission-policy/compiled-policy.js";
import { readDocument } from "../../../kinds/validating-admission-policy/read.js";
import type {
  BindingResource,
  PolicyResource,
  PolicySpec,
} from "../../../kinds/validating-admission-policy/resource.js";
import { validateBinding } from "../../../kinds/validating-admission-policy/validate-binding.js";
import { validatePolicy } from "../../../kinds/validating-admission-policy/validate-policy.js";
import { builtinNamespaced } from "../../../kubernetes/builtin-kinds.js";
import { type FieldError, forbidden } from "../../../kubernetes/field-error.js";
import { parseApiVersion } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, nameOf, text } from "../../../kubernetes/object.js";
import { answered, refusedUnread, type StaticResult } from "../admission-policy/static-result.js";

/** Validates a case `{object, old, user, policies}`. A `user` may read nothing; without one a superuser writes. */
export function validateCase(written: JsonObject, server: Server<ExpressionCompiler>): StaticResult {
  const read = readDocument(written.object);
  if (read.kind === "unreadable" || read.kind === "other") return refusedUnread(read, written.object);
  const old = written.old === undefined ? undefined : readDocument(written.old);
  const user = text(written, "user");
  const update = old !== undefined;
  let errors: FieldError[];
  if (read.kind === "policy") {
    const before = old?.kind === "policy" ? old.resource : undefined;
    errors = policyErrors(read.resource, before, server);
    if (errors.length === 0 && user !== "") errors = policyPermission(read.resource, before, user);
  } else {
    const before = old?.kind === "binding" ? old.resource : undefined;
    errors = bindingErrors(read.resource, before, server);
    if (errors.length === 0 && user !== "") errors = bindingPermission(read.resource, before, user, written.policies);
  }
  return answered(read.resource, errors, { version: server.version, update });
}

function policyErrors(
  policy: PolicyResource,
  old: PolicyResource | undefined,
  { version, compiler }: Server<ExpressionCompiler>,
): FieldError[] {
  // A stored policy may keep functions that are too new for new expressions.
  const kept = new Set(old && expressionsOf(old.spec));
  const compile: ExpressionCompiler["compile"] = (source, ...rest) =>
    compiler(kept.has(source) ? version : versionOfNewExpressions(version)).compile(source, ...rest);
  const compiled = compilePolicy(policy.spec, { compile }, "written");
  const same = (pick: (spec: PolicySpec) => unknown): boolean =>
    old !== undefined && JSON.stringify(pick(old.spec)) === JSON.stringify(pick(policy.spec));
  const ignoreConditions = same((spec) => spec.matchConditions) && same((spec) => spec.paramKind);
  return validatePolicy(policy, compiled, { ignoreConditions, version, update: old !== undefined });
}

function expressionsOf(spec: PolicySpec): string[] {
  const written = [
    ...(spec.matchConditions ?? []).map(({ expression }) => expression),
    ...(spec.variables ?? []).map(({ expression }) => expression),
    ...(spec.validations ?? []).flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
    ...(spec.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
  ];
  return written.filter((expression) => expression !== undefined);
}

function bindingErrors(
  binding: BindingResource,
  old: BindingResource | undefined,
  { version }: Server<ExpressionCompiler>,
): FieldError[] {
  const errors = validateBinding(binding, { version, update: old !== undefined });
  if (old !== undefined && isSince(version, UNCHANGED_KEPT_SINCE)) {
    return errors.filter((error) => !isKeptMissing(error, old));
  }
  if (old === undefined || (old.spec.validationActions ?? []).length > 0) return errors;
  return errors.map((error) =>
    error.path.join(".") === "spec.validationActions" && error.text === "Required value"
      ? { ...error, text: "Required value: at least one validation action is required" }
      : error,
  );
}

/** The first version that lets a binding keep what it has been without. */
const UNCHANGED_KEPT_SINCE: KubernetesVersion = "1.38";

/** Whether an error is about a member that the former binding was without, too. */
function isKeptMissing({ path, text: found }: FieldError, { spec }: BindingResource): boolean {
  if (found !== "Required value") return false;
  const at = path.join(".");
  if (at === "spec.policyName") return (spec.policyName ?? "") === "";
  return at === "spec.validationActions" && (spec.validationActions ?? []).length === 0;
}

/** Go's text of a user with only a name. */
const printedUser = (user: string): string => `&{${user}  [] map[]}`;

/** The writer's permission for a paramKind: to read all objects of it. */
function policyPermission({ spec }: PolicyResource, old: PolicyResource | undefined, user: string): FieldError[] {
  const { paramKind } = spec;
  if (paramKind === undefined) return [];
  if (old !== undefined && JSON.stringify(old.spec.paramKind) === JSON.stringify(paramKind)) return [];
  const { kind = "", apiVersion = "" } = paramKind;
  const detail = `user ${printedUser(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return [forbidden(["spec", "paramKind"], detail)];
}

/** The writer's permission for a paramRef: to read the objects that it refers to. */
function bindingPermission(
  { spec }: BindingResource,
  old: BindingResource | undefined,
  user: string,
  policies: unknown,
): FieldError[] {
  const { paramRef, policyName = "" } = spec;
  if (paramRef === undefined) return [];
  const unchanged = old !== undefined && JSON.stringify(old.spec.paramRef) === JSON.stringify(paramRef);
  if (unchanged && old.spec.policyName === policyName) return [];
  const verb = (paramRef.name ?? "") === "" ? "list" : "get";
  const who = printedUser(user);
  const everywhere = `to determine minimum required permissions and user ${who} does not have "${verb}" permission for all groups, versions and resources`;
  const refused = (detail: string): FieldError[] => [forbidden(["spec", "paramRef"], detail)];

  const policy = (Array.isArray(policies) ? policies : []).find(
    (each) => isObject(each) && nameOf(each) === policyName,
  );
  if (policy === undefined) return refused(`unable to get policy ${policyName} ${everywhere}`);
  const read = readDocument(policy);
  const paramKind = read.kind === "policy" ? read.resource.spec.paramKind : undefined;
  if (paramKind !== undefined) {
    const { apiVersion = "", kind = "" } = paramKind;
    const version = parseApiVersion(apiVersion);
    if (version === undefined || builtinNamespaced({ ...version, kind }) === undefined) {
      return refused(`unable to resolve paramKind &{${apiVersion} ${kind}} ${everywhere}`);
    }
  }
  return refused(`user ${who} does not have "${verb}" permission on the object referenced by paramRef`);
}
