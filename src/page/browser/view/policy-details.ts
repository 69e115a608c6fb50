import type { ExplainedAnswer } from "../../../kinds/explanation/types.js";
import type { PagePolicy, PageSource } from "../../api.js";
import { policyAddress } from "../dom/addresses.js";
import { type Child, h, sign } from "../dom/element.js";
import { kindOf, statesOf } from "../model/policy-words.js";
import { groupDrawing, type Linked } from "./group-drawing.js";

function fact(name: string, ...value: Child[]): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, ...value));
}

/** A remark that stands out: its sign, a word, and a text of the server. */
export function notice(tone: string, symbol: string, word: string, text: string): HTMLElement {
  return h("div", { class: `notice ${tone}` }, sign(symbol, tone), h("p", {}, h("strong", {}, word), " ", text));
}

/** The members of a group, folded; undefined for other policies. */
export function membersOf(policy: PagePolicy, linked: Linked): Child {
  if (policy.group === undefined) return undefined;
  const items = policy.group.members.map(({ name, policy: id }) => {
    const names = linked(id)
      ? h("a", { href: policyAddress(id) }, id)
      : h("span", { class: "quiet" }, "defined in the group");
    return h("li", {}, h("code", {}, name), " ", names);
  });
  return h(
    "details",
    { class: "fold" },
    h("summary", {}, `Members (${items.length})`),
    h("ul", { class: "members-plain" }, ...items),
  );
}

/** The details of a policy. With `edit`, its source can be taken as a draft. */
export function policyDetails(
  policy: PagePolicy,
  linked: Linked,
  answer: ExplainedAnswer | undefined,
  edit?: (source: PageSource) => void,
): HTMLElement {
  const { source, group } = policy;
  const states = statesOf(policy).map(({ word }) => word);
  return h(
    "section",
    { class: "details", "aria-labelledby": "policy-name" },
    h(
      "div",
      { class: "title" },
      h("h2", { id: "policy-name", tabindex: "-1" }, policy.id),
      h("span", { class: "gap" }),
      source !== undefined &&
        edit !== undefined &&
        h(
          "button",
          {
            type: "button",
            class: "plain",
            title: "Takes the place of the draft; Ctrl+Z takes it back",
            click: () => edit(source),
          },
          "Edit as a draft",
        ),
    ),
    h(
      "dl",
      { class: "facts" },
      fact("Kind", kindOf(policy)),
      fact(
        "State",
        states.includes("unavailable")
          ? "unavailable"
          : states.includes("outdated")
            ? "available, outdated"
            : "available",
      ),
      fact("Mode", policy.mode),
      policy.allowedToMutate && fact("Mutation", "allowed"),
    ),
    policy.error !== undefined && notice("bad", "✕", "Could not be loaded; it denies every request.", policy.error),
    policy.outdated !== undefined && notice("warn", "△", "Answers as it was before the last change.", policy.outdated),
    policy.mode === "monitor" &&
      notice("quiet", "◎", "Monitor:", "it lets every request through, and counts what it would deny."),
    policy.shownOnly !== undefined && notice("quiet", "◇", "Shown only:", `${policy.shownOnly}.`),
    group !== undefined && h("pre", { class: "expression-plain" }, h("code", {}, group.expression)),
    group !== undefined && groupDrawing(group, linked, answer),
    membersOf(policy, linked),
    source !== undefined &&
      h(
        "details",
        { class: "fold" },
        h("summary", {}, "Source"),
        h("pre", { class: "source", tabindex: "0" }, source.text),
      ),
  );
}
