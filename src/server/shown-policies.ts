/** The answer to `GET /policies`. */
import type { ServedPolicy, ShadowVersion } from "../policy/served/policy-set.js";
import { NONE, type ShadowRow, type ShadowRows } from "../policy/served/shadow/tally.js";

/** One policy; `error` says why it is unavailable. */
export function shownPolicy(entry: ServedPolicy, rows: ShadowRows) {
  const { id, policy, mode, allowedToMutate, unavailable, outdated, shadow } = entry;
  const { kind, implementation, start } = policy;
  const available = unavailable === undefined;
  const started = start && { start: start.start, ...(start.because !== undefined && { startReason: start.because }) };
  const problem = !available && { error: unavailable };
  const older = outdated !== undefined && { outdated };
  const beside = shadow && { shadow: shownShadow(shadow, rows) };
  return { id, kind, implementation, mode, allowedToMutate, available, ...started, ...problem, ...older, ...beside };
}

function shownShadow({ entry, version, enforcedNamespaces, isAlone }: ShadowVersion, rows: ShadowRows) {
  const { policy, mode, allowedToMutate, unavailable } = entry;
  return {
    version,
    kind: policy.kind,
    implementation: policy.implementation,
    mode,
    allowedToMutate,
    available: unavailable === undefined,
    ...(unavailable !== undefined && { error: unavailable }),
    alone: isAlone,
    enforcedNamespaces: [...enforcedNamespaces].sort(),
    ...("unavailable" in rows ? { unknown: rows.unavailable } : counted(entry.id, version, rows)),
  };
}

function counted(id: string, version: string, rows: readonly ShadowRow[]) {
  const row = rows.find((each) => each.id === id && each.version === version);
  const { agreed, wouldDeny, wouldAllow, failed, notEvaluated } = row ?? NONE;
  return {
    ...(row && { since: new Date(row.since).toISOString() }),
    agreed,
    wouldDeny,
    wouldAllow,
    failed,
    notEvaluated,
    examples: (row?.examples ?? []).map(({ at, ...example }) => ({ time: new Date(at).toISOString(), ...example })),
  };
}
