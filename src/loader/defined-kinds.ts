/** Kinds that the documents of policies define, for objects of commands. */
import type { Circumstances } from "../admission/build-request.js";
import type { Config } from "../config/index.js";
import { isObject } from "../kubernetes/object.js";
import { KnownKinds } from "../world/objects/known-kinds.js";

/** The kinds of CustomResourceDefinitions in a configuration, which is read when a kind is not built in. */
export function definedKinds(configuration: () => Config | undefined): Required<Circumstances>["find"] {
  let kinds: KnownKinds | undefined;
  return (kind) => {
    const entries = kinds === undefined ? (configuration()?.entries ?? []) : [];
    kinds ??= new KnownKinds(
      entries
        .flatMap((entry) => (entry.kind === "resource" ? entry.documents.map(({ value }) => value) : []))
        .filter(isObject),
    );
    return kinds.find(kind);
  };
}
