import { readFile, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { admissionQuestion, rawQuestion } from "../admission/decode.js";
import { encodeAdmissionReview, encodeRawReview } from "../admission/encode.js";
import { type Asking, Explainer } from "../cel-policy/index.js";
import { doubtText, parseDoubtfulYaml, yamlText } from "../data/yaml.js";
import { createEvaluator } from "../evaluation/evaluator.js";
import type { Verdict } from "../evaluation/verdict.js";
import { explainAnswer } from "../explanation/index.js";
import { type Executor, recordSession, replaySession, SessionError } from "../loader/index.js";
import type { Review } from "../policy/index.js";
import { buildCertificateRequest, buildRequest, readRequest } from "./build-request.js";
import { decisionLines } from "./certificate-request-lines.js";
import { type CertificateRequestValues, certificateRequestValues, givenFlags } from "./certificate-request-options.js";
import { explanationText } from "./explain/explanation.js";
import { type CommandIo, UsageError } from "./io.js";
import { createPolicySource, problemLines } from "./load.js";

/** Files and details of the question, as given on the command line. */
export interface EvalQuestion extends CertificateRequestValues {
  readonly object?: string;
  readonly old?: string;
  readonly operation?: string;
  readonly namespace?: string;
  readonly request?: string;
  readonly raw?: string;
  /** A file with a certification request, of which a CertificateRequest is made. */
  readonly csr?: string;
  /** A session file to write, or one to answer guests from. */
  readonly recordHostCapabilities?: string;
  readonly replayHostCapabilities?: string;
  /** Say on standard error how the answer came about. */
  readonly explain?: boolean;
}

const EXIT_ALLOWED = 0;
const EXIT_DENIED = 1;
const EXIT_ERROR = 2;

/**
 * `eval <id>`: asks one policy and prints the answer as the server would send it, indented.
 * @returns 0 allowed, 1 denied, 2 when the policy failed, is unavailable or unknown
 */
export async function evalCommand(
  id: string,
  question: EvalQuestion,
  values: Readonly<Record<string, unknown>>,
  io: CommandIo,
): Promise<number> {
  const review = await reviewOf(question, io);
  const session = await sessionOf(question);
  const explainer = question.explain === true ? new Explainer() : undefined;
  const source = createPolicySource(values, io.env, undefined, {
    ...(session && { executor: session.execute }),
    ...(explainer && { watcher: explainer }),
  });
  try {
    const loaded = await source.load();
    for (const line of problemLines(loaded)) io.stderr.write(`${line}\n`);
    if (loaded.fatal !== undefined) return EXIT_ERROR;
    const evaluator = createEvaluator(loaded.policies, { policyTimeout: source.policyTimeout });
    const origin = review.kind === "raw" ? "validate_raw" : "validate";
    const entry = loaded.policies.entries.get(id);
    if (entry === undefined) {
      io.stderr.write(`unknown policy: ${id} (known are ${[...loaded.policies.entries.keys()].join(", ")})\n`);
      return EXIT_ERROR;
    }
    const asked: Asking[] = [];
    const policy = explainer?.explained(entry.policy, (asking) => asked.push(asking)) ?? entry.policy;
    const verdict = await evaluator.evaluate({ ...entry, policy }, { review, origin });
    const answer = (review.kind === "raw" ? encodeRawReview : encodeAdmissionReview)(verdict.response);
    io.stdout.write(`${JSON.stringify(JSON.parse(answer), undefined, 2)}\n`);
    for (const line of decisionLines(verdict)) io.stderr.write(`${line}\n`);
    for (const detail of detailsOf(verdict)) io.stderr.write(`detail: ${detail}\n`);
    if (explainer !== undefined) {
      for (const asking of asked) {
        const explained = explainAnswer(asking, verdict.outcome, (group) => explainer.membersOf(group));
        io.stderr.write(`${explanationText(explained)}\n`);
      }
    }
    await session?.end(io);
    return exitCodeOf(verdict);
  } finally {
    source.close();
  }
}

interface Session {
  readonly execute: Executor;
  end(io: CommandIo): Promise<void>;
}

/** What guests ask of the host: recorded, replayed, or neither. */
async function sessionOf({
  recordHostCapabilities: record,
  replayHostCapabilities: replay,
}: EvalQuestion): Promise<Session | undefined> {
  if (record !== undefined && replay !== undefined)
    throw new UsageError("a session is either recorded or replayed: give one of the two options");
  if (record !== undefined) {
    const { execute, text: written } = recordSession();
    return { execute, end: () => writeFile(record, written()) };
  }
  if (replay === undefined) return undefined;
  const content = await readFile(replay).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${replay}`);
  try {
    const { execute, left } = replaySession(yamlText(content));
    const end = async (io: CommandIo) => {
      if (left() > 0) io.stderr.write(`warning: ${left()} recorded exchanges of ${replay} were not asked for\n`);
    };
    return { execute, end };
  } catch (error) {
    if (error instanceof SessionError) throw new UsageError(`${replay}: ${error.message}`);
    throw error;
  }
}

/** What the server would write to its log: why look-ups failed, with addresses and files. */
const detailsOf = ({ outcome, observations }: Verdict): readonly string[] => [
  ...new Set(
    [outcome, ...observations.map((observation) => observation.outcome)].flatMap(({ detail }) => detail ?? []),
  ),
];

function exitCodeOf({ response, outcome }: Verdict): number {
  if (response.allowed) return EXIT_ALLOWED;
  return outcome.verdict === "error" ? EXIT_ERROR : EXIT_DENIED;
}

async function reviewOf(question: EvalQuestion, io: CommandIo): Promise<Review> {
  const { object, old, operation, namespace, request, raw, csr } = question;
  if ([object, request, raw, csr].filter((given) => given !== undefined).length !== 1) {
    throw new UsageError("give exactly one of --object, --csr, --request and --raw");
  }
  const said = certificateRequestValues(question);
  if (csr !== undefined) {
    if (old !== undefined) throw new UsageError("--old is the former state of an --object: a --csr has none");
    const made = buildCertificateRequest(await bytesOf(csr, io), csr, { ...said, namespace });
    return admissionQuestion(buildRequest({ object: made, operation, namespace }));
  }
  const flags = givenFlags(said);
  if (flags !== "") throw new UsageError(`${flags}: only for a --csr; an object says these things itself`);
  if (raw !== undefined) return rawQuestion(await document(raw, io));
  if (request !== undefined) return readRequest(await document(request, io), request);
  const built = buildRequest({
    object: await document(object ?? "", io),
    ...(old !== undefined && { oldObject: await document(old, io) }),
    operation,
    namespace,
  });
  return admissionQuestion(built);
}

/** The one document of a file; `-` is standard input. YAML reads JSON too. */
async function document(file: string, io: CommandIo): Promise<unknown> {
  const documents = parseDoubtfulYaml(yamlText(await bytesOf(file, io)), (doubt) =>
    io.stderr.write(`warning: ${doubtText(doubt, file)}\n`),
  );
  if (documents.length !== 1) throw new UsageError(`${file} holds ${documents.length} documents, expected one`);
  return documents[0];
}

async function bytesOf(file: string, io: CommandIo): Promise<Buffer> {
  const content = file === "-" ? await buffer(io.stdin) : await readFile(file).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  return content;
}
