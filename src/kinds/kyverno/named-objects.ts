/** Objects that policies of one namespace may not use, found in the text of expressions as the reference finds them (spec kyverno.md 1.4). */
import { createEnvironment, type Environment, walk } from "../../cel/index.js";
import type { PolicySpec } from "./resource.js";

/** The syntax of the reference's search: without optionals, so that an expression that has them is skipped. */
const SYNTAX = { flavour: "kubernetes", version: "1.27" } as const;

/** Finds which of some names a policy's expressions mention; keep one for everything that is loaded together. */
export class NamedObjects {
  /** Made at first use: few policies need it. */
  #syntax: Environment | undefined;

  /** Whether an expression mentions the name, in any meaning. One that cannot be parsed mentions nothing. */
  mentions(spec: PolicySpec, name: string): boolean {
    return expressionsOf(spec).some((source) => {
      if (!source.includes(name)) return false;
      this.#syntax ??= createEnvironment(SYNTAX);
      const compiled = this.#syntax.compile(source, { check: false });
      if (!compiled.ok) return false;
      let found = false;
      walk(compiled.program.parsed.expr, (part) => {
        if (part.kind === "ident" && part.name === name) found = true;
      });
      return found;
    });
  }
}

function expressionsOf({
  variables = [],
  matchConditions = [],
  validations = [],
  auditAnnotations = [],
  mutations = [],
  images = [],
  matchImageReferences = [],
  attestors = [],
}: PolicySpec): readonly string[] {
  const ofAttestors: string[] = [];
  JSON.stringify(attestors, (key, value: unknown) => {
    if (/expression$/i.test(key) && typeof value === "string") ofAttestors.push(value);
    return value;
  });
  return [
    ...ofAttestors,
    ...[...variables, ...matchConditions, ...images, ...matchImageReferences].map(({ expression = "" }) => expression),
    ...validations.flatMap(({ expression = "", messageExpression = "" }) => [expression, messageExpression]),
    ...auditAnnotations.map(({ valueExpression = "" }) => valueExpression),
    ...mutations.flatMap(({ jsonPatch, applyConfiguration }) => [
      jsonPatch?.expression ?? "",
      applyConfiguration?.expression ?? "",
    ]),
  ];
}
