import type { ExplainedAnswer } from "../../kinds/explanation/types.js";
import type { EvaluateAnswer, PagePolicy, PageSource, PageState } from "../api.js";
import { draftAddress, readAddress } from "./dom/addresses.js";
import { connect } from "./dom/connection.js";
import { type Child, h, put } from "./dom/element.js";
import { askCheck, askEvaluate, Unreachable } from "./dom/wire.js";
import { readLink } from "./model/draft-link.js";
import { LatestOnly } from "./model/latest.js";
import { answerView } from "./view/answer-view.js";
import { linkedDraft } from "./view/linked-draft.js";
import { overview } from "./view/overview.js";
import { notice, policyDetails } from "./view/policy-details.js";
import { policyList } from "./view/policy-list.js";
import { workspace } from "./view/workspace.js";

/** Pause in typing before a draft is checked. In milliseconds. */
const PAUSE = 250;
/** Time after which waiting for an answer is shown. In milliseconds. */
const NOTICEABLE = 300;

/** The page's landmarks in index.html. */
export interface Places {
  readonly skip: HTMLElement;
  readonly about: HTMLElement;
  readonly menu: HTMLElement;
  readonly connection: HTMLElement;
  readonly policies: HTMLElement;
  readonly main: HTMLElement;
  readonly side: HTMLElement;
}

/** The shown policy: `undefined` is the draft, or the overview. */
type Subject = string | undefined;

function readHelp(): HTMLElement {
  return h(
    "section",
    { class: "answer side-help", "aria-label": "Help" },
    h("h2", {}, "Read only"),
    h("p", {}, "This page shows what the server serves. It evaluates nothing."),
    h("p", {}, "To write a policy and try it, run on your own machine:"),
    h("pre", { class: "source" }, "policy-server play policies.yaml"),
    h(
      "p",
      {},
      "To ask what is served here, send an AdmissionReview to ",
      h("code", {}, "POST /validate/<policy>"),
      ". ",
      h("a", { href: "metrics" }, "GET /metrics"),
      " counts the answers.",
    ),
  );
}

/** Why there is no answer, with the first mistake: its place in the text may be out of sight. */
function unasked({ payloadProblem, problems }: EvaluateAnswer): string {
  const first = payloadProblem ?? problems.find(({ severity }) => severity === "error") ?? problems[0];
  if (first === undefined) return "Not evaluated.";
  const where = payloadProblem === undefined ? "draft" : "payload";
  return `Not evaluated: the ${where} has a mistake in line ${first.line}. ${first.message}`;
}

/** Starts the page. */
export function start(places: Places): void {
  let state: PageState | undefined;
  let subject: Subject;
  let answered: { readonly subject: Subject; readonly explained: ExplainedAnswer } | undefined;
  /** The text of the link whose draft is shown and not yet taken. */
  let linkText: string | undefined;
  let pause: number | undefined;
  const checks = new LatestOnly();
  const evaluations = new LatestOnly();
  const find = (id: string): PagePolicy | undefined => state?.policies.find((policy) => policy.id === id);
  const linked = (id: string) => find(id) !== undefined;
  const list = policyList();
  const answer = answerView(linked);
  const invite = () =>
    answer.say("quiet", "The answer appears here. ", h("kbd", {}, "Ctrl"), "+", h("kbd", {}, "Enter"), " evaluates.");
  const about = h("div", { class: "about-policy" });

  async function check(): Promise<void> {
    const draft = work.currentDraft();
    if (draft.text.trim() === "") return work.showCheck({ problems: [], ids: [] });
    try {
      const found = await checks.ask((signal) => askCheck({ draft }, signal));
      if (found !== undefined) work.showCheck(found);
    } catch (error) {
      work.showUnchecked(`Not checked. ${error instanceof Error ? error.message : String(error)}`);
      if (error instanceof Unreachable) connection.lookNow();
    }
  }

  async function evaluate(): Promise<void> {
    if (state?.mode !== "play") return;
    if (linkText !== undefined) return answer.say("quiet", "Not evaluated: take the draft first.");
    const asked = subject;
    const shownOnly = asked === undefined ? undefined : find(asked)?.shownOnly;
    if (shownOnly !== undefined) return answer.say("bad", `Not evaluated: ${shownOnly}.`);
    const waiting = window.setTimeout(() => answer.setBusy(true), NOTICEABLE);
    try {
      const found = await evaluations.ask((signal) => askEvaluate(work.question(asked), signal));
      if (found === undefined) return;
      answer.setBusy(false);
      work.showPayloadProblem(found.payloadProblem);
      if (asked === undefined) work.showProblems(found.problems);
      if (found.answer === undefined) return answer.say("bad", unasked(found));
      answered = { subject: asked, explained: found.answer.explained };
      answer.show(found.answer, asked === undefined);
      if (asked !== undefined) showDetails();
    } catch (error) {
      answer.setBusy(false);
      answer.say("bad", error instanceof Error ? error.message : String(error));
      if (error instanceof Unreachable) connection.lookNow();
    } finally {
      window.clearTimeout(waiting);
    }
  }

  const work = workspace({
    onDraft() {
      window.clearTimeout(pause);
      pause = window.setTimeout(check, PAUSE);
    },
    onChange: () => answer.setStale(true),
    onEvaluate: evaluate,
  });

  function showDetails(): void {
    const policy = subject === undefined ? undefined : find(subject);
    if (policy === undefined) {
      showAbout("", h("p", { class: "said" }, `No policy '${subject}' is served.`));
      return;
    }
    const own = answered?.subject === policy.id ? answered.explained : undefined;
    const edit = (source: PageSource) => {
      goToDraft();
      work.edit(source);
    };
    showAbout(policy.id, policyDetails(policy, linked, own, state?.mode === "play" ? edit : undefined));
  }

  /** Shows what is to be read. What is open in it stays so, and the focused element is replaced by its equal: for its user the new state may be no different. */
  function showAbout(name: string, ...content: Child[]): void {
    const isSame = about.dataset.policy === name;
    const open = isSame ? [...about.querySelectorAll("details")].map((fold) => fold.open) : [];
    const places = () => [...about.querySelectorAll<HTMLElement>("a, button, summary, [tabindex]")];
    const focused = isSame ? places().indexOf(document.activeElement as HTMLElement) : -1;
    about.dataset.policy = name;
    put(about, ...content);
    about.querySelectorAll("details").forEach((fold, index) => {
      fold.open = open[index] ?? false;
    });
    if (focused !== -1) (places()[focused] ?? places()[0])?.focus({ preventScroll: true });
  }

  /** Shows the draft at once: what is written into it can be undone only where it stands in the page. */
  function goToDraft(): void {
    history.pushState(null, "", draftAddress);
    show(true);
  }

  function showLink(text: string): void {
    if (linkText === text) return;
    linkText = text;
    evaluations.cancel();
    answer.setBusy(false);
    invite();
    readLink(text).then((written) => {
      if (linkText !== text) return;
      const view = linkedDraft(written, (taken) => {
        goToDraft();
        work.take(taken);
      });
      put(places.main, view);
      view.querySelector("h2")?.focus();
    });
  }

  function showOverview(policies: readonly PagePolicy[], isLink: boolean): void {
    const words = "this page is for reading, and can't show it. Open it where policy-server play runs.";
    showAbout(
      "",
      isLink && h("div", { class: "details" }, notice("warn", "△", "The link holds a draft:", words)),
      policies.length === 0 ? h("p", { class: "said" }, "No policies are served.") : overview(policies, linked),
    );
  }

  function show(moveFocus: boolean): void {
    if (state === undefined) return;
    const play = state.mode === "play";
    const asked = readAddress(location.hash);
    const former = subject;
    subject = asked.what === "policy" ? asked.id : undefined;
    const isLink = asked.what === "link";
    list.mark(play && isLink ? "" : subject);
    if (former !== subject) {
      evaluations.cancel();
      answer.setBusy(false);
      answered = undefined;
      invite();
    }
    document.title = `${subject ?? (play ? "Draft" : "Overview")} – policy-server`;
    if (play && isLink) {
      showLink(asked.text);
      return;
    }
    linkText = undefined;
    const draft = play && subject === undefined;
    if (subject !== undefined) showDetails();
    else if (!play) showOverview(state.policies, isLink);
    const asks = play && (subject === undefined || find(subject)?.shownOnly === undefined);
    const parts = draft ? [work.draft, work.payload] : asks ? [about, work.payload] : [about];
    const kept = places.main.children;
    if (kept.length !== parts.length || parts.some((part, index) => part !== kept[index])) put(places.main, ...parts);
    if (moveFocus) {
      places.policies.classList.remove("open");
      places.menu.setAttribute("aria-expanded", "false");
      places.main.querySelector<HTMLElement>("h2")?.focus();
      places.main.scrollTop = 0;
    }
  }

  function update(next: PageState): void {
    const former = state;
    state = next;
    if (former !== undefined && JSON.stringify(former) === JSON.stringify(next)) return;
    const play = next.mode === "play";
    put(places.about, `${next.version} `, h("span", { class: "mode" }, play ? "play" : "read only"));
    list.update(next.policies, play);
    document.body.classList.toggle("play", play);
    if (former?.mode !== next.mode) put(places.side, play ? answer.element : readHelp());
    if (play) work.offer(next.examples);
    show(false);
    if (play) check();
  }

  put(places.policies, list.element);
  invite();
  places.menu.addEventListener("click", () => {
    const open = places.policies.classList.toggle("open");
    places.menu.setAttribute("aria-expanded", String(open));
  });
  // The part behind # is the shown subject: the link must not change it.
  places.skip.addEventListener("click", (event) => {
    event.preventDefault();
    places.main.focus();
  });
  window.addEventListener("hashchange", () => show(true));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    evaluate();
  });
  const connection = connect(places.connection, update);
}
