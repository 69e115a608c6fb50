/** `images`: what Kyverno knows of the images of a Pod or its controller. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import { loopOf, type Scope } from "../scope.js";
import { known, memberOf, type Value } from "./value.js";

const GROUPS = ["containers", "initContainers", "ephemeralContainers"];

/** The text of images as a whole, which have no counterpart: it is found in a result. */
export const WHOLE = "images{}";

/** A value with members only. */
const opaque = (member: (key: string) => Value, more: Partial<Value> = {}): Value => ({
  cel: cel.primary(WHOLE),
  type: "map",
  nullable: false,
  fails: false,
  member,
  ...more,
});

/** The value of `images`. */
export function imagesOf(scope: Scope): Value {
  return opaque((group) => {
    if (!GROUPS.includes(group)) throw new NotConverted([], `images.${group} is not converted`);
    const spec = known(podSpec(scope), "map");
    const containers =
      group === "containers"
        ? known(cel.member(spec.cel, group), "list")
        : { ...memberOf(spec, group, scope), type: "list" as const };
    const info = (container: Cel): Value => imageOf(cel.member(container, "image"));
    const named = (name: Cel): Value => {
      const all = containers.sure ?? containers.cel;
      const { name: each } = loopOf(scope, "c");
      return info(cel.item(cel.loop(all, "filter", each, cel.equal(cel.primary(`${each}.name`), name)), 0));
    };
    const values = { ...containers, each: info };
    return opaque((name) => named(cel.literal(name)), { memberBy: named, values });
  });
}

/** The Pod's spec of any of the kinds of which Kyverno knows the images. */
function podSpec(scope: Scope): Cel {
  const { pod, object } = scope.roots;
  if (pod !== undefined) return cel.member(pod.object, "spec");
  const isKind = (kind: string): Cel => cel.equal(cel.member(object, "kind"), cel.literal(kind));
  const spec = cel.member(object, "spec");
  const template = (owner: Cel): Cel => cel.member(cel.member(owner, "template"), "spec");
  const job = template(cel.member(cel.member(spec, "jobTemplate"), "spec"));
  const text = cel.conditional(isKind("Pod"), spec, cel.conditional(isKind("CronJob"), job, template(spec)));
  return scope.inline ? text : scope.draft.variable("podSpec", text, []);
}

/** One image. */
function imageOf(source: Cel): Value {
  const image = cel.call("image", source);
  const registry = cel.method(
    cel.method(image, "registry"),
    "replace",
    cel.literal("index.docker.io"),
    cel.literal("docker.io"),
  );
  const repository = cel.method(image, "repository");
  // Kyverno's path has `library/` where it is written only.
  const isWritten = cel.method(source, "contains", cel.literal("library/"));
  const path = cel.conditional(
    isWritten,
    repository,
    cel.method(repository, "replace", cel.literal("library/"), cel.literal("")),
  );
  const text = (value: Cel): Value => known(value, "string");
  return opaque((key) => {
    switch (key) {
      case "registry":
        return text(registry);
      case "path":
        return text(path);
      case "name":
        return text(cel.method(cel.method(cel.method(repository, "split", cel.literal("/")), "last"), "value"));
      case "tag":
      case "digest":
        return possible(cel.method(image, key));
      case "reference":
        return text(cel.plus(registry, cel.literal("/"), path, cel.method(image, "identifierWithSeparator")));
      case "referenceWithTag":
        return text(cel.plus(registry, cel.literal("/"), path, cel.literal(":"), cel.method(image, "tag")));
      default:
        throw new NotConverted([], `${key} of an image is not converted`);
    }
  });
}

/** A part that an image need not have. */
function possible(part: Cel): Value {
  const optional = cel.call("optional.ofNonZeroValue", part);
  const present = cel.relation("!=", part, cel.literal(""));
  return known(cel.method(optional, "value"), "string", { optional, sure: part, present, nullable: true, fails: true });
}
