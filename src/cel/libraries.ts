/**
 * The libraries of an environment: by flavour, and for Kubernetes by version, so that an expression means here what it means in a
 * cluster of that version (spec kubernetes-cel.md 4.1 and 4.14).
 */

import { LRUCache } from "lru-cache";
import {
  type Behaviour,
  behaviourOf,
  isSince,
  type KubernetesVersion,
  NEWEST_VERSION,
} from "../data/kubernetes-version.js";
import type { FunctionDeclaration, Implementation, Library } from "./declarations.js";
import { authzLibrary } from "./kubernetes/authz.js";
import { cidrLibrary } from "./kubernetes/cidr.js";
import { formatLibrary } from "./kubernetes/format.js";
import { ipLibrary } from "./kubernetes/ip.js";
import { jsonPatchLibrary } from "./kubernetes/jsonpatch.js";
import { kubernetesListsLibrary } from "./kubernetes/lists.js";
import { quantityLibrary } from "./kubernetes/quantity.js";
import { kubernetesRegexLibrary } from "./kubernetes/regex.js";
import { semverLibrary } from "./kubernetes/semver.js";
import { urlLibrary } from "./kubernetes/url.js";
import { PatternCache } from "./pattern/pattern.js";
import type { Flavour, LanguageExtension } from "./public-types.js";
import { comprehensionLibrary } from "./stdlib/comprehensions.js";
import { conversionLibrary, strictConversionLibrary } from "./stdlib/conversions.js";
import { encodersLibrary } from "./stdlib/encoders.js";
import { listsLibrary } from "./stdlib/lists.js";
import { mathLibrary } from "./stdlib/math.js";
import { operatorLibrary, operatorsWithoutOptionals } from "./stdlib/operators.js";
import { optionalLibrary } from "./stdlib/optionals.js";
import { regexLibrary } from "./stdlib/regex.js";
import { setsLibrary } from "./stdlib/sets.js";
import { latestStringsLibrary, stringsLibrary } from "./stdlib/strings.js";
import { textLibrary } from "./stdlib/text.js";
import { timeGetterLibrary } from "./stdlib/time-getters.js";
import type { Type } from "./types.js";
import type { Result } from "./values/value.js";

// Parsers that keep their latest answers: policies parse the same few quantities, addresses and times again and again.

/** Answers kept per function. */
const MAX_ANSWERS = 500;
/** Length of a text beyond which answers are not kept: long texts rarely come again, and fill the memory. */
const MAX_TEXT_LENGTH = 256;

/** The function with its latest answers kept. It must be pure, and its answers immutable. */
export function memoized(implementation: Implementation): Implementation {
  // Most functions of most environments are never called, and a cache takes its memory at once.
  let answers: LRUCache<string, NonNullable<Result>> | undefined;
  return (...args) => {
    const text = args[0];
    if (args.length !== 1 || typeof text !== "string" || text.length > MAX_TEXT_LENGTH) return implementation(...args);
    const known = answers?.get(text);
    if (known !== undefined) return known;
    const answer = implementation(text);
    if (answer === null) return answer;
    answers ??= new LRUCache({ max: MAX_ANSWERS });
    answers.set(text, answer);
    return answer;
  };
}

/** The overloads that parse. */
const PARSERS: ReadonlySet<string> = new Set([
  "string_to_quantity",
  "is_quantity_string",
  "string_to_url",
  "is_url_string",
  "string_to_ip",
  "is_ip",
  "string_to_cidr",
  "is_cidr",
  "string_to_semver",
  "is_semver_string",
  "string_to_timestamp",
  "string_to_duration",
]);

/** The declaration with its parsing overloads memoized. */
function withMemoizedParsers(declaration: FunctionDeclaration): FunctionDeclaration {
  if (!declaration.overloads.some(({ id }) => PARSERS.has(id))) return declaration;
  const overloads = declaration.overloads.map((each) =>
    PARSERS.has(each.id) && each.implementation !== undefined
      ? { ...each, implementation: memoized(each.implementation) }
      : each,
  );
  return { ...declaration, overloads };
}

/** Every extension of the language. */
const EXTENSIONS: readonly LanguageExtension[] = ["math", "encoders", "regex"];

/** The library of an extension; that of `bindings` is a macro, and `strings` takes the place of another. */
function extensionLibrary(extension: LanguageExtension, patterns: PatternCache): readonly Library[] {
  switch (extension) {
    case "math":
      return [mathLibrary];
    case "encoders":
      return [encodersLibrary];
    case "jsonpatch":
      return [jsonPatchLibrary];
    case "regex":
      return [regexLibrary(patterns)];
    case "bindings":
    case "strings":
      return [];
  }
}

/** The libraries of one environment, with caches that belong to it. */
function librariesOf(
  flavour: Flavour,
  extensions: readonly LanguageExtension[],
  behaviour: Behaviour,
): readonly Library[] {
  const patterns = new PatternCache();
  const common = [textLibrary(patterns), timeGetterLibrary()];
  const language = [operatorLibrary, conversionLibrary, ...common];
  const added = extensions.flatMap((extension) => extensionLibrary(extension, patterns));
  const newestStrings = flavour === "standard" || extensions.includes("strings");
  const plain = [operatorsWithoutOptionals, strictConversionLibrary, ...common];
  if (flavour === "cel-go") return [...plain, ...(newestStrings ? [latestStringsLibrary] : []), ...added];
  const libraries = [
    kubernetesListsLibrary,
    optionalLibrary,
    urlLibrary,
    kubernetesRegexLibrary(patterns),
    authzLibrary,
    quantityLibrary(behaviour),
    setsLibrary,
    ipLibrary,
    cidrLibrary,
    formatLibrary,
    comprehensionLibrary,
    semverLibrary,
    listsLibrary,
  ];
  // Strings come before Kubernetes' lists: the overloads of `indexOf` are tried in that order.
  const strings = newestStrings ? latestStringsLibrary : stringsLibrary;
  return [...language, strings, ...libraries, ...added];
}

/**
 * The libraries of an environment. `kubernetes` has those of `version`, without the overloads that came later; `standard` has
 * everything, whatever the version, and `cel-go` the language alone.
 *
 * @param extensions libraries that `kubernetes` and `cel-go` have beside their own
 */
export function libraries(
  flavour: Flavour,
  version: KubernetesVersion = NEWEST_VERSION,
  extensions: readonly LanguageExtension[] = [],
  behaviour: Behaviour = behaviourOf(version),
): readonly Library[] {
  const all = librariesOf(flavour, flavour === "standard" ? EXTENSIONS : extensions, behaviour).map((library) => ({
    ...library,
    functions: library.functions.map(withMemoizedParsers),
  }));
  if (flavour !== "kubernetes") return all;
  return all.map((library) => asOf(version, library)).filter((library) => library.functions.length > 0);
}

/** The library as it was in `version`. */
function asOf(version: KubernetesVersion, library: Library): Library {
  const functions = library.functions
    .map((declaration) => ({
      ...declaration,
      overloads: declaration.overloads.filter(({ since }) => since === undefined || isSince(version, since)),
    }))
    .filter(({ overloads }) => overloads.length > 0);
  return { ...library, functions };
}

/** All functions of some libraries by name; one that several libraries declare has the overloads of all, in order of the libraries. */
export const functionsByName = (from: readonly Library[]): ReadonlyMap<string, FunctionDeclaration> =>
  withFunctions(
    new Map(),
    from.flatMap(({ functions }) => functions),
  );

/** Functions by name with more of them: overloads are added to those of the same name, or take their place. */
export function withFunctions(
  before: ReadonlyMap<string, FunctionDeclaration>,
  added: readonly FunctionDeclaration[],
): ReadonlyMap<string, FunctionDeclaration> {
  const byName = new Map(before);
  for (const each of added) {
    const existing = each.replaces === true ? undefined : byName.get(each.name);
    byName.set(
      each.name,
      existing === undefined ? each : { ...existing, ...each, overloads: [...existing.overloads, ...each.overloads] },
    );
  }
  return byName;
}

/** The names of types that can be used as identifiers (spec kubernetes-cel.md 2.1), of some libraries. */
export const typeNamesOf = (from: readonly Library[]): ReadonlyMap<string, Type> =>
  new Map(from.flatMap(({ typeNames }) => [...(typeNames ?? [])]));
