import { namesVariable } from "../../cel/index.js";
import { builtinNamespaced } from "../../kubernetes/builtin-kinds.js";
import { type JsonObject, text } from "../../kubernetes/object.js";
import { NAMESPACE_LABELS, type Needs, type Requirement } from "../../world/needs.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import { prepareParamKind } from "./prepared-binding.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";

/** The label that every Namespace has: its value is known without seeing the Namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/**
 * The questions of a policy to the world, derived from its compiled expressions, its bindings and the documents beside it. The versions of resources are not
 * among them: only requests in another version than the rules name need those.
 */
export function needsOf(
  spec: CommonPolicySpec,
  expressions: readonly (Pick<Expression, "program"> | undefined)[],
  bindings: readonly CommonBindingSpec[],
  objects: readonly JsonObject[],
): Needs {
  const brought = new Set(objects.map((object) => `${text(object, "apiVersion")}/${text(object, "kind")}`));
  const bringsNamespaces = brought.has("v1/Namespace");
  const names = (name: string): boolean =>
    expressions.some((expression) => expression?.program && namesVariable(expression.program.references, name));
  const matches = [spec.matchConstraints, ...bindings.map(({ matchResources }) => matchResources)];
  const labels = matches.flatMap((match) => labelsOf(match?.namespaceSelector));
  const namespaceObject = names("namespaceObject");
  const authorizer = names("authorizer");

  const paramKind = prepareParamKind(spec.paramKind);
  const kinds = typeof paramKind === "object" ? [paramKind] : [];
  // The scope of its objects is needed even if no binding names a namespace.
  const scope = kinds.some(({ kind }) => builtinNamespaced(kind) === undefined);
  const refs = bindings.flatMap(({ paramRef }) => paramRef ?? []);
  const params = refs.length > 0 ? kinds : [];
  const named = params.flatMap(({ kind }) =>
    refs.flatMap(({ name = "", namespace = "" }) => (name === "" ? [] : [{ kind, namespace, name }])),
  );
  const bringsParams = params.some(({ apiVersion, kind }) => brought.has(`${apiVersion}/${kind.kind}`));
  return {
    asks: namespaceObject || labels.length > 0 || authorizer || scope || params.length > 0,
    requires: [
      ...(!bringsNamespaces && labels.some((label) => label !== NAME_LABEL)
        ? [{ ...NAMESPACE_LABELS, ignorable: true as const }]
        : []),
      ...(!bringsNamespaces && namespaceObject ? [{ what: "`namespaceObject`", documents: "Namespaces" }] : []),
      ...(bringsParams ? [] : params.map(parametersOf)),
      ...(authorizer ? [{ what: "`authorizer`" }] : []),
    ],
    parameters: refs.some(({ name = "" }) => name === "") ? params.map(({ kind }) => kind) : [],
    ...(named.length > 0 && { namedParameters: named }),
  };
}

/**
 * Finding parameters is configuring the policy, as matching is: its failure is a matter of `failurePolicy`; a failed question of an expression fails the request.
 * A binding always takes the parameter that it names, so only the kind is a need. */
function parametersOf({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: { readonly kind: string };
}): Requirement {
  const documents = `${kind.kind} of ${apiVersion}`;
  return { what: `parameters (${documents})`, documents: `parameters (${documents})`, ignorable: true };
}

function labelsOf(selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}
