/** Compiles the parts that only ImageValidatingPolicies have (spec kyverno.md 9). */

import type { FieldPath } from "../../../kubernetes/field-error.js";
import type { Attestor, Sought } from "../../../world/images/image-trust.js";
import type { Expression } from "../../shared/expressions/expression.js";
import type { ResultType } from "../../shared/expressions/result-type.js";
import type { PolicySpec, WrittenAttestor } from "../resource.js";
import type { CompiledAttestor, CompiledImages, ImageMatcher } from "./compiled-images.js";
import { globMatcher } from "./glob.js";

/** Compiles an expression at its place; `undefined` when it has a mistake, which is noted. */
export type CompileAt = (path: FieldPath, source: string | undefined, wanted: ResultType) => Expression | undefined;

/**
 * The matchers of images.
 * @param refused notes a glob that does not compile
 */
export const compileMatchers = (
  { matchImageReferences = [] }: PolicySpec,
  compile: CompileAt,
  refused: (path: FieldPath, glob: string, error: string) => void,
): readonly ImageMatcher[] =>
  matchImageReferences.flatMap(({ glob = "", expression: source = "" }, i): readonly ImageMatcher[] => {
    const path = ["spec", "matchImageReferences", i];
    if (glob !== "") {
      const matcher = globMatcher(glob);
      if (typeof matcher === "function") return [{ glob: matcher }];
      refused([...path, "glob"], glob, matcher.error);
      return [];
    }
    const expression = compile([...path, "expression"], source, "bool");
    return expression === undefined ? [] : [{ expression }];
  });

/** The extractors, by the names of their lists; of two with the same name the later one counts. The first one with a mistake ends them. */
export function compileExtractors(
  { images = [] }: PolicySpec,
  compile: CompileAt,
  ended: () => boolean,
): ReadonlyMap<string, Expression> {
  const extractors = new Map<string, Expression>();
  for (const [i, { name = "", expression: source }] of images.entries()) {
    const expression = compile(["spec", "images", i, "expression"], source, "list(string)");
    if (expression !== undefined) extractors.set(name, expression);
    if (ended()) break;
  }
  return extractors;
}

/** The attestors; the first mistake ends them. */
export function compileAttestors(
  { attestors = [] }: PolicySpec,
  compile: CompileAt,
  ended: () => boolean,
): readonly CompiledAttestor[] {
  const compiled: CompiledAttestor[] = [];
  for (const [i, written] of attestors.entries()) {
    const expressions: Expression[] = [];
    const constant = attestorOf(written, ({ value, expression: source = "" }, path) => {
      if (source === "" || ended()) return value;
      const expression = compile(["spec", "attestors", i, ...path], source, "string-or-dyn");
      if (expression !== undefined) expressions.push(expression);
      return undefined;
    });
    if (ended()) break;
    const isConstant = expressions.length === 0;
    compiled.push({
      name: written.name ?? "",
      expressions,
      with: (values) => {
        if (isConstant) return constant;
        let next = 0;
        return attestorOf(written, ({ value, expression = "" }) => (expression === "" ? value : values[next++]));
      },
    });
  }
  return compiled;
}

/** A text that is written, or is the value of an expression. */
interface Text {
  readonly value?: string | undefined;
  readonly expression?: string | undefined;
}

/**
 * An attestor as data.
 * @param text gives a text; it is called in the same order every time, with the place of its expression
 */
function attestorOf(
  { name = "", cosign, notary }: WrittenAttestor,
  text: (text: Text, path: FieldPath) => string | undefined,
): Attestor {
  const at = (written: Text | undefined, path: FieldPath): string | undefined =>
    written && text(written, [...path, "expression"]);
  if (cosign === undefined)
    return {
      name,
      notary: present({
        certs: at(notary?.certs, ["notary", "certs"]),
        tsaCerts: at(notary?.tsaCerts, ["notary", "tsaCerts"]),
      }),
    };
  const { key, keyless, certificate, source, ctlog, annotations, trustedRoot } = cosign;
  const identities = keyless?.identities?.map(({ subjectExpression: expression, subjectRegExp: value, ...rest }, i) =>
    present({
      ...rest,
      subjectRegExp: text({ value, expression }, ["cosign", "keyless", "identities", i, "subjectExpression"]),
    }),
  );
  return {
    name,
    cosign: present({
      key:
        key &&
        present({
          data: at({ value: key.data, expression: key.expression }, ["cosign", "key"]),
          hashAlgorithm: key.hashAlgorithm,
        }),
      certificate:
        certificate &&
        present({
          cert: at(certificate.cert, ["cosign", "certificate", "cert"]),
          certChain: at(certificate.certChain, ["cosign", "certificate", "certChain"]),
        }),
      keyless: keyless && present({ ...keyless, identities }),
      source: source && present({ repository: source.repository, tagPrefix: source.tagPrefix }),
      ctlog: ctlog && present({ ...ctlog, url: undefined }),
      annotations,
      trustedRoot: at(trustedRoot, ["cosign", "trustedRoot"]),
    }),
  };
}

/** An object without members that are absent, or empty texts, which mean the same. */
const present = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== "")) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** Everything of these parts that is not an expression. */
export function plainImages({
  attestations = [],
  credentials,
  validationConfigurations: { mutateDigest = true, verifyDigest = true, required = true } = {},
}: PolicySpec): Pick<CompiledImages, "attestations" | "access" | "mutateDigest" | "verifyDigest" | "required"> {
  const { allowInsecureRegistry = false, secrets = [] } = credentials ?? {};
  return {
    attestations: new Map(attestations.map(({ name = "", intoto, referrer }) => [name, soughtOf(intoto, referrer)])),
    access: { ...(allowInsecureRegistry && { insecure: true }), ...(secrets.length > 0 && { secrets }) },
    mutateDigest,
    verifyDigest,
    required,
  };
}

const soughtOf = (intoto: { readonly type?: string } | undefined, referrer: { readonly type?: string } | undefined) =>
  (intoto === undefined
    ? { kind: "referrer", artifactType: referrer?.type ?? "" }
    : { kind: "intoto", predicateType: intoto.type ?? "" }) satisfies Sought;
