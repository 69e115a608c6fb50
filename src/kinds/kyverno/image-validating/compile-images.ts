/** Compiles the parts that only ImageValidatingPolicies have (spec kyverno.md 9). */

import { type FieldError, type FieldPath, invalid } from "../../../kubernetes/field-error.js";
import { isObject } from "../../../kubernetes/object.js";
import type { Attestor, Sought } from "../../../world/images/image-trust.js";
import type { Expression } from "../../shared/expressions/expression.js";
import type { ResultType } from "../../shared/expressions/result-type.js";
import type { PolicySpec, WrittenAttestor } from "../resource.js";
import type { CompiledAttestor, CompiledImages, ImageMatcher } from "./compiled-images.js";
import { globMatcher } from "./glob.js";

/** Compiles an expression at its place; `undefined` when it has a mistake, which is noted, or comes after one. */
export type CompileAt = (path: FieldPath, source: string | undefined, wanted: ResultType) => Expression | undefined;

interface ImageCompilers {
  readonly compile: CompileAt;
  /** Compiles expressions over `ref`. */
  readonly references: CompileAt;
  /** Notes a glob's mistake. */
  readonly refused: (error: FieldError) => void;
}

/** The parts that are compiled before the policy's variables: all except attestors. Of two extractors with the same name the later one counts. */
export function compileImages(spec: PolicySpec, { compile, references, refused }: ImageCompilers): CompiledImages {
  const { attestations = [], credentials, validationConfigurations, matchImageReferences = [], images = [] } = spec;
  const { allowInsecureRegistry = false, secrets = [] } = credentials ?? {};
  const matchers = matchImageReferences.flatMap(({ glob = "", expression: source }, i): readonly ImageMatcher[] => {
    const path = ["spec", "matchImageReferences", i];
    const matcher = glob === "" ? undefined : globMatcher(glob);
    if (typeof matcher === "function") return [{ glob: matcher, text: glob }];
    if (matcher !== undefined) refused(invalid([...path, "glob"], glob, matcher.error));
    const expression = matcher === undefined && references([...path, "expression"], source, "bool");
    return expression ? [{ expression }] : [];
  });
  const extractors = images.flatMap(({ name = "", expression: source }, i) => {
    const expression = compile(["spec", "images", i, "expression"], source, "list(string)");
    return expression === undefined ? [] : [[name, expression] as const];
  });
  const sought = attestations.map(({ name = "", intoto, referrer }): [string, Sought] => [
    name,
    intoto === undefined
      ? { kind: "referrer", artifactType: referrer?.type ?? "" }
      : { kind: "intoto", predicateType: intoto.type ?? "" },
  ]);
  return {
    matchers,
    extractors: new Map(extractors),
    attestors: [],
    attestations: new Map(sought),
    access: { ...(allowInsecureRegistry && { insecure: true }), ...(secrets.length > 0 && { secrets }) },
    mutateDigest: validationConfigurations?.mutateDigest !== false,
    verifyDigest: validationConfigurations?.verifyDigest !== false,
    required: validationConfigurations?.required !== false,
    undeclared: [],
  };
}

/** The attestors. */
export function compileAttestors({ attestors = [] }: PolicySpec, compile: CompileAt): readonly CompiledAttestor[] {
  return attestors.map((written, i): CompiledAttestor => {
    const expressions: Expression[] = [];
    const paths: FieldPath[] = [];
    const plain = attestorOf(written, (value, source, path) => {
      if (!isText(source)) return value;
      const at = ["spec", "attestors", i, ...path];
      const expression = compile(at, source, "string-or-dyn");
      if (expression !== undefined) {
        expressions.push(expression);
        paths.push(at);
      }
      return undefined;
    });
    return {
      name: written.name ?? "",
      expressions,
      paths,
      with: (values) => {
        let next = 0;
        return values.length === 0
          ? plain
          : attestorOf(written, (value, source) => (isText(source) ? values[next++] : value));
      },
    };
  });
}

const isText = (source: unknown): source is string => typeof source === "string" && source !== "";

/** Gives the text of a member: its value, or that of its expression at the path. */
type TextOf = (value: unknown, expression: unknown, path: FieldPath) => unknown;

/** Members whose value is a text or an expression. */
const TEXTS: ReadonlySet<unknown> = new Set(["cert", "certChain", "certs", "tsaCerts", "trustedRoot"]);

/**
 * An attestor as data: texts in place of expressions.
 * @param text is called for the same members in the same order every time
 */
const attestorOf = (written: WrittenAttestor, text: TextOf): Attestor => resolved(written, text, []) as Attestor;

function resolved(written: unknown, text: TextOf, path: FieldPath): unknown {
  const member = path.at(-1);
  if (Array.isArray(written)) return written.map((item, i) => resolved(item, text, [...path, i]));
  if (!isObject(written) || member === "annotations" || member === "additionalExtensions") return written;
  const { value, expression, data, subjectRegExp, subjectExpression, ...rest } = written;
  if (TEXTS.has(member)) return text(value, expression, [...path, "expression"]);
  const own = {
    ...rest,
    ...(member === "key" && { data: text(data, expression, [...path, "expression"]) }),
    ...(path.at(-2) === "identities" && {
      subjectRegExp: text(subjectRegExp, subjectExpression, [...path, "subjectExpression"]),
    }),
  };
  // An empty text means the same as none.
  const entries = Object.entries(own).map(([key, item]) => [key, resolved(item, text, [...path, key])] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined && item !== ""));
}
