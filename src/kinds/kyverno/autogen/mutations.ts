/** The expressions of a mutating policy about pods, rewritten for the controllers that create pods, as Kyverno 1.19 does. */
import type { PolicySpec } from "../resource.js";
import type { ControllerVariant } from "./controllers.js";

/** The places of a pod's `spec` and `metadata` in a controller. */
const TEMPLATES: Readonly<Record<Exclude<ControllerVariant, "extract">, readonly string[]>> = {
  defaults: ["spec", "template"],
  cronjobs: ["spec", "jobTemplate", "spec", "template"],
};

/** The replaced paths: the rest of `metadata` is the controller's own. */
const PATHS = /\b(object|oldObject|Object)\.(spec|metadata\.labels|metadata\.annotations)/g;

/** The spec with its match conditions and apply configurations rewritten: variables and JSON patches keep their paths. */
export function inTemplate(spec: PolicySpec, variant: ControllerVariant): PolicySpec {
  // Pods of other controllers are found in the object, which is not changed.
  if (variant === "extract") return spec;
  const template = TEMPLATES[variant];
  const moved = <T extends { readonly expression?: string | undefined }>(each: T): T => ({
    ...each,
    expression: rewritten(each.expression ?? "", template),
  });
  const matchConditions = spec.matchConditions?.map(moved);
  const mutations = spec.mutations?.map(({ applyConfiguration: merge, ...rest }) =>
    merge === undefined ? rest : { ...rest, applyConfiguration: moved(merge) },
  );
  return { ...spec, ...(matchConditions && { matchConditions }), ...(mutations && { mutations }) };
}

/** An expression with paths of the template in place of the pod's; a literal `Object{…}` at its beginning becomes part of the controller's. */
function rewritten(expression: string, template: readonly string[]): string {
  const replaced = expression.replace(PATHS, `$1.${template.join(".")}.$2`);
  const [, content] = /^Object[ \t\r\n]*\{(.*)$/s.exec(replaced.trim()) ?? [];
  const end = content === undefined ? 0 : closingBrace(content);
  if (content === undefined || end === 0) return replaced;
  const opening = template.map((name, i) => `${name}: ${["Object", ...template.slice(0, i + 1)].join(".")}{`);
  return `Object{${opening.join("")}${content.slice(0, end)}${"}".repeat(template.length + 1)}${content.slice(end + 1)}`;
}

/** The place of the brace that closes the literal, braces in texts counted like others; 0: there is none, or it is the first character. */
function closingBrace(content: string): number {
  let open = 1;
  for (let i = 0; i < content.length; i++) {
    if (content[i] === "{") open += 1;
    else if (content[i] === "}") open -= 1;
    if (open === 0) return i;
  }
  return 0;
}
