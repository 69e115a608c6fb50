/**
 * Type checking of a policy against the schemas of the kinds it matches: `status.typeChecking` (spec validating-admission-policy.md 10). It
 * informs, and never changes a decision.
 */

import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  AUTHORIZER,
  createEnvironment,
  DYN,
  type Environment,
  type EnvironmentOptions,
  hintText,
  NAMESPACE,
  objectType,
  type Type,
} from "../../cel/index.js";
import { type ExpressionMistake, type FieldPath, formatPath } from "../../kubernetes/field-error.js";
import { type GroupVersionKind, parseApiVersion } from "../../kubernetes/names.js";
import { variableType } from "../admission-policy/dialect.js";
import { commonExamined } from "../admission-policy/warnings.js";
import { VARIABLES_TYPE } from "../shared/dialect.js";
import type { ExaminedPolicy } from "../shared/doubts/expression-doubts.js";
import { kindsOfRules, type SchemaSource } from "../shared/type-check/schema-source.js";
import type { SchemaType } from "../shared/type-check/schema-type.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { PolicySpec } from "./resource.js";

/** `status.typeChecking`: a warning about an expression is for all the kinds for which it is wrong. */
export interface TypeChecking {
  readonly expressionWarnings?: readonly { readonly fieldRef: string; readonly warning: string }[];
}

/** Distinguishes the type of `params` from that of `object` when both are of one kind; it is never shown. */
const PARAMS_MARK = "\u2060";

/** A warning about an expression at its place in the policy's spec. */
export interface TypeWarning {
  readonly path: FieldPath;
  readonly warning: string;
  /** A proposed correction, where one is known. */
  readonly hint?: string | undefined;
  /** All that the warning tells, one by one; the first of each kind names it. */
  readonly mistakes: readonly ExpressionMistake[];
}

/** The version whose API server checks. */
type Checking = Pick<EnvironmentOptions, "version" | "behaviour">;

/** Checks a policy; the status as the API server writes it. */
export function typeCheck(spec: PolicySpec, schemas: SchemaSource, checking: Checking = {}): TypeChecking {
  const warnings = typeWarnings(spec, schemas, checking).map(({ path, warning }) => ({
    fieldRef: formatPath(["spec", ...path]),
    warning,
  }));
  return warnings.length === 0 ? {} : { expressionWarnings: warnings };
}

/** The expressions of a policy, to be examined; a message is evaluated after its validation. */
export const examined = (spec: PolicySpec, compiled: CompiledPolicy): ExaminedPolicy => ({
  ...commonExamined(spec, compiled),
  groups: [
    ...compiled.validations.map((expression, i) => [
      { path: ["validations", i, "expression"], expression },
      { path: ["validations", i, "messageExpression"], expression: compiled.messages[i] },
    ]),
    ...compiled.auditAnnotations.map((expression, i) => [
      { path: ["auditAnnotations", i, "valueExpression"], expression },
    ]),
  ],
});

/** Checks a policy; paths begin inside the spec. */
export function typeWarnings(spec: PolicySpec, schemas: SchemaSource, checking: Checking = {}): readonly TypeWarning[] {
  const kinds = kindsOfRules(spec.matchConstraints?.resourceRules ?? [], schemas).flatMap((kind) => {
    const found = schemas.typeOf(kind, kind.kind);
    return found === undefined ? [] : [{ kind, environment: environmentFor(spec, found.typed, schemas, checking) }];
  });
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, i) => {
    const at = ["validations", i];
    return [
      ...warningOf([...at, "expression"], expression ?? "", kinds),
      ...(messageExpression ? warningOf([...at, "messageExpression"], messageExpression, kinds) : []),
    ];
  });
}

function warningOf(
  path: FieldPath,
  expression: string,
  kinds: readonly { readonly kind: GroupVersionKind; readonly environment: Environment }[],
): TypeWarning[] {
  let hint: string | undefined;
  const mistakes: ExpressionMistake[] = [];
  const issues = kinds.flatMap(({ kind, environment }) => {
    const checked = environment.check(expression);
    if (checked.ok) return [];
    hint ??= hintText(environment.hints(expression, checked));
    const name = `${kind.group}/${kind.version}, Kind=${kind.kind}: `;
    for (const [i, { line, column, message }] of checked.issues.entries())
      mistakes.push({ line, column, message: (i === 0 ? name : "") + message.replaceAll(PARAMS_MARK, "") });
    return [`${name}${checked.text.replaceAll(PARAMS_MARK, "")}\n`];
  });
  return issues.length === 0 ? [] : [{ path, warning: issues.join("\n"), hint, mistakes }];
}

function environmentFor(
  spec: PolicySpec,
  object: SchemaType | undefined,
  schemas: SchemaSource,
  { version, behaviour }: Checking,
): Environment {
  const params = paramsType(spec, schemas);
  let environment = createEnvironment({
    flavour: "kubernetes",
    ...(version && { version }),
    ...(behaviour && { behaviour }),
    objectTypes: [...ADMISSION_TYPES, ...(object?.objectTypes ?? []), ...(params?.objectTypes ?? [])],
    variables: [
      { name: "object", type: object?.type ?? DYN },
      { name: "oldObject", type: object?.type ?? DYN },
      { name: "request", type: ADMISSION_REQUEST },
      { name: "namespaceObject", type: NAMESPACE },
      { name: "authorizer", type: AUTHORIZER },
      ...(params === undefined ? [] : [{ name: "params", type: params.type }]),
    ],
  });
  const fields = new Map<string, Type>();
  const withVariables = (): Environment =>
    environment.extend({
      variables: [{ name: "variables", type: objectType(VARIABLES_TYPE) }],
      objectTypes: [{ name: VARIABLES_TYPE, fields: new Map(fields) }],
    });
  environment = withVariables();
  for (const { name = "", expression = "" } of spec.variables ?? []) {
    const checked = environment.check(expression);
    fields.set(name, checked.ok ? variableType(checked.type) : DYN);
    environment = withVariables();
  }
  return environment;
}

/** The type of `params`; `undefined` where it is not declared. */
function paramsType({ paramKind }: PolicySpec, schemas: SchemaSource): SchemaType | undefined {
  if (paramKind === undefined) return undefined;
  const version = parseApiVersion(paramKind.apiVersion ?? "");
  if (version === undefined) return undefined;
  const kind = paramKind.kind ?? "";
  return schemas.typeOf({ ...version, kind }, `${kind}${PARAMS_MARK}`)?.typed ?? { type: DYN, objectTypes: [] };
}
