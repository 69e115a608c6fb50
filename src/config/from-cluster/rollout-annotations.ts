/** The annotations by which policies of a cluster are rolled out: those that people write, and those of the leader. */
import { parseGoDuration } from "../../data/go/duration.js";
import { parseJson, stringifyJson } from "../../data/json.js";
import { isJsonObject } from "../../data/same-value.js";

/** The prefix of all our annotations. */
export const OURS = "policy-server.admission/";
/** Written by people: `shadow` has changes of the spec evaluated in shadow before they are in force. */
export const ROLLOUT = `${OURS}rollout`;
/** Written by people: the `metadata.generation` that is to be in force. */
export const PROMOTE = `${OURS}promote`;
/** Written by people: for how long a version must have been in shadow to be in force automatically, as a Go duration. */
export const PROMOTE_AFTER = `${OURS}promote-after`;
/** Written by people: how many allowed requests it may have denied; default none. */
export const PROMOTE_AT_MOST = `${OURS}promote-at-most`;
/** Written by people: namespaces in which the version in shadow is in force already, separated by commas. */
export const ENFORCED_NAMESPACES = `${OURS}enforced-namespaces`;
/** Written by the leader: the version in force, see {@link ActiveNote}. */
export const ACTIVE_SPEC = `${OURS}active-spec`;
/** Written by the leader: since when a version is in shadow, and what it would have denied. */
export const SHADOW_RECORD = `${OURS}shadow-record`;
/** The leader's annotations: changes of these are not changes of the policy. */
export const NOTES: readonly string[] = [ACTIVE_SPEC, SHADOW_RECORD];

/** Most namespaces of one policy: more are hardly written by hand. */
const MAX_NAMESPACES = 1000;

/** When a version in shadow is to be in force. */
export interface Promotion {
  /** Generation that was promoted by hand. */
  readonly byHand?: number;
  /** Milliseconds in shadow after which it is promoted automatically; absent: never. */
  readonly after?: number;
  /** Requests that it may have denied, or failed to decide, until then. */
  readonly atMost: number;
}

/** The leader's note about the version in force. */
export interface ActiveNote {
  /** `metadata.generation` of the version; 0 when none has ever been in force. */
  readonly generation: number;
  /** Its spec; absent when none has been in force. */
  readonly spec?: unknown;
}

/** A mistake in an annotation. */
export interface RolloutProblem {
  /** The path from the document's root. */
  readonly path: readonly string[];
  readonly message: string;
}

/** The values of annotations; one with a mistake counts as absent. */
export interface WrittenRollout {
  readonly isShadow: boolean;
  readonly promotion: Promotion;
  readonly enforcedNamespaces: readonly string[];
  /** Absent: there is none, or it can't be read. */
  readonly note?: ActiveNote;
  readonly problems: readonly RolloutProblem[];
}

type Annotations = Readonly<Record<string, unknown>>;

/** Reads the annotations of a document. */
export function readRollout(annotations: Annotations): WrittenRollout {
  const problems: RolloutProblem[] = [];
  const value = <T>(name: string, read: (text: string) => T | undefined, expected: string): T | undefined => {
    const written = annotations[name];
    if (written === undefined) return undefined;
    const found = typeof written === "string" ? read(written.trim()) : undefined;
    if (found === undefined) {
      const message = `${JSON.stringify(written)} is not ${expected}: the version in force stays`;
      problems.push({ path: ["metadata", "annotations", name], message });
    }
    return found;
  };
  value(ROLLOUT, (text) => (text === "shadow" ? true : undefined), "shadow");
  const byHand = value(PROMOTE, generation, "the generation to put in force, such as 3");
  const after = value(PROMOTE_AFTER, duration, "a time such as 30m or 24h");
  const atMost = value(PROMOTE_AT_MOST, generation, "a number of requests");
  // A mistake in the number must not make a promotion more likely: nothing is promoted automatically then.
  const byItself = after !== undefined && (atMost !== undefined || annotations[PROMOTE_AT_MOST] === undefined);
  const namespaces = value(ENFORCED_NAMESPACES, namespacesOf, "a list of at most 1000 namespaces, such as a,b");
  const note = value(ACTIVE_SPEC, noteOf, "what the leader writes there, which is its own");
  return {
    // An unknown word asks for a rollout, too, and gets the one that puts nothing in force.
    isShadow: annotations[ROLLOUT] !== undefined,
    promotion: { ...(byHand !== undefined && { byHand }), ...(byItself && { after }), atMost: atMost ?? 0 },
    enforcedNamespaces: namespaces ?? [],
    ...(note && { note }),
    problems,
  };
}

/** The text of the leader's note. */
export function noteText({ generation: active, spec }: ActiveNote): string {
  return stringifyJson({ generation: active, ...(spec !== undefined && { spec }) });
}

function generation(text: string): number | undefined {
  const number = Number(text);
  return /^[0-9]+$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}

function duration(text: string): number | undefined {
  const parsed = parseGoDuration(text);
  return parsed.ok && parsed.nanos > 0n ? Number(parsed.nanos / 1_000_000n) : undefined;
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function namespacesOf(text: string): readonly string[] | undefined {
  if (text === "") return [];
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  return names.length <= MAX_NAMESPACES && names.every((name) => NAMESPACE.test(name)) ? names.sort() : undefined;
}

function noteOf(text: string): ActiveNote | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { generation: active, spec } = value;
  if (typeof active !== "number" || !Number.isSafeInteger(active) || active < 0) return undefined;
  if (active === 0) return spec === undefined ? { generation: 0 } : undefined;
  return isJsonObject(spec) ? { generation: active, spec } : undefined;
}
