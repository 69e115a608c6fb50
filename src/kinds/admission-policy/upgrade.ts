/**
 * Whether a newer release of Kubernetes decides otherwise under a policy: requests are made for what stands in its expressions, and both releases are asked
 * about them. A request that they decide differently is the witness.
 */
import { UpgradeSamples, type UpgradeSpot } from "../../cel/index.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { stringifyJson } from "../../data/json.js";
import { member, nameOf, text } from "../../kubernetes/object.js";
import type { Policy } from "../../policy/policy.js";
import type { DocumentKind, InlineKind, PreparedEntry } from "../kind.js";
import { isExplainable } from "../shared/explain/explainable.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";
import { type Evaluated, type UpgradedPolicy, WitnessSearch, worldWith } from "./upgrade-witness.js";

/**
 * A kind that says of each policy, in a warning or a note, whether a newer release decides otherwise.
 * @param after the same kind, as the newer release has it
 */
export function upgradedKind(before: DocumentKind, after: DocumentKind, release: string): DocumentKind {
  const isPolicy = ({ value }: SourceDocument): boolean =>
    before.policies.some(({ kind }) => kind === text(value, "kind"));
  return {
    ...before,
    prepare(documents, warn) {
      const prepared = before.prepare(documents, warn);
      const { own } = documents;
      for (const document of own.filter(isPolicy)) {
        const name = nameOf(document.value);
        const alone = { ...documents, own: own.filter((each) => each === document || !isPolicy(each)) };
        const specs = own.flatMap(({ value }) => member(value, "spec") as CommonBindingSpec);
        const policy = {
          spec: member(document.value, "spec") as CommonPolicySpec,
          bindings: specs.filter(({ policyName }) => policyName === name),
          before: evaluated(before.prepare(alone, SILENT)),
          after: evaluated(after.prepare(alone, SILENT)),
        };
        warn(upgradeProblem(document, ["spec"], policy, release));
      }
      return prepared;
    },
  };
}

/** The same for policies that are written in their entry. */
export const upgradedInline = (before: InlineKind, after: InlineKind, release: string): InlineKind => ({
  prepare(entry, warn) {
    const prepared = before.prepare(entry, warn);
    const both = { before: evaluated(prepared), after: evaluated(after.prepare(entry, SILENT)) };
    const { document, path } = entry.origin;
    warn(
      upgradeProblem(
        document,
        [...path, "cel"],
        { spec: entry.cel as CommonPolicySpec, bindings: [], ...both },
        release,
      ),
    );
    return prepared;
  },
});

const SILENT = (): void => {};

/** Policies of these kinds are made at once. */
const evaluated =
  (prepared: PreparedEntry): Evaluated =>
  (world) =>
    prepared.policy(world) as Policy;

const COST: UpgradeSpot = "may reach the limit of its cost";

/** The answer about a policy: a warning with a witness, or a note. */
function upgradeProblem(
  document: Pick<SourceDocument, "problem">,
  root: Problem["path"],
  policy: UpgradedPolicy,
  release: string,
): Problem {
  const example = policy.before(worldWith([], "allow"));
  const placed = isExplainable(example) ? example.explained().flatMap(({ variants }) => variants) : [];
  const parts = placed.flatMap(({ expressions }) =>
    expressions.flatMap(({ path, name, expression: { program } }) =>
      program ? [{ name: path.startsWith("spec.variables") ? name : undefined, program }] : [],
    ),
  );
  const samples = new UpgradeSamples(parts);
  const { spots } = samples;
  const [first] = spots;
  const told = (severity: Problem["severity"], message: string, path: Problem["path"] = []): Problem =>
    document.problem(severity, [...root, ...path], message, undefined, { code: "KUBERNETES_UPGRADE" });
  if (first === undefined) return told("note", `Kubernetes ${release} decides everything as before`);
  const isCostOnly = spots.size === 1 && first === COST;
  const search = new WitnessSearch(policy, samples);
  const found = search.run(isCostOnly);
  const causes = [...spots].filter((spot) => spot !== COST);
  const why = (causes.length === 0 ? [...spots] : causes).join(", and ");
  if (found === undefined)
    return told(
      "note",
      isCostOnly
        ? `Kubernetes ${release} decides everything as before, but for requests so large that an expression reaches the limit of its cost`
        : `no request was found that Kubernetes ${release} decides otherwise, in ${search.tried} that were tried; an expression ${why}`,
    );
  const { witness, before, after } = found;
  const field = [...before.fields, ...after.fields].find(
    (each) => !(before.fields.includes(each) && after.fields.includes(each)),
  );
  const message = `Kubernetes ${release} decides otherwise: an expression ${why}\nbefore: ${before.words}\nthen: ${after.words}\nasked about: ${stringifyJson(witness)}`;
  return { ...told("warning", message, field === undefined ? [] : pathOf(field)), witness };
}

/** `spec.validations[0].expression` below the spec. */
const pathOf = (field: string): Problem["path"] =>
  Array.from(field.replace(/^spec\./, "").matchAll(/\w+/g), ([word]) => (/^\d+$/.test(word) ? Number(word) : word));
