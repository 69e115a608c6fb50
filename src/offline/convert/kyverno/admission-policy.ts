/** A converted policy as ValidatingAdmissionPolicies with their bindings, where nothing of Kyverno's is needed. */
import type { Path } from "../../../config/documents/problem.js";
import { autogenOf } from "../../../kinds/kyverno/autogen/autogen.js";
import type { ConvertedDocument } from "../../../kinds/kyverno/convert/index.js";
import type { PolicySpec } from "../../../kinds/kyverno/resource.js";
import type { ExpressionCompiler } from "../../../kinds/shared/index.js";
import { prepareInline } from "../../../kinds/validating-admission-policy/index.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf } from "../../../kubernetes/object.js";

const API_VERSION = "admissionregistration.k8s.io/v1";

/** The policies of one document, of which those for controllers have names of their own. */
export interface AdmissionPolicies {
  readonly documents: readonly JsonObject[];
  /** Entries of policies.yaml that say the same. */
  readonly entries: Readonly<Record<string, JsonObject>>;
  /** Mistakes at places of the document. */
  readonly errors: readonly { readonly path: Path; readonly text: string }[];
}

/** @param rule the old rule, whose parameters stay */
export function admissionPolicies(
  { value }: ConvertedDocument,
  rule: unknown,
  compiler: ExpressionCompiler,
): AdmissionPolicies {
  if (value.kind === "MutatingPolicy" || value.kind === "NamespacedMutatingPolicy")
    return {
      documents: [],
      entries: {},
      errors: [{ path: [], text: "a rule that changes objects becomes a MutatingPolicy: convert it without --to" }],
    };
  const spec = value.spec as PolicySpec;
  const cel = member(member(rule, "validate"), "cel");
  const [paramKind, paramRef] = [member(cel, "paramKind"), member(cel, "paramRef")];
  const namespace = namespaceOf(value);
  const { validationActions = [], webhookConfiguration: _, evaluation: __, autogen: ___, ...own } = spec;
  const variants = [{ name: "", spec: own }, ...autogenOf(spec)];
  const made = variants.map(({ name, spec: each }) => {
    const policyName = name === "" ? nameOf(value) : `${nameOf(value)}-${name}`;
    const {
      matchConstraints,
      matchConditions,
      variables,
      validations,
      auditAnnotations,
      failurePolicy = "Fail",
    } = each;
    const policySpec: JsonObject = {
      failurePolicy,
      ...(isObject(paramKind) && { paramKind }),
      matchConstraints,
      ...(matchConditions && { matchConditions }),
      ...(variables && { variables }),
      ...(validations && { validations: validations.map(onOneLine) }),
      ...(auditAnnotations && { auditAnnotations }),
    };
    const metadata = { ...(isObject(value.metadata) ? value.metadata : {}), name: policyName, namespace: undefined };
    const matchResources = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
    const binding = {
      policyName,
      validationActions,
      ...(isObject(paramRef) && { paramRef }),
      ...(namespace !== "" && { matchResources }),
    };
    const prepared = prepareInline(policySpec, { compiler, validationActions });
    return {
      documents: [
        { apiVersion: API_VERSION, kind: "ValidatingAdmissionPolicy", metadata: present(metadata), spec: policySpec },
        {
          apiVersion: API_VERSION,
          kind: "ValidatingAdmissionPolicyBinding",
          metadata: { name: policyName },
          spec: binding,
        },
      ],
      entry: [
        policyName,
        { cel: policySpec, ...(validationActions.join() !== "Deny" && { validationActions }) },
      ] as const,
      errors:
        "errors" in prepared
          ? prepared.errors.map(({ path, text, mistakes }) => ({
              path: ["spec", ...path],
              text: mistakes?.[0]?.message ?? text,
            }))
          : [],
    };
  });
  return {
    documents: made.flatMap(({ documents }) => documents),
    entries: Object.fromEntries(made.map(({ entry }) => entry)),
    errors: made.flatMap(({ errors }) => errors),
  };
}

const present = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, each]) => each !== undefined));

/** Kubernetes refuses messages of several lines. */
const onOneLine = <T extends { readonly message?: string }>(validation: T): T =>
  validation.message === undefined
    ? validation
    : { ...validation, message: validation.message.trim().replaceAll(/\s*[\r\n]+\s*/g, " ") };
