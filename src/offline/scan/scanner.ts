/** Evaluates resources, one after the other, by all judges. */

import type { AuthorizationRequest } from "../../kinds/kyverno/authorization/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { AdmissionRequest } from "../../policy/index.js";
import { countsOf } from "../reports/counts.js";
import type { Finding, Place, ReportedPolicy, ReportedResource, Scanned } from "../reports/finding.js";
import { isNoted, isTold } from "../reports/plain-text.js";
import type { Judge, Subject } from "./judge.js";
import { type RequestCircumstances, requestFor } from "./request.js";
import { judged, type Resource, readResources } from "./resource.js";
import type { Batch } from "./split/batch.js";

/** Most resources of a batch that wait for answers (of a cluster, a registry, a guest) at the same time. */
const AT_A_TIME = 16;

/** The wanted findings: all, or those that are reported one by one, while the rest is only counted. */
export type Wanted = "all" | "failures";

/** Evaluates each resource by all judges. */
export class Scanner {
  /** Policies of all judges. */
  readonly policies: readonly ReportedPolicy[];
  readonly #judges: readonly { readonly judge: Judge; readonly first: number }[];
  readonly #circumstances: RequestCircumstances;
  readonly #wanted: Wanted;

  constructor(judges: readonly Judge[], circumstances: RequestCircumstances, wanted: Wanted) {
    let first = 0;
    this.#judges = judges
      .filter(({ policies }) => policies.length > 0)
      .map((judge) => {
        const placed = { judge, first };
        first += judge.policies.length;
        return placed;
      });
    this.policies = judges.flatMap(({ policies }) => policies);
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
    return this.#ask(
      { kind: "resource", request, object: resource.object },
      { apiVersion, kind, namespace, name, uid, resourceVersion },
      resource.place,
    );
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

  #ask(subject: Subject, resource: ReportedResource, place: Place | undefined): Scanned | Promise<Scanned> {
    const answers = this.#judges.map(({ judge }) => judge.judge(subject));
    if (answers.some((answer) => answer instanceof Promise)) {
      return Promise.all(answers).then((settled) => this.#scanned(resource, settled, place));
    }
    return this.#scanned(resource, answers as (readonly Finding[])[], place);
  }

  #scanned(resource: ReportedResource, answers: readonly (readonly Finding[])[], place: Place | undefined): Scanned {
    const [only = NOTHING] = answers;
    const findings =
      answers.length <= 1
        ? only
        : answers.flatMap((own, index) => {
            const first = this.#judges[index]?.first ?? 0;
            return first === 0 ? own : own.map((finding) => ({ ...finding, policy: finding.policy + first }));
          });
    const counts = countsOf(findings, this.policies);
    if (this.#wanted === "all") return { resource, findings, counts, place };
    const wanted = findings.filter((finding) => isNoted(finding) || isTold(finding, this.policies));
    return { resource, findings: wanted.length === 0 ? NOTHING : wanted, counts, place };
  }
}

const NAMELESS: ReportedResource = { apiVersion: "", kind: "", namespace: "", name: "", uid: "", resourceVersion: "" };
const NOTHING: readonly Finding[] = [];
