/** Joins the answers of policies that were evaluated together. */

import type { AdmissionResponse, ResponseStatus, StatusCause } from "../../admission/admission-response.js";
import { presentableWarnings } from "../../admission/warnings.js";
import { annotationKeys } from "../audit-annotations.js";
import type { ServedSet } from "./served-set.js";
import { mutationForbidden, type Verdict, withMessageAmongCauses } from "./verdict.js";

/** The answer of a set of policies. */
export interface JoinedVerdict {
  readonly set: ServedSet;
  /** In the order of the set. */
  readonly members: readonly Verdict[];
  readonly response: AdmissionResponse;
  /** From the first call to the last outcome. */
  readonly milliseconds: number;
  /** Monotonic milliseconds at which the client stops waiting. */
  readonly deadline: number;
}

/** The denial of a member. */
interface Denial {
  readonly id: string;
  readonly status: ResponseStatus | undefined;
}

/** Joins answers: one denial denies. There is at least one answer; each was made by its own mode, message and rule about mutations. */
export function joinVerdicts(
  set: ServedSet,
  uid: string,
  members: readonly Verdict[],
  { milliseconds, deadline }: Pick<JoinedVerdict, "milliseconds" | "deadline">,
): JoinedVerdict {
  const denials: Denial[] = [];
  let told: Verdict[] | undefined;
  let changes: string | undefined;
  for (const verdict of members) {
    const { allowed, status, patch, warnings, auditAnnotations } = verdict.response;
    const { id } = verdict.entry;
    // A webhook that asks several validates only: an object that one of them would have changed must not pass unchanged.
    if (allowed && patch !== undefined && set.mutates) changes = patch;
    else if (allowed && patch !== undefined) denials.push({ id, status: { message: mutationForbidden(id) } });
    else if (!allowed) denials.push({ id, status });
    if (warnings !== undefined || auditAnnotations !== undefined) {
      told ??= [];
      told.push(verdict);
    }
  }
  const [first] = denials;
  if (first === undefined && told === undefined && changes === undefined) {
    return { set, members, response: { uid, allowed: members.length > 0 }, milliseconds, deadline };
  }
  const response: AdmissionResponse = {
    uid,
    allowed: first === undefined,
    ...(first === undefined && changes !== undefined && { patch: changes }),
    ...(first !== undefined && { status: joinedStatus(first, denials) }),
    ...(told !== undefined && findingsOf(told)),
  };
  return { set, members, response, milliseconds, deadline };
}

/** The first denial's status, with the messages of all, each behind its policy's name. */
function joinedStatus({ status }: Denial, denials: readonly Denial[]): ResponseStatus {
  const message = denials.map(({ id, status: own }) => `${id}: ${own?.message ?? NO_WORDS}`).join("\n");
  const causes = denials.flatMap(ownCauses);
  const { details: _, ...rest } = status ?? {};
  const joined: ResponseStatus = { ...rest, message, ...(causes.length > 0 && { details: { causes } }) };
  return withMessageAmongCauses(joined);
}

const NO_WORDS = "denied the request without explanation";

/** A denial's causes without its message, if that was put among them: the joined message has it. */
const ownCauses = ({ status }: Denial): readonly StatusCause[] =>
  (status?.details?.causes ?? []).filter(({ reason, field, message }) => {
    return reason !== null || field !== null || message !== status?.message;
  });

function findingsOf(told: readonly Verdict[]): Pick<AdmissionResponse, "warnings" | "auditAnnotations"> {
  const warnings = told.flatMap(({ response }) => response.warnings ?? []);
  const annotations = told.flatMap(({ entry, response }) =>
    Object.entries(response.auditAnnotations ?? {}).map(([key, value]) => [entry.id, key, value] as const),
  );
  return {
    ...(warnings.length > 0 && { warnings: presentableWarnings(warnings) }),
    ...(annotations.length > 0 && { auditAnnotations: annotationKeys(annotations) }),
  };
}
