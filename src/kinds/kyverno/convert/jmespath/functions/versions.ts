/** `semver_compare`: whether a version lies in a range, such as `>=1.2.0 <2.0.0 || 3.x`. */

import type { Cel } from "../../cel-text.js";
import * as cel from "../../cel-text.js";
import { isReadable } from "../../conditions/comparisons.js";
import { NotConverted } from "../../not-converted.js";
import { known, shared } from "../value.js";
import { declare, knownText } from "./declare.js";

const OPERATORS = {
  "": "==",
  "=": "==",
  "==": "==",
  "!": "!=",
  "!=": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
} as const;
type Operator = (typeof OPERATORS)[keyof typeof OPERATORS];
type Bound = readonly [Operator, string];

/** The bounds of one part, such as `>=1.2.0` or `1.2.x`. */
function boundsOf(part: string): readonly Bound[] {
  const [, sign = "", version = ""] = /^([<>=!]*)(.*)$/.exec(part) ?? [];
  const operator = (OPERATORS as Readonly<Record<string, Operator>>)[sign];
  if (
    operator !== undefined &&
    isReadable("semver", { cel: cel.NULL, constant: { value: version } }).yes.text === "true"
  )
    return [[operator, version]];
  const [, major, minor] = /^(\d+)(?:\.(\d+))?(?:\.x)+$/.exec(version) ?? [];
  if (operator === undefined || operator === "!=" || major === undefined)
    throw new NotConverted([], `${JSON.stringify(part)} is not a range of versions that is converted`);
  const low = `${major}.${minor ?? 0}.0`;
  const next = minor === undefined ? `${Number(major) + 1}.0.0` : `${major}.${Number(minor) + 1}.0`;
  if (operator === "==")
    return [
      [">=", low],
      ["<", next],
    ];
  return [operator === ">" ? [">=", next] : operator === "<=" ? ["<", next] : [operator, low]];
}

const rangeOf = (range: string): readonly (readonly Bound[])[] =>
  range
    .replace(/([<>=!])\s+/g, "$1")
    .split("||")
    .map((part) => part.trim().split(/\s+/).flatMap(boundsOf));

function holds(version: Cel, [operator, bound]: Bound): Cel {
  const order = cel.method(cel.call("semver", version), "compareTo", cel.call("semver", cel.literal(bound)));
  return cel.relation(operator, order, cel.literal(0));
}

/** Whether 0.0.0 is in the range: Kyverno takes it for what is not a version. */
function hasZero(range: readonly (readonly Bound[])[]): boolean {
  const order = (bound: string): number => (bound.startsWith("0.0.0-") ? 1 : /^0\.0\.0(\+|$)/.test(bound) ? 0 : -1);
  const test = { "==": [0], "!=": [-1, 1], "<": [-1], "<=": [-1, 0], ">": [1], ">=": [0, 1] } as const;
  return range.some((part) =>
    part.every(([operator, bound]) => (test[operator] as readonly number[]).includes(order(bound))),
  );
}

export const VERSION_FUNCTIONS = [
  declare("semver_compare", "string, string", (a, b, { scope }) => {
    const range = rangeOf(knownText("semver_compare", b, "the range"));
    const text = shared(a.cel, scope, (version) => {
      const isVersion = cel.call("isSemver", version);
      const isInside = cel.or(...range.map((part) => cel.and(...part.map((bound) => holds(version, bound)))));
      return hasZero(range) ? cel.or(cel.not(isVersion), isInside) : cel.and(isVersion, isInside);
    });
    return known(text, "bool");
  }),
];
