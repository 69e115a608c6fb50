/** Writes reports in the cluster where they have changed, and deletes them where no objection is left. */
import { ApiError, isConflict } from "../../kubernetes/client/errors.js";
import { objectPages } from "../../kubernetes/client/object-pages.js";
import { collectionPath, objectPath, type ResourcePlace } from "../../kubernetes/client/paths.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { ReportedResource } from "../../offline/reports/finding.js";
import type { AuditCluster } from "./audit-kinds.js";
import { MAX_PROBLEMS, MAX_PROBLEMS_OF_NAMESPACE } from "./audit-limits.js";
import {
  AUTHOR_LABEL,
  CONTENT_ANNOTATION,
  contentOf,
  MANAGED_BY,
  type ObjectReport,
  type ReportAuthor,
  reportName,
  uidOfReport,
} from "./object-report.js";
import type { Pace } from "./pace.js";
import type { SeenObjects } from "./seen-objects.js";

/** Counts of a round's reports. */
export interface ReportCounts {
  readonly applied: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** Problems of writing. */
  readonly problems: readonly string[];
}

const FORBIDDEN = 403;
const NOT_FOUND = 404;

/** Options of a round. */
export interface WrittenRound {
  /** The namespace of reports; `""`: all, and cluster-scoped reports. */
  readonly namespace: string;
  /** Whether the object with this uid is this replica's. */
  readonly isOwn: (uid: string) => boolean;
  /** Whether reports are deleted: not while a policy that may have objections can't be evaluated. */
  readonly mayDelete: boolean;
  readonly pace: Pace;
  readonly signal: AbortSignal;
}

/** Writes the reports of one author in one API group. */
export class ReportWriter {
  readonly #cluster: AuditCluster;
  readonly #author: ReportAuthor;
  readonly #seen: SeenObjects;
  #applied = 0;
  #deleted = 0;
  #unchanged = 0;
  #problems: string[] = [];
  /** Number of them by namespace: an unwritable namespace must not hide others' problems. */
  #problemsOf = new Map<string, number>();
  /** Number of problems that are only counted: many objects have the same cause. */
  #more = 0;
  /** Whether reports can be read: otherwise none are written, since each would fail. */
  #isUsable = false;
  #round: WrittenRound | undefined;
  #signal: AbortSignal = new AbortController().signal;

  /** @param seen remembers the content of each object's report */
  constructor(cluster: AuditCluster, author: ReportAuthor, seen: SeenObjects) {
    this.#cluster = cluster;
    this.#author = author;
    this.#seen = seen;
  }

  /** Begins a round: reads existing reports, of an earlier process or of the objects' former replica. */
  async begin(round: WrittenRound): Promise<void> {
    this.#round = round;
    this.#signal = round.signal;
    this.#applied = this.#deleted = this.#unchanged = this.#more = 0;
    this.#problems = [];
    this.#problemsOf = new Map();
    this.#isUsable = await this.#eachReport(round, (_, uid, annotations) => {
      const place = this.#seen.add(uid);
      if (place >= 0) this.#seen.setReport(place, contentOf(text(annotations, CONTENT_ANNOTATION)));
    });
  }

  /** Takes the report on an object; `undefined`: none. */
  take(resource: ReportedResource, report: ObjectReport | undefined, place: number): Promise<void> | undefined {
    if (!this.#isUsable) {
      if (report !== undefined) this.#evaluateAgain(resource.uid);
      return undefined;
    }
    const before = place < 0 ? 0 : this.#seen.reportOf(place);
    if (report === undefined) {
      if (before === 0) return undefined;
      if (this.#round?.mayDelete === true) return this.#delete(resource.namespace, resource.uid);
      // It is deleted when all policies can be evaluated again.
      this.#evaluateAgain(resource.uid);
      return undefined;
    }
    if (report.content === before) {
      this.#unchanged += 1;
      return undefined;
    }
    return this.#apply(report);
  }

  /**
   * Ends a round: deletes reports on objects that were deleted, or that no policy matches any more.
   * @param isComplete whether all objects were listed
   */
  async end(isComplete: boolean): Promise<ReportCounts> {
    const round = this.#round;
    if (isComplete && this.#isUsable && round?.mayDelete === true && !round.signal.aborted) {
      const stale: { readonly namespace: string; readonly uid: string }[] = [];
      await this.#eachReport(round, (namespace, uid) => {
        const place = this.#seen.find(uid);
        if (place < 0 || !this.#seen.isMet(place)) stale.push({ namespace, uid });
      });
      for (const { namespace, uid } of stale) {
        await round.pace.step();
        await this.#delete(namespace, uid);
      }
    }
    if (this.#more > 0) this.#problems.push(`${this.#more} more reports could not be written`);
    return {
      applied: this.#applied,
      deleted: this.#deleted,
      unchanged: this.#unchanged,
      problems: this.#problems,
    };
  }

  async #apply({ resource, body, content }: ObjectReport): Promise<void> {
    const { http } = this.#cluster;
    const { namespace, uid } = resource;
    try {
      // A report of that name may belong to another client, which keeps it.
      const options = { fieldManager: MANAGED_BY, force: false };
      await http.apply(this.#pathOf(namespace, uid), body, options, this.#signal);
      this.#applied += 1;
      const place = this.#seen.find(uid);
      if (place >= 0) this.#seen.setReport(place, content);
    } catch (error) {
      // The object is being deleted, or was deleted meanwhile, with its namespace.
      if (error instanceof ApiError && namespace !== "" && isAboutNamespace(error)) return;
      const theirs = isConflict(error) ? "a report of that name belongs to another client: " : "";
      this.#problem(`report of ${nameFor(resource)}: ${theirs}${messageOf(error)}`, namespace);
      this.#evaluateAgain(uid);
    }
  }

  async #delete(namespace: string, uid: string): Promise<void> {
    const { http } = this.#cluster;
    try {
      await http.delete(this.#pathOf(namespace, uid), {}, this.#signal);
      this.#deleted += 1;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === NOT_FOUND)) {
        this.#problem(`report ${uid}: ${messageOf(error)}`, namespace);
        this.#evaluateAgain(uid);
        return;
      }
    }
    const place = this.#seen.find(uid);
    if (place >= 0) this.#seen.setReport(place, 0);
  }

  /** Makes the next round evaluate an object again whose report could not be written. */
  #evaluateAgain(uid: string): void {
    const place = this.#seen.find(uid);
    if (place >= 0) this.#seen.evaluated(place, 0, 0, 0);
  }

  /** Runs over all reports of this author; failures are problems. */
  async #eachReport(
    { namespace, isOwn, pace }: WrittenRound,
    call: (namespace: string, uid: string, annotations: unknown) => void,
  ): Promise<boolean> {
    const scopes = namespace === "" ? ["", "namespaces"] : ["namespaces"];
    for (const scope of scopes) {
      const place = this.#placeFor(scope);
      try {
        const query = { labelSelector: `${AUTHOR_LABEL}=${this.#author.author}` };
        for await (const { items } of objectPages(this.#cluster, place, namespace, query)) {
          await pace.step();
          for (const item of items) {
            const uid = uidOfReport(nameOf(item), this.#author.author);
            if (uid !== undefined && isOwn(uid))
              call(namespaceOf(item), uid, member(member(item, "metadata"), "annotations"));
          }
        }
      } catch (error) {
        this.#problem(`reports cannot be read: ${messageOf(error)} (${collectionPath(place, "")})`);
        return false;
      }
    }
    return true;
  }

  #pathOf(namespace: string, uid: string): string {
    return objectPath(this.#placeFor(namespace), namespace, reportName(uid, this.#author.author));
  }

  /** @param namespace `""`: of cluster-scoped objects */
  #placeFor(namespace: string): ResourcePlace {
    const { flavour, namespaced, clustered } = this.#author.api;
    const { group, version } = parseApiVersion(flavour) ?? { group: flavour, version: "" };
    return { group, version, plural: (namespace === "" ? clustered : namespaced).plural };
  }

  #problem(message: string, namespace = ""): void {
    const before = this.#problemsOf.get(namespace) ?? 0;
    this.#problemsOf.set(namespace, before + 1);
    const isOneTooMany = namespace !== "" && before >= MAX_PROBLEMS_OF_NAMESPACE;
    if (!isOneTooMany && this.#problems.length < MAX_PROBLEMS) this.#problems.push(message);
    else this.#more += 1;
  }
}

/** Whether the error is about a namespace that was or is being deleted, and not about the kind of reports. */
const isAboutNamespace = ({ status, message }: ApiError): boolean =>
  status === NOT_FOUND
    ? !/the server could not find the requested resource/.test(message)
    : status === FORBIDDEN && /because it is being terminated/.test(message);

const nameFor = ({ kind, namespace, name }: ReportedResource): string =>
  namespace === "" ? `${kind}/${name}` : `${namespace}/${kind}/${name}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
