/** Kinds that the documents of policies define, for objects of commands. */
import type { Config } from "../config/index.js";
import { isJsonObject } from "../data/same-value.js";
import { KnownKinds } from "../world/objects/known-kinds.js";

/** Finds the built-in kinds, and those of CustomResourceDefinitions in a configuration, which is read at the first question. */
export function definedKinds(configuration: () => Config | undefined): KnownKinds["find"] {
  let kinds: KnownKinds | undefined;
  return (kind) => {
    const entries = kinds === undefined ? (configuration()?.entries ?? []) : [];
    const values = entries
      .flatMap((entry) => (entry.kind === "resource" ? entry.documents : []))
      .map(({ value }) => value);
    kinds ??= new KnownKinds(values.filter(isJsonObject));
    return kinds.find(kind);
  };
}
