/** What policies will ask of the world, said before there is one: a configuration whose policies ask a cluster for nothing needs none. */
import { apiVersionOf, type GroupVersionKind } from "../kubernetes/names.js";

/** What is asked for. */
export interface Needs {
  /** Namespaces, for their labels or for `namespaceObject`. */
  readonly namespaces: boolean;
  /** Kinds of parameters. */
  readonly params: readonly GroupVersionKind[];
  /** Who may do what. */
  readonly authorizer: boolean;
  /** The versions in which resources are served that are neither built in nor defined by a document. */
  readonly equivalents: boolean;
}

/** What policies ask for, and what of it nobody but a cluster can answer. */
export interface WorldUse {
  /** Documents beside the policies are looked at first. */
  readonly asks: Needs;
  /** What no document brings, and they can't do without. */
  readonly needs: Needs;
}

/** Nothing. */
export const NO_NEEDS: Needs = { namespaces: false, params: [], authorizer: false, equivalents: false };

/** Whether anything is asked for. */
export const isAny = ({ namespaces, params, authorizer, equivalents }: Needs): boolean =>
  namespaces || authorizer || equivalents || params.length > 0;

/** The needs of several. */
export function unionOf(needs: readonly Needs[]): Needs {
  const params = new Map<string, GroupVersionKind>();
  for (const kind of needs.flatMap((each) => each.params)) params.set(`${apiVersionOf(kind)}/${kind.kind}`, kind);
  return {
    namespaces: needs.some(({ namespaces }) => namespaces),
    params: [...params.values()],
    authorizer: needs.some(({ authorizer }) => authorizer),
    equivalents: needs.some(({ equivalents }) => equivalents),
  };
}
