/** Checks and evaluates drafts here: in a thread of its own, for what somebody types may take any time to be compiled. */
import { encodeAdmissionReview, encodeRawReview } from "../../admission/encode.js";
import { type Config, formatPath, loadConfig, type Problem } from "../../config/index.js";
import { parsePlainJson } from "../../data/json.js";
import { changedObject, diffLines, explainAnswer } from "../../kinds/explanation/index.js";
import { type Asking, Explainer } from "../../kinds/shared/index.js";
import type { LoadedConfig, PolicyLoader } from "../../loader/index.js";
import type { Review } from "../../policy/index.js";
import { createEvaluator } from "../../policy/served/evaluator.js";
import type { PolicySet, ServedPolicy } from "../../policy/served/policy-set.js";
import type { Verdict } from "../../policy/served/verdict.js";
import { wouldDeny } from "../../policy/served/would-deny.js";
import type { CheckAnswer, CheckQuestion, EvaluateAnswer, EvaluateQuestion, PageProblem, PageSource } from "../api.js";
import { PageError, type PageSources, type Playground } from "../playground.js";
import { type Draft, readDraft } from "./draft.js";
import { type RequestMaker, reviewOf } from "./payload.js";
import { pageProblems } from "./problems.js";
import { pageSources } from "./sources.js";

/** Whatever drafts say of their own time. */
const MAX_EVALUATION_MS = 10_000;

/** What makes loaders. */
export interface LoaderChoice {
  /** Whether policies may ask nobody. */
  readonly closed: boolean;
  /** Check types, as `check` does. */
  readonly typeCheck?: boolean;
  readonly watcher?: Explainer;
}

/** What a playground needs. */
export interface PlayTools {
  /** The policies file; need not be there. */
  readonly file: string;
  readonly openLoader: (choice: LoaderChoice) => PolicyLoader;
  /** Milliseconds. */
  readonly policyTimeout: number;
  readonly requests: RequestMaker;
}

type Answer = NonNullable<EvaluateAnswer["answer"]>;

/** Policies that can be asked, explained. */
interface Loaded {
  /** What they are made of. */
  readonly key: string;
  readonly explainer: Explainer;
  readonly loader: PolicyLoader;
  readonly result: LoadedConfig;
}

/** A playground of this thread. Policies are asked one after the other; drafts are checked meanwhile. */
export class LocalPlayground implements Playground {
  readonly #tools: PlayTools;
  #config: { readonly generation: number; readonly config: Config } | undefined;
  readonly #checking: PolicyLoader;
  /** The last draft that was asked, and what is served: who changes a payload asks the same policies again. */
  #draft: Loaded | undefined;
  #served: Loaded | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(tools: PlayTools) {
    this.#tools = tools;
    this.#checking = tools.openLoader({ closed: true, typeCheck: true });
  }

  async sources(): Promise<PageSources> {
    return pageSources(this.#tools.file);
  }

  async check({ draft }: CheckQuestion, generation: number): Promise<CheckAnswer> {
    const read = this.#read(draft, generation);
    const { problems } = await this.#checking.load(read.config);
    return { problems: shown(read, problems), ids: read.ids };
  }

  evaluate(question: EvaluateQuestion, generation: number): Promise<EvaluateAnswer> {
    const answer = this.#turn.then(() => this.#evaluate(question, generation));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async close(): Promise<void> {
    for (const loader of [this.#checking, this.#draft?.loader, this.#served?.loader]) loader?.close();
  }

  async #evaluate(question: EvaluateQuestion, generation: number): Promise<EvaluateAnswer> {
    const { draft } = question;
    const read = draft && this.#read(draft, generation);
    const loaded = read
      ? await this.#draftLoaded(`${generation} ${draft.kind} ${draft.text}`, read)
      : await this.#servedLoaded(generation);
    const problems = read ? shown(read, loaded.result.problems) : [];
    if (problems.some(({ severity }) => severity === "error")) return { problems };
    const entry = entryOf(question.id ?? read?.ids.at(-1), loaded.result.policies);
    const review = reviewOf(question, this.#tools.requests);
    if ("problem" in review) return { problems, payloadProblem: payloadProblem(review.problem) };
    return { problems, answer: await this.#ask(loaded, entry, review) };
  }

  async #ask({ explainer, result }: Loaded, entry: ServedPolicy, review: Review): Promise<Answer> {
    explainer.begin();
    const asked: Asking[] = [];
    const policy = explainer.explained(entry.policy, (asking) => asked.push(asking));
    const evaluator = createEvaluator(result.policies, { policyTimeout: this.#tools.policyTimeout });
    const verdict = await evaluator.evaluate(
      { ...entry, policy },
      {
        review,
        origin: review.kind === "raw" ? "validate_raw" : "validate",
        deadline: performance.now() + MAX_EVALUATION_MS,
      },
    );
    const [asking] = asked;
    if (asking === undefined) throw new PageError(500, "the policy was not asked");
    const { response } = verdict;
    const written = parsePlainJson((review.kind === "raw" ? encodeRawReview : encodeAdmissionReview)(response)) as {
      response: unknown;
    };
    const hidden = wouldDeny(verdict);
    return {
      allowed: response.allowed,
      response: written.response,
      ...(hidden !== undefined && { wouldDeny: hidden || "denied without a message" }),
      warnings: response.warnings ?? [],
      explained: explainAnswer(asking, verdict.outcome, (group) => explainer.membersOf(group)),
      ...diffOf(review, verdict),
      milliseconds: verdict.milliseconds,
    };
  }

  #read(draft: PageSource, generation: number): Draft {
    return readDraft(draft, this.#tools.file, this.#configOf(generation));
  }

  /** What is served, read anew for each generation: what the server serves was read from the same files. */
  #configOf(generation: number): Config {
    if (this.#config?.generation !== generation) {
      const read = loadConfig(this.#tools.file);
      const config = read.ok ? read.config : { file: this.#tools.file, entries: [], files: [] };
      this.#config = { generation, config };
    }
    return this.#config.config;
  }

  async #draftLoaded(key: string, { config }: Draft): Promise<Loaded> {
    this.#draft = await this.#loaded(key, config, true, this.#draft);
    return this.#draft;
  }

  async #servedLoaded(generation: number): Promise<Loaded> {
    this.#served = await this.#loaded(String(generation), this.#configOf(generation), false, this.#served);
    return this.#served;
  }

  async #loaded(key: string, config: Config, closed: boolean, before: Loaded | undefined): Promise<Loaded> {
    if (before?.key === key) return before;
    before?.loader.close();
    const explainer = new Explainer();
    const loader = this.#tools.openLoader({ closed, watcher: explainer });
    return { key, explainer, loader, result: await loader.load(config) };
  }
}

/** Of a draft, with what was found when it was loaded. */
function shown({ problems, file, config }: Draft, found: readonly Problem[]): readonly PageProblem[] {
  return pageProblems([...problems, ...found], file, config.files);
}

function entryOf(id: string | undefined, { entries }: PolicySet): ServedPolicy {
  if (id === undefined) throw new PageError(422, "the draft has no entry");
  const entry = entries.get(id);
  if (entry === undefined) throw new PageError(404, `no policy is named ${JSON.stringify(id.replace(UNSEEN, "?"))}`);
  return entry;
}

/** What turns or hides the text that it stands in. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

function payloadProblem({ severity, line, column, path, message, endColumn }: Problem): PageProblem {
  return {
    severity,
    line,
    column,
    path: formatPath(path),
    message,
    ...(endColumn !== undefined && { endColumn }),
  };
}

function diffOf(review: Review, { response, outcome }: Verdict): Pick<Answer, "diff"> {
  const changed = response.patch === undefined ? undefined : changedObject(review, outcome);
  return changed === undefined ? {} : { diff: diffLines(changed.before, changed.after) };
}
