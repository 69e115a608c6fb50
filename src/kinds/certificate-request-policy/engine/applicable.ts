/** Finds the policies that decide a request: those that select it, and that its requester may use (spec certificate-request-policy.md 3.2, 3.3). */
import { Waiting } from "../../../cel/index.js";
import { goQuote } from "../../../kubernetes/field-error.js";
import { labelsOf } from "../../../kubernetes/object.js";
import type { RequestWorld } from "../../../world/request-world.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import { requesterOf, useOf } from "../binding.js";
import type { CertificateRequest, ReviewInput } from "./certificate-request.js";
import type { CompiledPolicy, CompiledSelector } from "./compiled-policy.js";
import type { PolicyAccount, UndecidedReview } from "./decision.js";

// Policies that select a request (spec certificate-request-policy.md 3.2).

/** The kind that cert-manager assumes for an issuer with only a name. */
const DEFAULT_KIND = "Issuer";
const DEFAULT_GROUP = "cert-manager.io";

/** Whether a policy selects the requested issuer. */
function matchesIssuer({ name, kind, group }: CompiledSelector, { issuerRef }: CertificateRequest): boolean {
  return (
    (name === undefined || name.matches(issuerRef.name)) &&
    (kind === undefined || kind.matches(issuerRef.kind === "" ? DEFAULT_KIND : issuerRef.kind)) &&
    (group === undefined || group.matches(issuerRef.group === "" ? DEFAULT_GROUP : issuerRef.group))
  );
}

/** Whether a policy selects the name of the request's namespace; its labels are checked separately. */
function matchesNamespaceName({ namespaces }: CompiledSelector, { namespace }: CertificateRequest): boolean {
  return namespaces === undefined || namespaces.some((each) => each.matches(namespace));
}

/** Steps of work for comparing a policy's selectors, beside the texts' length. */
const STEPS_PER_SELECTOR = 100;

/** Steps of work for an access review of a policy, beside the requester's groups. */
const STEPS_PER_REVIEW = 1_000;

/** Names, issuer and usages together, in characters: they are compared with the patterns of every policy. Real ones have a few hundred. */
const LONGEST_NAMES = 2 ** 16;

/** Most characters of the requester's name and groups, which go into every access review. Five hundred groups have about 20,000. */
const LONGEST_IDENTITY = 2 ** 18;

type Found = readonly CompiledPolicy[] | UndecidedReview | Waiting;

/** One request's policies (disposable); attempts share its results. */
export class Applicable {
  readonly #all: readonly CompiledPolicy[];
  readonly #request: CertificateRequest;
  readonly #givenLabels: ReviewInput["namespaceLabels"];
  readonly #selected = new Set<CompiledPolicy>();
  /** Number of policies whose selectors were checked. */
  #seen = 0;
  /** Whether the requester may use them; missing while not known. */
  readonly #answers = new Map<CompiledPolicy, boolean>();
  #bound: readonly CompiledPolicy[] | undefined;
  /** One object for all policies: an authorizer recognizes it. */
  readonly #requester: ReturnType<typeof requesterOf>;
  /** The reason why the request can't be compared at all. */
  readonly #tooLong: UndecidedReview | undefined;

  constructor(all: readonly CompiledPolicy[], { request, namespaceLabels }: ReviewInput) {
    this.#all = all;
    this.#request = request;
    this.#givenLabels = namespaceLabels;
    this.#tooLong = tooLong(request);
    this.#requester = requesterOf(request);
  }

  /** The account of one policy. */
  accountOf(compiled: CompiledPolicy): Pick<PolicyAccount, "selected" | "bound"> {
    return { selected: this.#selected.has(compiled), bound: this.#answers.get(compiled) };
  }

  /** The policies that decide the request, ready or not. */
  policies(attempt: Attempt): Found {
    if (this.#bound !== undefined) return this.#bound;
    const problem = this.#tooLong ?? this.#select(attempt);
    if (problem !== undefined) return problem;
    const bound = this.#boundOf(attempt);
    if (Array.isArray(bound)) this.#bound = bound;
    return bound;
  }

  /** Checks the policies' selectors; returns the reason for an early end. */
  #select(attempt: Attempt): UndecidedReview | Waiting | undefined {
    // By issuer first, by namespace then: a missing Namespace stops the review only where its labels are needed.
    for (; this.#seen < this.#all.length; this.#seen += 1) {
      const compiled = this.#all[this.#seen];
      if (compiled === undefined) break;
      attempt.count(STEPS_PER_SELECTOR + this.#request.issuerRef.name.length);
      if (attempt.leavesOff()) return Waiting.INSTANCE;
      const { selector } = compiled;
      if (!matchesIssuer(selector, this.#request) || !matchesNamespaceName(selector, this.#request)) continue;
      const labelled = this.#hasLabels(compiled, attempt.world);
      if (typeof labelled !== "boolean") return labelled;
      if (labelled) this.#selected.add(compiled);
    }
    return undefined;
  }

  #hasLabels({ namespaceLabels }: CompiledPolicy, world: RequestWorld): boolean | UndecidedReview | Waiting {
    if (namespaceLabels === undefined) return true;
    const labels = this.#givenLabels ?? this.#labels(world);
    if (labels instanceof Waiting) return labels;
    if (labels instanceof LookupFailure)
      return failed(`failed to get request's namespace to determine namespace selector: ${labels.message}`);
    if (namespaceLabels.error !== undefined)
      return failed(`failed to parse namespace label selector: ${namespaceLabels.error}`);
    return namespaceLabels.matches(labels);
  }

  #labels(world: RequestWorld): Readonly<Record<string, string>> | LookupFailure | Waiting {
    const { namespace: name } = this.#request;
    const found = world.namespace(name);
    if (found instanceof Waiting || found instanceof LookupFailure) return found;
    return found === undefined ? new LookupFailure(`namespaces ${goQuote(name)} not found`) : labelsOf(found);
  }

  /** The selected ones that the requester may use. All access reviews are sent before an answer is awaited. */
  #boundOf(attempt: Attempt): Found {
    let waits = false;
    for (const compiled of this.#selected) {
      if (this.#answers.has(compiled)) continue;
      const { namespace } = this.#request;
      const { name } = compiled.policy;
      attempt.count(STEPS_PER_REVIEW + this.#request.groups.length);
      if (attempt.leavesOff()) return Waiting.INSTANCE;
      const answer = attempt.world.authorizeBy(`use ${name}`, useOf(this.#requester, namespace, name));
      if (answer instanceof Waiting) waits = true;
      else if (answer.decision === "allow") this.#answers.set(compiled, true);
      else if (answer.error !== undefined) return failed(`failed to create subjectaccessreview: ${answer.error}`);
      else this.#answers.set(compiled, false);
    }
    return waits ? Waiting.INSTANCE : [...this.#selected].filter((compiled) => this.#answers.get(compiled) === true);
  }
}

const failed = (cause: string): UndecidedReview => ({
  result: "Error",
  cause: `failed to perform predicate on policies: ${cause}`,
});

/** Checks that a request is small enough to be compared, and reviewed, once for every policy. */
function tooLong(request: CertificateRequest): UndecidedReview | undefined {
  const { name, namespace, issuerRef, usages, username, uid, groups, extra } = request;
  const names = lengthOf([name, namespace, issuerRef.name, issuerRef.kind, issuerRef.group, ...usages]);
  if (names > LONGEST_NAMES) return tooMuch("names, issuer and usages", names, LONGEST_NAMES);
  const identity = lengthOf([username, uid, ...groups]) + lengthOf(Object.entries(extra).flat(2));
  return identity > LONGEST_IDENTITY ? tooMuch("user, groups and extra values", identity, LONGEST_IDENTITY) : undefined;
}

const tooMuch = (what: string, characters: number, limit: number): UndecidedReview => ({
  result: "Error",
  cause: `the request's ${what} have ${characters} characters, more than ${limit}`,
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 1, 0);
