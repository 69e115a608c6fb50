/** Decides by a list in the configuration (spec certificate-request-policy.md 3.3, mode `map`). */
import { Wildcard } from "../../kubernetes/wildcard.js";
import type { Authorizer, AuthorizerAttributes, AuthorizerDecision, AuthorizerUser } from "./authorizer.js";

/** Some subjects, and the names allowed to all of them. */
export interface MapEntry {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  /** Service accounts as `namespace:name`. */
  readonly serviceAccounts?: readonly string[];
  /** Wildcard patterns. */
  readonly names: readonly string[];
  /** Wildcard patterns for namespaces; absent: all. */
  readonly namespaces?: readonly string[];
}

/** The verb and the resource of the list. */
export type MapTopic = Pick<AuthorizerAttributes, "verb" | "group" | "resource">;

const ALLOWED: AuthorizerDecision = Object.freeze({ decision: "allow", reason: "" });
const NOT_ALLOWED: AuthorizerDecision = Object.freeze({ decision: "noOpinion", reason: "" });

interface Prepared {
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly names: readonly Wildcard[];
  readonly namespaces: readonly Wildcard[] | undefined;
}

/** Allows by the list, for one verb and resource; has no opinion on anything else. */
export class MapAuthorizer implements Authorizer {
  readonly #topic: MapTopic;
  readonly #entries: readonly Prepared[];
  /** The rights of the last question's user: a request asks about many names in a row. */
  #last: { readonly user: AuthorizerUser; readonly namespace: string; readonly names: readonly Wildcard[] } | undefined;

  constructor(topic: MapTopic, entries: readonly MapEntry[]) {
    this.#topic = topic;
    this.#entries = entries.map(({ users = [], groups = [], serviceAccounts = [], names, namespaces }) => ({
      users: new Set([...users, ...serviceAccounts.map((account) => `system:serviceaccount:${account}`)]),
      groups: new Set(groups),
      names: names.map((pattern) => new Wildcard(pattern)),
      namespaces: namespaces?.map((pattern) => new Wildcard(pattern)),
    }));
  }

  authorize(asked: AuthorizerAttributes): AuthorizerDecision {
    const { verb, group, resource } = this.#topic;
    const { user, namespace, name } = asked;
    if (asked.verb !== verb || asked.group !== group || asked.resource !== resource) return NOT_ALLOWED;
    if (asked.subresource !== "" || asked.path !== "") return NOT_ALLOWED;
    if (this.#last?.user !== user || this.#last.namespace !== namespace) {
      this.#last = { user, namespace, names: this.#namesFor(user, namespace) };
    }
    return this.#last.names.some((pattern) => pattern.matches(name)) ? ALLOWED : NOT_ALLOWED;
  }

  #namesFor({ name, groups }: AuthorizerUser, namespace: string): readonly Wildcard[] {
    const own = this.#entries.filter((entry) => {
      if (!entry.users.has(name) && !groups.some((group) => entry.groups.has(group))) return false;
      return entry.namespaces === undefined || entry.namespaces.some((pattern) => pattern.matches(namespace));
    });
    return own.flatMap(({ names }) => names);
  }
}
