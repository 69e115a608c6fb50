import type { PagePolicy } from "../../api.js";
import { policyAddress } from "../dom/addresses.js";
import { type Child, h, sign } from "../dom/element.js";
import { kindOf, statesOf } from "../model/policy-words.js";
import type { Linked } from "./group-drawing.js";
import { membersOf, notice } from "./policy-details.js";

/** Most reasons that are shown: each policy has its own in its place. */
const MOST_REASONS = 20;

function stateOf(policy: PagePolicy): Child[] {
  const isPlain = policy.mode === "protect" && policy.kind !== "unavailable";
  const words = [isPlain && "protect", policy.allowedToMutate && "may mutate"].filter((word) => word !== false);
  return [
    ...statesOf(policy).map(({ tone, symbol, word }) => h("span", { class: `state ${tone}` }, `${symbol} ${word}`)),
    ...words.map((word) => h("span", { class: "state" }, word)),
  ];
}

/** A policy's row; a group has another one below it. */
function rowsOf(policy: PagePolicy, linked: Linked): readonly HTMLElement[] {
  const { id, group } = policy;
  const name = h("th", { scope: "row" }, h("a", { href: policyAddress(id) }, id));
  const row = h("tr", {}, name, h("td", {}, kindOf(policy)), h("td", {}, ...stateOf(policy)));
  if (group === undefined) return [row];
  row.className = "group";
  const about = h("td", { colspan: 3 }, h("code", {}, group.expression), membersOf(policy, linked));
  return [row, h("tr", {}, about)];
}

/** All policies at first sight: what does not work and why, then what each is and does. */
export function overview(policies: readonly PagePolicy[], linked: Linked): HTMLElement {
  const groups = new Set(policies.filter(({ group }) => group !== undefined).map(({ id }) => id));
  // Members that are defined in a group stand in its row.
  const rows = policies.filter(({ id }) => !groups.has(id.split("/", 1)[0] ?? "") || !id.includes("/"));
  const reasons = policies
    .flatMap((policy) => [
      policy.error !== undefined &&
        notice("bad", "✕", `${policy.id} can't be loaded, and denies every request:`, policy.error),
      policy.outdated !== undefined &&
        notice("warn", "△", `${policy.id} answers as before its last change:`, policy.outdated),
    ])
    .filter((reason) => reason instanceof HTMLElement);
  const left = reasons.length - MOST_REASONS;
  return h(
    "section",
    { class: "details", "aria-labelledby": "overview-name" },
    h("h2", { id: "overview-name", tabindex: "-1" }, "Overview"),
    ...reasons.slice(0, MOST_REASONS),
    left > 0 && h("p", { class: "quiet" }, `and ${left} more`),
    reasons.length === 0 && h("p", {}, sign("✓", "good"), " All policies are loaded as they were last written."),
    h(
      "table",
      { class: "overview" },
      h("thead", {}, h("tr", {}, ...["Policy", "Kind", "State"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...rows.flatMap((policy) => rowsOf(policy, linked))),
    ),
  );
}
