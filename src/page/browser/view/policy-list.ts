import type { PagePolicy } from "../../api.js";
import { draftAddress, overviewAddress, policyAddress } from "../dom/addresses.js";
import { type Child, h, put, sign } from "../dom/element.js";
import { countOf, kindOf, matchesFilter, statesOf } from "../model/policy-words.js";

/** The list of served policies, with a filter. */
export interface PolicyList {
  readonly element: HTMLElement;
  readonly update: (policies: readonly PagePolicy[], withDraft: boolean) => void;
  /** Marks the shown policy; `undefined` is the draft, or the overview of a page for reading; `""` none. */
  readonly mark: (id: string | undefined) => void;
}

function entry(address: string, ...children: Child[]): HTMLAnchorElement {
  return h("a", { class: "entry", href: address, tabindex: "-1" }, ...children);
}

function rowOf(policy: PagePolicy, group: string): HTMLAnchorElement {
  const states = statesOf(policy).map(({ tone, symbol, word }) =>
    h("span", { class: `state ${tone}` }, sign(symbol, tone), word),
  );
  return entry(
    policyAddress(policy.id),
    h(
      "span",
      { class: "name", title: policy.id },
      group !== "" && h("span", { class: "hidden" }, group),
      policy.id.slice(group.length),
    ),
    h("span", { class: "about" }, h("span", {}, kindOf(policy)), ...states),
  );
}

/** The beginning of a policy's id when it is defined within a group: `workloads/`. */
function groupBefore(policy: PagePolicy, groups: ReadonlySet<string>): string {
  const end = policy.id.indexOf("/");
  return end !== -1 && groups.has(policy.id.slice(0, end)) ? policy.id.slice(0, end + 1) : "";
}

/** Makes an empty list. */
export function policyList(): PolicyList {
  const filter = h("input", {
    id: "filter",
    type: "search",
    placeholder: "Filter",
    autocomplete: "off",
    "aria-label": "Filter policies by name, kind or state",
    "aria-describedby": "count",
  });
  const count = h("p", { id: "count", class: "count", "aria-live": "polite" });
  const rows = h("ul", { class: "entries" });
  const draft = h("p", { class: "draft" });
  const element = h("div", { class: "list" }, draft, h("div", { class: "find" }, filter, count), rows);
  let shown: readonly { readonly policy: PagePolicy; readonly item: HTMLElement; readonly link: HTMLAnchorElement }[] =
    [];
  let topLink: HTMLAnchorElement | undefined;
  let chosen: string | undefined;

  const links = () => shown.filter(({ item }) => !item.hidden).map(({ link }) => link);

  /** Makes one entry of the list reachable by Tab: the arrow keys lead to the others. */
  function tabStop(): void {
    const visible = links();
    const own = visible.find((link) => link.hasAttribute("aria-current")) ?? visible[0];
    for (const link of visible) link.tabIndex = link === own ? 0 : -1;
  }

  function narrow(): void {
    for (const { policy, item } of shown) item.hidden = !matchesFilter(policy, filter.value);
    const found = links().length;
    const all = countOf(shown.map(({ policy }) => policy));
    put(count, filter.value.trim() === "" ? all : `${found} of ${all}`);
    tabStop();
  }

  function mark(id: string | undefined): void {
    chosen = id;
    for (const { policy, link } of shown) {
      if (policy.id === id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (id === undefined) topLink?.setAttribute("aria-current", "page");
    else topLink?.removeAttribute("aria-current");
    tabStop();
  }

  filter.addEventListener("input", narrow);
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      filter.value = "";
      narrow();
    }
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    const [first] = links();
    if (first === undefined) return;
    event.preventDefault();
    first.focus();
    if (event.key === "Enter") first.click();
  });
  rows.addEventListener("keydown", (event) => {
    const visible = links();
    const at = visible.indexOf(document.activeElement as HTMLAnchorElement);
    const steps = new Map([
      ["ArrowDown", at + 1],
      ["ArrowUp", at - 1],
      ["Home", 0],
      ["End", visible.length - 1],
    ]);
    const to = steps.get(event.key);
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0) filter.focus();
    else visible[Math.min(to, visible.length - 1)]?.focus();
  });

  return {
    element,
    mark,
    update(policies, withDraft) {
      const focused = shown.find(({ link }) => link === document.activeElement)?.policy.id;
      const groups = new Set(policies.filter(({ kind }) => kind === "group").map(({ id }) => id));
      shown = policies.map((policy) => {
        const group = groupBefore(policy, groups);
        const link = rowOf(policy, group);
        return { policy, link, item: h("li", { class: group === "" ? "" : "within" }, link) };
      });
      const [address, name, about] = withDraft
        ? [draftAddress, "Draft", "write a policy and try it"]
        : [overviewAddress, "Overview", "all policies at first sight"];
      topLink = entry(address, h("span", { class: "name" }, name), h("span", { class: "about" }, about));
      topLink.tabIndex = 0;
      put(draft, topLink);
      put(rows, ...shown.map(({ item }) => item));
      narrow();
      mark(chosen);
      shown.find(({ policy }) => policy.id === focused)?.link.focus();
    },
  };
}
