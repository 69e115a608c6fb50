import type { CheckAnswer, EvaluateQuestion, PageExample, PageProblem, PageSource } from "../../api.js";
import { linkAddress } from "../dom/addresses.js";
import { forget, keep, kept } from "../dom/drafts.js";
import { h, put } from "../dom/element.js";
import { kindOfDraft } from "../model/draft-kind.js";
import { LONGEST_LINK, linkOf, type Written } from "../model/draft-link.js";
import { editor } from "./editor.js";

const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "CONNECT"] as const;
type Operation = (typeof OPERATIONS)[number];

/** Callbacks of the workspace. */
export interface WorkspaceEvents {
  readonly onDraft: (draft: PageSource) => void;
  /** Called when something has changed on which the answer depends. */
  readonly onChange: () => void;
  readonly onEvaluate: () => void;
}

/** The user's input: a draft and a payload. */
export interface Workspace {
  /** The draft's editor with its tools. */
  readonly draft: HTMLElement;
  /** The payload's editor, with the button that evaluates. */
  readonly payload: HTMLElement;
  /** The question; for a served policy by its id. */
  readonly question: (id: string | undefined) => EvaluateQuestion;
  readonly offer: (examples: readonly PageExample[]) => void;
  readonly edit: (source: PageSource) => void;
  /** Takes the texts of a link, which can be undone in each field. */
  readonly take: (written: Written) => void;
  readonly showCheck: (answer: CheckAnswer) => void;
  readonly showProblems: (problems: readonly PageProblem[]) => void;
  /** Shows that the check has no answer, and why. */
  readonly showUnchecked: (why: string) => void;
  readonly showPayloadProblem: (problem: PageProblem | undefined) => void;
  readonly currentDraft: () => PageSource;
}

const KINDS = { entry: "entries", resource: "documents" } as const;

function option(value: string, text = value): HTMLOptionElement {
  return h("option", { value }, text);
}

function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  return h("label", { class: "labelled" }, h("span", {}, text), control);
}

function payloadTools(change: () => void) {
  const operation = h(
    "select",
    { id: "operation", "aria-label": "Operation", title: "Operation", change },
    ...OPERATIONS.map((name) => option(name)),
  );
  const raw = h("input", {
    id: "raw",
    type: "checkbox",
    change: () => {
      operation.disabled = raw.checked;
      change();
    },
  });
  const examples = h("select", { id: "payload-examples", "aria-label": "Examples of payloads" });
  return { operation, raw, examples };
}

function restore(written: Written, tools: ReturnType<typeof payloadTools>): void {
  tools.operation.value = OPERATIONS.find((name) => name === written.operation) ?? "CREATE";
  tools.raw.checked = written.raw;
  tools.operation.disabled = written.raw;
}

/** Makes the workspace, with the kept texts. */
export function workspace(events: WorkspaceEvents): Workspace {
  let examples: readonly PageExample[] = [];
  let checked: readonly PageProblem[] = [];
  const texts = (): Written => ({
    draft: draft.text(),
    payload: payload.text(),
    operation: tools.operation.value,
    raw: tools.raw.checked,
  });
  const save = () => {
    keep(texts());
    events.onChange();
  };
  const currentDraft = (): PageSource => ({ kind: kindOfDraft(draft.text()), text: draft.text() });
  const kind = h("span", { class: "quiet cut", id: "draft-kind" });
  const showKind = () => put(kind, draft.text().trim() === "" ? "" : KINDS[currentDraft().kind]);
  const drafted = () => {
    put(said);
    showKind();
    save();
    events.onDraft(currentDraft());
  };
  const draft = editor({
    name: "draft",
    label: "Draft: entries of a policies.yaml, or documents such as a ValidatingAdmissionPolicy",
    placeholder: 'my-policy:\n  cel:\n    validations:\n      - expression: "object.spec.replicas <= 5"',
    onChange: drafted,
  });
  const payload = editor({
    name: "payload",
    label: "Payload: an object, an AdmissionReview, or with raw any value, as YAML or JSON",
    placeholder: "apiVersion: apps/v1\nkind: Deployment\n…",
    onChange: () => {
      payload.showProblems([], "");
      save();
    },
  });
  const tools = payloadTools(save);
  const ids = h("select", { id: "draft-ids", change: save });
  const idsLabel = labelled("Ask", ids);
  idsLabel.hidden = true;
  const pick = h("select", { id: "examples", "aria-label": "Examples" });

  for (const select of [pick, tools.examples]) {
    select.addEventListener("change", () => {
      const example = examples[Number(select.value)];
      select.value = "";
      if (example === undefined) return;
      payload.write(example.payload);
      if (select === pick) draft.write(example.draft.text);
    });
  }
  const reset = h(
    "button",
    { type: "button", class: "plain", id: "reset", title: "Back to the first example; Ctrl+Z takes it back" },
    "Reset",
  );
  reset.addEventListener("click", () => {
    const [first] = examples;
    draft.write(first?.draft.text ?? "");
    payload.write(first?.payload ?? "");
    forget();
  });
  const before = kept();
  if (before !== undefined) {
    draft.begin(before.draft);
    payload.begin(before.payload);
    restore(before, tools);
  }
  const said = h("p", { class: "summary", role: "status" });
  const copy = h("button", { type: "button", class: "plain", id: "copy-link" }, "Copy link");
  copy.title = "An address that holds this draft and payload; nothing is sent anywhere";
  copy.addEventListener("click", async () => {
    const link = linkAddress(await linkOf(texts()));
    if (link.length > LONGEST_LINK) return put(said, "Too long for a link: send the texts as files.");
    try {
      await navigator.clipboard.writeText(new URL(link, location.href).href);
      put(said, "Copied");
    } catch {
      history.replaceState(null, "", link);
      put(said, "Not copied: the browser forbids it. The link stands in the address bar.");
    }
  });

  const draftSection = h(
    "section",
    { class: "work draft-work", "aria-labelledby": "draft-name" },
    h(
      "div",
      { class: "bar" },
      h("h2", { id: "draft-name", tabindex: "-1" }, "Draft"),
      kind,
      h("span", { class: "gap" }),
      idsLabel,
      pick,
      copy,
      reset,
    ),
    said,
    draft.element,
  );
  const evaluate = h(
    "button",
    {
      type: "button",
      class: "primary",
      id: "evaluate",
      "aria-keyshortcuts": "Control+Enter",
      click: events.onEvaluate,
    },
    "Evaluate",
    h("kbd", {}, "Ctrl ↵"),
  );
  const payloadSection = h(
    "section",
    { class: "work payload-work", "aria-labelledby": "payload-name" },
    h(
      "div",
      { class: "bar" },
      h("h2", { id: "payload-name" }, "Payload"),
      h("span", { class: "gap" }),
      tools.examples,
      tools.operation,
      h(
        "label",
        { class: "labelled", title: "Ask as /validate_raw does: any value, no Kubernetes object" },
        tools.raw,
        h("span", {}, "raw"),
      ),
    ),
    payload.element,
    h(
      "div",
      { class: "bar actions" },
      h(
        "p",
        { id: "keys-help", class: "quiet" },
        h("kbd", {}, "Tab"),
        " indents while you type; ",
        h("kbd", {}, "Esc"),
        " ",
        h("kbd", {}, "Tab"),
        " leaves",
      ),
      h("span", { class: "gap" }),
      evaluate,
    ),
  );

  const showProblems = (problems: readonly PageProblem[]) => {
    checked = problems;
    draft.showProblems(checked, draft.text().trim() === "" ? "" : "No mistakes");
  };

  return {
    draft: draftSection,
    showProblems,
    payload: payloadSection,
    currentDraft,
    question(id) {
      // The list of ids is of the last check: one that has been renamed since is not used.
      const fresh = ids.options.length > 1 && draft.text().includes(ids.value);
      const asked = id ?? (fresh ? ids.value : undefined);
      const operation = tools.operation.value as Operation;
      return {
        ...(id === undefined ? { draft: currentDraft() } : {}),
        ...(asked === undefined ? {} : { id: asked }),
        payload: payload.text(),
        ...(tools.raw.checked ? { raw: true } : { operation }),
      };
    },
    offer(offered) {
      const begin = examples.length === 0 && before === undefined && draft.text() === "" && payload.text() === "";
      examples = offered;
      for (const select of [pick, tools.examples]) {
        put(select, option("", "Examples"), ...offered.map(({ name }, index) => option(String(index), name)));
        select.hidden = offered.length === 0;
      }
      const [first] = offered;
      if (begin && first !== undefined) {
        draft.begin(first.draft.text);
        payload.begin(first.payload);
      }
      showKind();
    },
    edit: (source) => draft.write(source.text),
    take(written) {
      payload.write(written.payload);
      draft.write(written.draft);
      restore(written, tools);
      save();
    },
    showCheck(answer) {
      showProblems(answer.problems);
      const former = ids.value;
      put(ids, ...answer.ids.map((id) => option(id)));
      ids.value = answer.ids.includes(former) ? former : (answer.ids.at(-1) ?? "");
      idsLabel.hidden = answer.ids.length < 2;
    },
    showUnchecked: (why) => draft.showProblems(checked, why),
    showPayloadProblem(problem) {
      payload.showProblems(problem === undefined ? [] : [problem], "");
      if (problem !== undefined) payloadSection.querySelector(".mistakes")?.scrollIntoView({ block: "nearest" });
    },
  };
}
