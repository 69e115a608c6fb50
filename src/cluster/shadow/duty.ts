/** Decides what the leader has to note in a policy that is rolled out, without writing anything. */
import {
  ACTIVE_SPEC,
  type ActiveNote,
  NOTES,
  noteText,
  SHADOW_RECORD,
} from "../../config/from-cluster/rollout-annotations.js";
import type { RolledOut } from "../../config/from-cluster/rollouts.js";
import { parseJson } from "../../data/json.js";
import { member } from "../../kubernetes/object.js";
import { type Annotations, annotationsOf, wasInForce } from "./annotator.js";
import { type Progress, progressOf, readRecord, recordText, type ShadowRecord, whyNotYet } from "./record.js";
import type { Standing } from "./replica-counts.js";

/** The leader's next action for a policy. */
export interface Duty {
  /** The annotations to write, by the policy in the cluster; absent: none. */
  readonly notes?: (object: unknown) => Annotations;
  /** The log entry; absent where there is none. */
  readonly log?: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> };
  /** Whether the time is the reason. */
  readonly isByClock?: boolean;
  /** The progress of the version in shadow; absent: there is none. */
  readonly progress?: Progress;
  /** Time of the promotion, for people. */
  readonly outlook?: string;
}

/** The known facts about versions in shadow. */
export interface KnownVersions {
  /** The replicas' counts of a version. */
  of(version: string): Standing;
  /** Whether this replica has loaded it. */
  isLoaded(version: string): boolean;
}

/**
 * The leader's next action for a policy.
 * @param now milliseconds since 1970
 */
export function dutyOf({ document, rollout }: RolledOut, known: KnownVersions, now: number): Duty {
  const { isShadow, basis, note, shadow, promotion } = rollout;
  const resource = parseJson(document.text);
  const annotations = annotationsOf(resource);
  const present: ActiveNote = { generation: document.generation, spec: member(resource, "spec") };
  if (!isShadow) {
    const isNoted = NOTES.every((name) => annotations[name] === undefined);
    return isNoted ? {} : { notes: () => ({ [ACTIVE_SPEC]: null, [SHADOW_RECORD]: null }) };
  }
  if (basis !== "noted") {
    return {
      notes: (object) => {
        const inForce = basis === "guessed" && note.generation === 0 && wasInForce(object) ? present : note;
        return { [ACTIVE_SPEC]: noteText(inForce) };
      },
      log: { message: "noted which version of a policy is in force while others are in shadow", fields: {} },
    };
  }
  if (shadow === undefined) {
    const isNoted = annotations[SHADOW_RECORD] === undefined && annotations[ACTIVE_SPEC] === noteText(note);
    return isNoted ? {} : { notes: () => ({ [ACTIVE_SPEC]: noteText(note), [SHADOW_RECORD]: null }) };
  }
  const told = known.of(shadow.version);
  const noted = readRecord(annotations[SHADOW_RECORD]);
  const progress = progressOf(shadow.version, noted, told, now);
  const isByHand = promotion.byHand === document.generation;
  const isBroken = [...told.told.values()].some(({ counts }) => counts.isBroken);
  const why = isByHand ? whyNotByHand(known.isLoaded(shadow.version)) : whyNotYet(promotion, progress);
  if (why === undefined && !isBroken) {
    const { counts, denied } = progress;
    const fields = { generation: document.generation, by_hand: isByHand, denied, ...counts };
    return {
      notes: () => ({ [ACTIVE_SPEC]: noteText(present), [SHADOW_RECORD]: null }),
      log: { message: "promoted a version that was in shadow: it is in force", fields },
      isByClock: !isByHand,
      progress,
    };
  }
  const outlook = isBroken ? "not promoted: it could not be loaded" : why;
  const { record } = progress;
  const isNoted = noted !== undefined && sameRecord(noted, record);
  return {
    progress,
    ...(outlook !== undefined && { outlook }),
    ...(!isNoted && { notes: () => ({ [SHADOW_RECORD]: recordText(record) }) }),
  };
}

/** Why a version is not promoted by hand: one that is not known to work would deny everything once all processes with the former version have been restarted. */
const whyNotByHand = (isLoaded: boolean): string | undefined =>
  isLoaded ? undefined : "not promoted before the replica that leads has loaded it";

function sameRecord(a: ShadowRecord, b: ShadowRecord): boolean {
  const names = Object.keys(a.from);
  return (
    a.version === b.version &&
    a.since === b.since &&
    a.held === b.held &&
    a.denied === b.denied &&
    names.length === Object.keys(b.from).length &&
    names.every((name) => a.from[name] === b.from[name])
  );
}
