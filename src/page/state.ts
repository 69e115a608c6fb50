/** The state that the page shows: the policies as in `GET /policies`, and the structure of groups. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { VERSION } from "../data/version.js";
import type { PolicySet, ServedPolicy } from "../policy/served/policy-set.js";
import type { PageGroup, PagePolicy, PageState } from "./api.js";
import { EXAMPLES } from "./examples.js";
import { expressionTree } from "./expression-tree.js";
import type { PageSources, Playground } from "./playground.js";

/** Milliseconds for which making a state holds the thread at a stretch. */
const STRETCH_MS = 10;

const NOT_OF_THE_FILE =
  "it is not in the policies file: it comes from a cluster, or the file has changed. The page asks and edits what the file has";

/** States as texts, made once for each set. */
export class PageStates {
  readonly #playground: Playground | undefined;
  #made: { readonly policies: PolicySet; readonly text: Promise<string> } | undefined;

  constructor(playground: Playground | undefined) {
    this.#playground = playground;
  }

  /** `GET /page/state`. */
  text(policies: PolicySet): Promise<string> {
    if (this.#made?.policies === policies) return this.#made.text;
    const text = this.#make(policies);
    this.#made = { policies, text };
    // A failed one is made again.
    text.catch(() => {
      if (this.#made?.text === text) this.#made = undefined;
    });
    return text;
  }

  async #make(policies: PolicySet): Promise<string> {
    const sources = await this.#playground?.sources(policies.generation);
    return JSON.stringify(await pageState(policies, sources));
  }
}

/**
 * The state.
 * @param sources the editable sources; absent: the page is for reading
 */
export async function pageState(policies: PolicySet, sources?: PageSources): Promise<PageState> {
  const shown: PagePolicy[] = [];
  let ends = performance.now() + STRETCH_MS;
  for (const entry of policies.entries.values()) {
    shown.push(pagePolicy(entry, sources));
    if (performance.now() < ends) continue;
    await nextTurn();
    ends = performance.now() + STRETCH_MS;
  }
  return {
    version: VERSION,
    mode: sources === undefined ? "read" : "play",
    generation: policies.generation,
    policies: shown,
    examples: sources === undefined ? [] : EXAMPLES,
  };
}

function pagePolicy(
  { id, policy, mode, allowedToMutate, unavailable, outdated }: ServedPolicy,
  sources: PageSources | undefined,
): PagePolicy {
  const source = sources?.get(id);
  // A member that is defined in its group stands in the group's entry.
  const [top = id] = id.split("/", 1);
  const isForeign = sources !== undefined && !sources.has(id) && !sources.has(top);
  const { kind, implementation, composition } = policy;
  const group: PageGroup | undefined = composition && {
    expression: composition.expression,
    tree: expressionTree(
      composition.expression,
      composition.members.map(({ name }) => name),
    ),
    members: composition.members,
  };
  return {
    id,
    kind,
    implementation,
    mode,
    allowedToMutate,
    ...(unavailable !== undefined && { error: unavailable }),
    ...(outdated !== undefined && { outdated }),
    ...(group && { group }),
    ...(source && { source }),
    ...(isForeign && { shownOnly: NOT_OF_THE_FILE }),
  };
}
