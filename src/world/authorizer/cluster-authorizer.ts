import { createHash } from "node:crypto";
import { limiter } from "../../data/limiter.js";
import { publicEvaluationError, reviewAccess } from "../../kubernetes/client/access-review.js";
import { ClusterUnreachable } from "../../kubernetes/client/errors.js";
import type { ClusterHttp } from "../../kubernetes/client/http.js";
import { ANSWER_KEPT_MS, MAX_CONNECTIONS, REQUEST_MS } from "../../kubernetes/client/limits.js";
import type { AccessAnswer } from "../../kubernetes/reader.js";
import { andThen, type Eventual } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import {
  type Authorizer,
  type AuthorizerAttributes,
  type AuthorizerDecision,
  type AuthorizerUser,
  undecidedFor,
} from "./authorizer.js";

/**
 * Longest text of a user's name, groups and extra values, which every question contains. Ten thousand groups with short names fit, and more
 * than any token or certificate has.
 */
const MAX_USER_CHARACTERS = 256 * 1024;
/** Length of text above which a user's key is a digest of it: ten thousand answers are kept under such keys. */
const MAX_KEY_CHARACTERS = 256;

/** The user of questions. */
interface Who {
  readonly user: AuthorizerUser;
  /** The part of a SubjectAccessReview's spec; undefined when it is longer than {@link MAX_USER_CHARACTERS}. */
  readonly spec: object | undefined;
  /** The same key for equal users. */
  readonly key: string;
}

/** `authorizer` of expressions in a cluster (spec validating-admission-policy.md 5.6): SubjectAccessReviews, answers kept for a moment. */
export class ClusterAuthorizer implements Authorizer {
  readonly #http: Pick<ClusterHttp, "post">;
  readonly #now: () => number;
  readonly #signal: AbortSignal;
  readonly #answers: LookUps<AccessAnswer>;
  /** Limits requests to the number of connections: those that wait take no memory for their text yet. */
  readonly #turn = limiter(MAX_CONNECTIONS);
  /** The user of the last question: a request has many questions about one. */
  #last: Who | undefined;

  /**
   * @param now monotonic milliseconds
   * @param signal ends requests under way
   */
  constructor(http: Pick<ClusterHttp, "post">, now: () => number, signal: AbortSignal) {
    this.#http = http;
    this.#now = now;
    this.#signal = signal;
    this.#answers = new LookUps(now);
  }

  authorize(attributes: AuthorizerAttributes): Eventual<AuthorizerDecision> {
    if (this.#last?.user !== attributes.user) this.#last = whoIs(attributes.user);
    const { spec, key } = this.#last;
    if (spec === undefined) return undecidedFor(TOO_MUCH);
    const what = whatIn(attributes);
    const ask = () => this.#ask({ ...spec, ...what });
    return andThen(
      this.#answers.ask(`${key} ${JSON.stringify(what)}`, ask, () => ANSWER_KEPT_MS),
      decisionOf,
    );
  }

  #ask(spec: object): Promise<AccessAnswer> {
    const latest = this.#now() + REQUEST_MS;
    return this.#turn(() => {
      // The caller has an answer by now, or is gone; later questions must not wait for this one.
      if (this.#now() > latest) throw new ClusterUnreachable("the API server did not answer in time");
      return reviewAccess(this.#http, spec, this.#signal);
    });
  }
}

const TOO_MUCH = new LookupFailure("the user has too many groups to be asked about");

function decisionOf(answer: Lookup<AccessAnswer>): AuthorizerDecision {
  if (answer instanceof LookupFailure) return undecidedFor(answer);
  const { evaluationError } = answer ?? {};
  return {
    decision: answer?.allowed ? "allow" : answer?.denied ? "deny" : "noOpinion",
    reason: answer?.reason ?? "",
    ...(evaluationError !== undefined && errorOf(evaluationError)),
  };
}

function errorOf(evaluationError: string): Pick<AuthorizerDecision, "error" | "detail"> {
  const error = publicEvaluationError(evaluationError);
  return error === evaluationError ? { error } : { error, detail: evaluationError };
}

function whoIs(user: AuthorizerUser): Who {
  const extra = Object.entries(user.extra).sort(([a], [b]) => (a < b ? -1 : 1));
  const spec = {
    ...given({ user: user.name, uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups].sort() }),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra.map(([key, values]) => [key, [...values].sort()])) }),
  };
  const text = JSON.stringify(spec);
  if (text.length > MAX_USER_CHARACTERS) return { user, spec: undefined, key: "" };
  if (text.length <= MAX_KEY_CHARACTERS) return { user, spec, key: text };
  return { user, spec, key: createHash("sha256").update(text).digest("base64") };
}

/** The part of a SubjectAccessReview's spec with the question. */
function whatIn(asked: AuthorizerAttributes): object {
  const { verb, group, version, resource, subresource, namespace, name, path, fieldSelector, labelSelector } = asked;
  if (path !== "") return { nonResourceAttributes: { path, verb } };
  const resourceAttributes = {
    ...given({ verb, group, version, resource, subresource, namespace, name }),
    ...(fieldSelector !== "" && { fieldSelector: { rawSelector: fieldSelector } }),
    ...(labelSelector !== "" && { labelSelector: { rawSelector: labelSelector } }),
  };
  return { resourceAttributes };
}

const given = (members: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ""));
