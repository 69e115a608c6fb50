/** Kinds that are known without a cluster: built-in ones, and those of CustomResourceDefinitions (spec kyverno.md 8.2). */
import { builtinScope } from "../../kubernetes/builtin-kinds.js";
import type { GroupVersionKind } from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";

interface Definition {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The kinds of a scan. */
export class KnownKinds {
  readonly #defined = new Map<string, Definition>();

  /** @param definitions CustomResourceDefinitions; other objects are skipped */
  constructor(definitions: readonly JsonObject[] = []) {
    for (const definition of definitions) {
      if (text(definition, "kind") !== "CustomResourceDefinition") continue;
      const spec = member(definition, "spec");
      const names = member(spec, "names");
      const namespaced = text(spec, "scope") !== "Cluster";
      this.#defined.set(`${text(spec, "group")}/${text(names, "kind")}`, { plural: text(names, "plural"), namespaced });
    }
  }

  /** Whether objects of the kind live in namespaces; undefined for a kind that is neither built in nor defined. */
  namespaced({ group, kind }: Pick<GroupVersionKind, "group" | "kind">): boolean | undefined {
    return this.#defined.get(`${group}/${kind}`)?.namespaced ?? builtinScope({ group, kind });
  }

  /** The resource of a kind; guessed where it is unknown. */
  resourceOf(group: string, kind: string): string {
    return this.#defined.get(`${group}/${kind}`)?.plural || guessed(kind.toLowerCase());
  }
}

/** The plural that the API machinery guesses, which is not the English one. */
function guessed(singular: string): string {
  if (singular.endsWith("endpoints")) return singular;
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
