/** Evaluates policies for an authorization server on requests from files (spec kyverno.md 6.3). */
import { Authorizer, type PreparedAuthorization } from "../../kinds/kyverno/authorization/index.js";
import type { World } from "../../world/world.js";
import type { Finding, ReportedPolicy } from "../reports/finding.js";
import type { Judge, Subject } from "./judge.js";
import { reportedPolicy } from "./kyverno-judge.js";

const NOTHING: readonly Finding[] = [];

/** Evaluates requests of the policies' modes only. */
export class AuthorizationJudge implements Judge {
  readonly policies: readonly ReportedPolicy[];
  readonly #authorizer: Authorizer;
  readonly #places: ReadonlyMap<unknown, number>;

  constructor({ policies }: PreparedAuthorization, world: World) {
    this.policies = policies.map(({ resource }) => reportedPolicy(resource));
    this.#authorizer = new Authorizer(policies, world);
    this.#places = new Map(policies.map(({ resource }, place) => [resource, place]));
  }

  judge(subject: Subject): readonly Finding[] | Promise<readonly Finding[]> {
    return subject.kind === "authorization" ? this.#ask(subject) : NOTHING;
  }

  async #ask({ request }: Extract<Subject, { readonly kind: "authorization" }>): Promise<readonly Finding[]> {
    const answers = await this.#authorizer.about(request);
    return answers.map(({ policy, rule, status, message }) => ({
      policy: this.#places.get(policy) ?? 0,
      rule,
      status,
      message,
      properties: {},
      exceptions: [],
    }));
  }
}
