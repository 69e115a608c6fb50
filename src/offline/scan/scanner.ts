/** Evaluates resources, one after the other, by all judges. */

import { printYaml } from "../../data/print-yaml.js";
import { diffLines, inOrderOf } from "../../kinds/explanation/index.js";
import type { AuthorizationRequest } from "../../kinds/kyverno/authorization/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { AdmissionRequest } from "../../policy/index.js";
import { countsOf } from "../reports/counts.js";
import type { Finding, Place, ReportedPolicy, ReportedResource, Scanned } from "../reports/finding.js";
import { isNoted, isTold } from "../reports/plain-text.js";
import { type Judge, type Mutator, type ResourceSubject, type Subject, withObject } from "./judge.js";
import { type RequestCircumstances, requestFor } from "./request.js";
import { judged, type Resource, readResources } from "./resource.js";
import type { Batch } from "./split/batch.js";

/** Most resources of a batch that wait for answers (of a cluster, a registry, a guest) at the same time. */
const AT_A_TIME = 16;

/** The wanted findings: all, or those that are reported one by one, while the rest is only counted. */
export type Wanted = "all" | "failures";

/** Evaluates each resource by all judges: as the mutators leave it. */
export class Scanner {
  /** Policies of all judges. */
  readonly policies: readonly ReportedPolicy[];
  readonly #mutators: readonly Placed<Mutator>[];
  readonly #judges: readonly Placed<Judge>[];
  readonly #circumstances: RequestCircumstances;
  readonly #wanted: Wanted;

  constructor(
    judges: readonly Judge[],
    circumstances: RequestCircumstances,
    wanted: Wanted,
    mutators: readonly Mutator[] = [],
  ) {
    this.policies = [...mutators, ...judges].flatMap(({ policies }) => policies);
    this.#mutators = placedFrom(mutators, 0);
    this.#judges = placedFrom(
      judges,
      mutators.reduce((count, { policies }) => count + policies.length, 0),
    );
    this.#circumstances = circumstances;
    this.#wanted = wanted;
  }

  /**
   * All resources of a batch, in order.
   * @throws ScanError for an unreadable text
   */
  scanBatch(batch: Batch): Promise<readonly Scanned[]> {
    return this.scanAll(judged(readResources(batch, this.#circumstances.kinds)));
  }

  /** Resources, in order. */
  async scanAll(resources: readonly Resource[]): Promise<readonly Scanned[]> {
    const scanned: Scanned[] = [];
    let waiting: Promise<void>[] = [];
    for (const [index, resource] of resources.entries()) {
      const answer = this.scan(resource);
      if (!(answer instanceof Promise)) scanned[index] = answer;
      else {
        waiting.push(
          answer.then((each) => {
            scanned[index] = each;
          }),
        );
        if (waiting.length < AT_A_TIME) continue;
        await Promise.all(waiting);
        waiting = [];
      }
    }
    await Promise.all(waiting);
    return scanned;
  }

  /** One resource. */
  scan(resource: Resource): Scanned | Promise<Scanned> {
    const request: AdmissionRequest = requestFor(resource, this.#circumstances);
    const { apiVersion, kind, namespace, name, uid, resourceVersion } = resource;
    const subject = { kind: "resource" as const, request, object: resource.object };
    const reported = { apiVersion, kind, namespace, name, uid, resourceVersion };
    if (this.#mutators.length === 0) return this.#ask(subject, reported, resource.place);
    return this.#mutateFirst(subject, reported, resource.place);
  }

  async #mutateFirst(subject: ResourceSubject, resource: ReportedResource, place: Place | undefined): Promise<Scanned> {
    const findings: Finding[] = [];
    let left = subject;
    for (const { placed, first } of this.#mutators) {
      const mutated = await placed.mutate(left);
      findings.push(...moved(mutated.findings, first));
      left = withObject(left, mutated.object);
    }
    const scanned = await this.#ask(left, resource, place, findings);
    const diff = left.object === subject.object ? [] : diffLines(subject.object, left.object);
    if (diff.every(({ kind }) => kind === "same")) return scanned;
    return { ...scanned, changed: { yaml: printYaml(inOrderOf(subject.object, left.object)), diff } };
  }

  /** A payload, which may have a resource's identity. */
  scanPayload(payload: JsonObject, place?: Place): Scanned | Promise<Scanned> {
    const metadata = member(payload, "metadata");
    return this.#ask(
      { kind: "payload", payload },
      {
        apiVersion: text(payload, "apiVersion"),
        kind: text(payload, "kind"),
        namespace: namespaceOf(payload),
        name: nameOf(payload),
        uid: text(metadata, "uid"),
        resourceVersion: text(metadata, "resourceVersion"),
      },
      place,
    );
  }

  /** A request to be authorized; reports have no name for it. */
  scanRequest(request: AuthorizationRequest, place?: Place): Scanned | Promise<Scanned> {
    return this.#ask({ kind: "authorization", request }, NAMELESS, place);
  }

  /** @param findings those of policies that were evaluated before */
  #ask(
    subject: Subject,
    resource: ReportedResource,
    place: Place | undefined,
    findings: readonly Finding[] = NOTHING,
  ): Scanned | Promise<Scanned> {
    const answers = this.#judges.map(({ placed }) => placed.judge(subject));
    if (answers.some((answer) => answer instanceof Promise)) {
      return Promise.all(answers).then((settled) => this.#scanned(resource, findings, settled, place));
    }
    return this.#scanned(resource, findings, answers as (readonly Finding[])[], place);
  }

  #scanned(
    resource: ReportedResource,
    before: readonly Finding[],
    answers: readonly (readonly Finding[])[],
    place: Place | undefined,
  ): Scanned {
    const own = answers.map((each, index) => moved(each, this.#judges[index]?.first ?? 0));
    const [only = NOTHING] = own;
    const judged = own.length <= 1 ? only : own.flat();
    const findings = before.length === 0 ? judged : [...before, ...judged];
    const counts = countsOf(findings, this.policies);
    if (this.#wanted === "all") return { resource, findings, counts, place };
    const wanted = findings.filter((finding) => isNoted(finding) || isTold(finding, this.policies));
    return { resource, findings: wanted.length === 0 ? NOTHING : wanted, counts, place };
  }
}

/** A judge or a mutator, with the place of its first policy among all. */
interface Placed<T> {
  readonly placed: T;
  readonly first: number;
}

/** Those with policies. */
function placedFrom<T extends Pick<Judge, "policies">>(all: readonly T[], start: number): readonly Placed<T>[] {
  let first = start;
  return all
    .filter(({ policies }) => policies.length > 0)
    .map((placed) => {
      const at = { placed, first };
      first += placed.policies.length;
      return at;
    });
}

/** Findings with the places of their policies among all. */
const moved = (findings: readonly Finding[], first: number): readonly Finding[] =>
  first === 0 ? findings : findings.map((finding) => ({ ...finding, policy: finding.policy + first }));

const NAMELESS: ReportedResource = { apiVersion: "", kind: "", namespace: "", name: "", uid: "", resourceVersion: "" };
const NOTHING: readonly Finding[] = [];
