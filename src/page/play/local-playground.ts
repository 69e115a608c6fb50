/** Checks and evaluates drafts in this thread; it should be a thread of its own, because compiling a user's text may take any time. */

import { dirname, join, resolve } from "node:path";
import { encodeAdmissionReview, encodeRawReview } from "../../admission/encode.js";
import { ConfigFileError, ConfigFiles } from "../../config/config-files.js";
import { eachMistake } from "../../config/documents/each-mistake.js";
import { parseConfiguration } from "../../config/documents/source-document.js";
import { type Pair, pairOf, type SourceNode } from "../../config/documents/source-node.js";
import { type Config, formatPath, loadConfig, type Problem } from "../../config/index.js";
import { parsePlainJson } from "../../data/json.js";
import { changedObject, diffLines, explainAnswer } from "../../kinds/explanation/index.js";
import { type Asking, Explainer } from "../../kinds/shared/index.js";
import { definedKinds } from "../../loader/defined-kinds.js";
import { createLoader, type LoadedConfig, type LoaderOptions, type PolicyLoader } from "../../loader/index.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import type { Review } from "../../policy/index.js";
import { createEvaluator } from "../../policy/served/evaluator.js";
import type { PolicySet, ServedPolicy } from "../../policy/served/policy-set.js";
import type { Verdict } from "../../policy/served/verdict.js";
import { wouldDeny } from "../../policy/served/would-deny.js";
import type { CheckAnswer, CheckQuestion, EvaluateAnswer, EvaluateQuestion, PageProblem, PageSource } from "../api.js";
import { PageError, type PageSources, type Playground } from "../playground.js";
import { MAX_DRAFT_LENGTH } from "../questions.js";
import { type Draft, ENTRY_FILE, readDraft } from "./draft.js";
import { reviewOf } from "./payload.js";

// The editable parts of the served policies: entries as they stand in the policies file, and the documents that an entry names.

/** Most characters of all of them: they are part of one answer. */
const MAX_LENGTH = 2 * 1024 * 1024;

/** The sources by id; undefined for modules, and for texts too long for a draft. */
function pageSources(file: string): PageSources {
  const files = new ConfigFiles();
  const sources = new Map<string, PageSource | undefined>();
  try {
    const text = files.read(file);
    const root = parseConfiguration(text, file).document?.root;
    let left = MAX_LENGTH;
    for (const pair of root?.kind === "map" ? root.pairs : []) {
      const source = sourceOf(pair, text, file, files);
      const fits = source !== undefined && source.text.length <= Math.min(left, MAX_DRAFT_LENGTH);
      if (fits) left -= source.text.length;
      sources.set(pair.key, fits ? source : undefined);
    }
  } catch (error) {
    // The server of the file reports its errors.
    if (!(error instanceof ConfigFileError)) throw error;
  }
  return sources;
}

function sourceOf({ keyStart, value }: Pair, text: string, file: string, files: ConfigFiles): PageSource | undefined {
  if (value.kind !== "map" || pairOf(value, "module") !== undefined || pairOf(value, "url") !== undefined)
    return undefined;
  const resource = pairOf(value, "resource")?.value;
  if (resource !== undefined && value.pairs.length === 1) return documentsOf(resource, file, files);
  return { kind: "entry", text: `${text.slice(keyStart, value.end).trimEnd()}\n` };
}

/** The files that an entry names, one behind the other. */
function documentsOf(resource: SourceNode, file: string, files: ConfigFiles): PageSource | undefined {
  const names = resource.kind === "list" ? resource.items : [resource];
  const texts: string[] = [];
  for (const name of names) {
    if (name.kind !== "scalar" || typeof name.value !== "string") return undefined;
    try {
      texts.push(...files.resources(name.value, file).map((each) => files.read(each).trimEnd()));
    } catch (error) {
      if (!(error instanceof ConfigFileError)) throw error;
      return undefined;
    }
  }
  return { kind: "resource", text: `${texts.map((each) => each.replace(/^---[ \t]*\n/, "")).join("\n---\n")}\n` };
}

/** Most problems that are shown: more can't be read. */
const MAX_PROBLEMS = 200;

/**
 * The problems of a draft, and of the files that it names, by place.
 * @param file the draft's file
 * @param files all files that it has read
 */
function pageProblems(problems: readonly Problem[], file: string, files: readonly string[]): PageProblem[] {
  const folder = `${dirname(file)}/`;
  const named = new Set([file, join(folder, ENTRY_FILE), ...files]);
  return problems
    .filter((problem) => named.has(problem.file))
    .flatMap(eachMistake)
    .map((problem) => pageProblem(problem, file, folder))
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_PROBLEMS);
}

/** Longest message: messages quote expressions, with the error behind them. */
const MAX_MESSAGE = 4_000;

function shortened(message: string): string {
  const half = MAX_MESSAGE / 2;
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, half)} … ${message.slice(-half)}`;
}

function pageProblem(problem: Problem, file: string, folder: string): PageProblem {
  const { severity, line, column, path, endColumn, code, hint } = problem;
  const isOwn = problem.file === file;
  // The place of the folder is not shown.
  const message = shortened(problem.message.replaceAll(folder, ""));
  const place = `${problem.file.replace(folder, "")}:${line}:${column}: `;
  const isGenerated = problem.file === `${folder}${ENTRY_FILE}`;
  return {
    severity: severity === "error" ? severity : "warning",
    line: isOwn ? line : 1,
    column: isOwn ? column : 1,
    ...(isOwn && endColumn !== undefined && { endColumn }),
    path: isOwn ? formatPath(path) : "",
    message: isOwn || isGenerated ? message : place + message,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
  };
}

/** Time limit of an evaluation, whatever drafts say. */
const MAX_EVALUATION_MS = 10_000;

/** Guests that run at a time: one person asks. */
const GUEST_THREADS = 1;

type Answer = NonNullable<EvaluateAnswer["answer"]>;

/** Policies that can be evaluated, explained. */
interface Loaded {
  /** The key of their inputs. */
  readonly key: string;
  readonly explainer: Explainer;
  readonly loader: PolicyLoader;
  readonly result: LoadedConfig;
}

/** A playground of this thread. Policies are evaluated one after the other; drafts are checked meanwhile. */
export class LocalPlayground implements Playground {
  readonly #settings: LoaderSettings;
  readonly #file: string;
  #config: { readonly generation: number; readonly config: Config } | undefined;
  readonly #checking: PolicyLoader;
  /** The last evaluated draft, and the served policies: changing a payload evaluates the same policies again. */
  #draft: Loaded | undefined;
  #served: Loaded | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param settings of the policies beside the drafts; their file need not be there */
  constructor(settings: LoaderSettings) {
    this.#settings = { ...settings, workers: GUEST_THREADS };
    this.#file = resolve(policiesFile(settings));
    this.#checking = this.#open({ closed: true, typeCheck: true });
  }

  #open(special: LoaderOptions): PolicyLoader {
    const cluster = special.closed ? { kubernetes: false, kubeconfig: undefined } : {};
    return createLoader({ ...this.#settings, ...cluster }, special);
  }

  async sources(): Promise<PageSources> {
    return pageSources(this.#file);
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
    const config = read?.config ?? this.#configOf(generation);
    const doubts: Problem[] = [];
    const review = reviewOf(
      question,
      definedKinds(() => config),
      (doubt) => doubts.push(doubt),
    );
    if ("problem" in review) return { problems, payloadProblem: payloadProblem(review.problem) };
    const [doubt] = doubts;
    const answer = await this.#ask(loaded, entry, review);
    return { problems, ...(doubt && { payloadProblem: payloadProblem(doubt) }), answer };
  }

  async #ask(
    { explainer, loader: { policyTimeout }, result }: Loaded,
    entry: ServedPolicy,
    review: Review,
  ): Promise<Answer> {
    explainer.begin();
    const asked: Asking[] = [];
    const policy = explainer.explained(entry.policy, (asking) => asked.push(asking));
    const evaluator = createEvaluator(result.policies, { policyTimeout });
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
    return readDraft(draft, this.#file, this.#configOf(generation));
  }

  /** The served configuration, read anew for each generation: the server has read it from the same files. */
  #configOf(generation: number): Config {
    if (this.#config?.generation !== generation) {
      const read = loadConfig(this.#file);
      const config = read.ok ? read.config : { file: this.#file, entries: [], files: [] };
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
    const loader = this.#open({ closed, watcher: explainer });
    return { key, explainer, loader, result: await loader.load(config) };
  }
}

/** The problems of a draft, with those found when it was loaded. */
function shown({ problems, file, config }: Draft, found: readonly Problem[]): readonly PageProblem[] {
  return pageProblems([...problems, ...found], file, config.files);
}

function entryOf(id: string | undefined, { entries }: PolicySet): ServedPolicy {
  if (id === undefined) throw new PageError(422, "the draft has no entry");
  const entry = entries.get(id);
  if (entry === undefined) throw new PageError(404, `no policy is named ${JSON.stringify(id.replace(UNSEEN, "?"))}`);
  return entry;
}

/** Characters that change the direction of the text around them, or hide it. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu;

function payloadProblem({ severity, line, column, path, message, endColumn }: Problem): PageProblem {
  return {
    severity: severity === "error" ? severity : "warning",
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
