/**
 * Paths of a pod made into paths of what the pod is made from. The reference replaces text in the JSON of the whole spec: wherever a text mentions
 * a path, be it an expression, a message or a label's key (spec kyverno.md 3.3).
 */
import { setKey } from "../../../data/plain-object.js";
import { isObject } from "../../../kubernetes/object.js";
import type { ControllerVariant } from "./controllers.js";

/** Where a pod's `spec` and `metadata` stand in a controller. */
const TEMPLATES = {
  defaults: "spec.template",
  cronjobs: "spec.jobTemplate.spec.template",
} as const satisfies Partial<Record<ControllerVariant, string>>;

/** In the order in which they are replaced. A namespace is the controller's own, for templates have none. */
const PATHS = [
  { pattern: /object\.spec(?!\.namespace(?![A-Za-z0-9_]))/g, root: "object", member: "spec" },
  { pattern: /oldObject\.spec(?!\.namespace(?![A-Za-z0-9_]))/g, root: "oldObject", member: "spec" },
  { pattern: /object\.metadata(?!\.namespace(?![A-Za-z0-9_]))/g, root: "object", member: "metadata" },
  { pattern: /oldObject\.metadata(?!\.namespace(?![A-Za-z0-9_]))/g, root: "oldObject", member: "metadata" },
] as const;

/** Replaces the paths in every text of a JSON value, keys of maps included. What has no template at a fixed place stays as it is. */
export function replacePaths<T>(value: T, variant: ControllerVariant): T;
export function replacePaths(value: unknown, variant: ControllerVariant): unknown {
  return variant === "extract" ? value : replaceIn(value, TEMPLATES[variant]);
}

function replaceIn(value: unknown, template: string): unknown {
  if (typeof value === "string") return replaceText(value, template);
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, template));
  if (!isObject(value)) return value;
  const replaced: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value))
    setKey(replaced, replaceText(key, template), replaceIn(item, template));
  return replaced;
}

const replaceText = (text: string, template: string): string =>
  PATHS.reduce((so, { pattern, root, member }) => so.replace(pattern, `${root}.${template}.${member}`), text);
