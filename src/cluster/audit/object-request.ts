/** The review of an existing object: as if an unknown user created it. */
import { admissionQuestion } from "../../admission/decode.js";
import { creatorOf } from "../../kubernetes/creator.js";
import { apiVersionOf } from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import type { ReportedResource } from "../../offline/reports/finding.js";
import type { AdmissionRequest, Review } from "../../policy/index.js";
import type { AuditedKind } from "./audit-kinds.js";

const NOBODY: AdmissionRequest["userInfo"] = {};

/** An object of a list, with the fields that lists omit in their items. */
export class AuditedObject {
  readonly reference: ReportedResource;
  readonly #kind: AuditedKind;
  readonly #item: JsonObject;
  #object: JsonObject | undefined;
  #asked: Review | undefined;
  #askedOfGuests: Review | undefined;

  constructor(kind: AuditedKind, item: JsonObject) {
    const metadata = member(item, "metadata");
    this.#kind = kind;
    this.#item = item;
    this.reference = {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      namespace: text(metadata, "namespace"),
      name: text(metadata, "name"),
      uid: text(metadata, "uid"),
      resourceVersion: text(metadata, "resourceVersion"),
    };
  }

  /** The review for most policies (spec kyverno.md 7.4): a CREATE without a user, for a CertificateRequest by the user in it. One for all policies. */
  get review(): Review {
    if (this.#asked !== undefined) return this.#asked;
    const request = this.#request(this.#kind.plural);
    const userInfo = creatorOf(this.object) ?? NOBODY;
    this.#asked = admissionQuestion({ ...request, requestResource: request.resource, userInfo, dryRun: false });
    return this.#asked;
  }

  /** The review of Kubewarden's audit scanner (spec kubewarden.md 11.3): the resource has the name of its kind. */
  get guestReview(): Review {
    this.#askedOfGuests ??= admissionQuestion(this.#request(this.#kind.kind));
    return this.#askedOfGuests;
  }

  /** The object for policies and selectors. */
  get object(): JsonObject {
    this.#object ??= { apiVersion: apiVersionOf(this.#kind), kind: this.#kind.kind, ...this.#item };
    return this.#object;
  }

  #request(resource: string): AdmissionRequest {
    const { group, version, kind } = this.#kind;
    const { uid, name, namespace } = this.reference;
    const own = { group, version, kind };
    return {
      uid,
      kind: own,
      resource: { group, version, resource },
      requestKind: own,
      name,
      ...(namespace !== "" && { namespace }),
      operation: "CREATE",
      userInfo: NOBODY,
      object: this.object,
    };
  }
}
