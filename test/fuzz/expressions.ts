/** Random well-formed expressions over a fixed set of variables, and random objects for them. The same seed gives the same ones everywhere. */
import {
  type Bindings,
  DYN,
  type Environment,
  INT,
  listType,
  mapType,
  STRING,
  type Value,
} from "../../src/cel/index.js";
import { BOOL, DOUBLE, type Type } from "../../src/cel/types.js";
import type { Random } from "../cel/support/mutations.js";

/** What an expression is made to yield; `any` is data of whatever kind. */
export type Kind = "string" | "int" | "double" | "bool" | "strings" | "ints" | "map" | "any";

const TYPES: Readonly<Record<Kind, Type>> = {
  string: STRING,
  int: INT,
  double: DOUBLE,
  bool: BOOL,
  strings: listType(STRING),
  ints: listType(INT),
  map: mapType(STRING, INT),
  any: DYN,
};

/** Texts of literals, and their values: the same literal can be written as a variable that is bound to its value. */
const LITERALS: Readonly<Record<Kind, readonly (readonly [text: string, value: Value])[]>> = {
  string: ["", "a", "b.c", "nginx:1.25", "é😀", "1Gi", "[a-c]+", "constructor", "longer than ten characters"].map(
    (text) => [JSON.stringify(text), text],
  ),
  int: [0, 1, 2, -1, 3, 9_007_199_254_740_991].map((number) => [String(number), number]),
  double: [
    ["0.5", 0.5],
    ["-2.25", -2.25],
    ["1e300", 1e300],
  ],
  bool: [
    ["true", true],
    ["false", false],
  ],
  strings: [
    ["[]", []],
    ["['a', 'b']", ["a", "b"]],
    ["['é😀', 'a', 'a']", ["é😀", "a", "a"]],
  ],
  ints: [
    ["[]", []],
    ["[1, 2, 3]", [1, 2, 3]],
    ["[3, 0, -1]", [3, 0, -1]],
  ],
  map: [
    ["{'a': 1}", { a: 1 }],
    ["{'b': 2, 'constructor': 3}", { b: 2, constructor: 3 }],
  ],
  any: [
    ["dyn('a')", "a"],
    ["dyn(1)", 1],
    ["dyn([1, 'a'])", [1, "a"]],
    ["dyn({'a': 'b'})", { a: "b" }],
    ["null", null],
  ],
};

const KINDS = Object.keys(TYPES) as readonly Kind[];
const literalName = (kind: Kind, index: number): string => `k_${kind}_${index}`;

/** Variables that stand for literals, bound to their values. */
const LITERAL_BINDINGS: Bindings = Object.fromEntries(
  KINDS.flatMap((kind) => LITERALS[kind].map(([, value], index) => [literalName(kind, index), value])),
);

/** `environment` with the variables of these expressions: one of each kind, `object` for data, and one for each literal. */
export function withVariables(environment: Environment): Environment {
  const own = KINDS.map((kind) => ({ name: kind === "any" ? "object" : `v_${kind}`, type: TYPES[kind] }));
  const literals = KINDS.flatMap((kind) =>
    LITERALS[kind].map((_, index) => ({ name: literalName(kind, index), type: TYPES[kind] })),
  );
  return environment.extend({ variables: [...own, ...literals] });
}

/** Forms of each kind; `$string` and the like are parts of that kind. `x` and `y` are the variables of the innermost loop. */
const FORMS: Readonly<Record<Kind, readonly string[]>> = {
  string: [
    "($string + $string)",
    "($bool ? $string : $string)",
    "string($int)",
    "string($bool)",
    "$string.lowerAscii()",
    "$string.replace($string, $string)",
    "$string.substring($int)",
    "$string.charAt($int)",
    "$string.trim()",
    "$strings.join($string)",
    "$strings[$int]",
    "'%s-%d'.format([$string, $int])",
    "string($any)",
    "$any.?a.orValue('z')",
    "$string.find($string)",
    "optional.of($string).optMap(x, x + $string).orValue($string)",
    "string(type($any) == string)",
  ],
  int: [
    "($int + $int)",
    "($int - $int)",
    "($int * $int)",
    "($int / $int)",
    "($int % $int)",
    "-($int)",
    "size($string)",
    "size($strings)",
    "$map[$string]",
    "$map.size()",
    "$ints[$int]",
    "int($string)",
    "int($double)",
    "$string.indexOf($string)",
    "$ints.sum()",
    "$ints.max()",
    "$ints.indexOf($int)",
    "($bool ? $int : $int)",
    "$map[?$string].orValue($int)",
    "($bool ? $map : $map)[$string]",
    "size($any)",
  ],
  double: ["($double + $double)", "($double / $double)", "double($int)", "($double * $double)", "double($string)"],
  bool: [
    "($bool && $bool)",
    "($bool || $bool)",
    "!($bool)",
    "($int < $int)",
    "($string <= $string)",
    "($double > $double)",
    "($int == $int)",
    "($string != $string)",
    "($any == $any)",
    "($strings == $strings)",
    "($map == $map)",
    "($string in $strings)",
    "($int in $ints)",
    "($string in $map)",
    "($any in $any)",
    "($any in [$any, $any])",
    "$string.startsWith($string)",
    "$string.endsWith($string)",
    "$string.contains($string)",
    "$string.matches($string)",
    "has($any.a)",
    "has($any.b.c)",
    "has(($bool ? $any : $any).a)",
    "$strings.all(x, x == $string)",
    "$ints.exists(x, x > $int && $bool)",
    "$ints.exists_one(x, x == $int)",
    "$map.all(x, y, y > $int)",
    "$any.all(x, x != $any)",
    "$any.exists(x, $bool)",
    "$ints.isSorted()",
    "isQuantity($string)",
    "$any.?a.hasValue()",
    "bool($string)",
    "($any < $any)",
  ],
  strings: [
    "[$string, $string]",
    "($strings + $strings)",
    "$strings.map(x, x + $string)",
    "$strings.filter(x, x != $string)",
    "$strings.map(x, $bool, x)",
    "$string.split($string)",
    "$map.map(x, x)",
    "[?$any.?a, $string]",
    "($bool ? $strings : $strings)",
    "$strings.sortBy(x, x)",
  ],
  ints: [
    "[$int]",
    "($ints + $ints)",
    "$ints.map(x, x * $int)",
    "$ints.filter(x, x < $int)",
    "$strings.map(x, size(x))",
    "$ints.transformList(x, y, x + y)",
    "($bool ? $ints : $ints)",
    "$ints.sort()",
  ],
  map: [
    "{$string: $int}",
    "{'a': $int, $string: $int}",
    "{?'a': $map[?$string], 'b': $int}",
    "$map.transformMap(x, y, y + $int)",
    "$map.transformMap(x, y, y > $int, y)",
    "($bool ? $map : $map)",
  ],
  any: [
    "$any.a",
    "$any.b.c",
    "$any[$any]",
    "$any['a']",
    "$any[$int]",
    "$any.?b.c.orValue($any)",
    "$any[?$string].orValue($any)",
    "($bool ? $any : $any)",
    "($bool ? $any : $any).a",
    "($bool ? ($bool ? $any : $any.b) : $any.?a).c",
    "($bool ? $any : $any)[$bool ? $any : $any]",
    "($bool ? $any.?a : $any.?b).?c.orValue($any)",
    "dyn($string)",
    "dyn($int)",
    "dyn($double)",
    "dyn($bool)",
    "dyn($strings)",
    "dyn($map)",
    "$any.map(x, $any)",
    "$any.filter(x, x == $any)",
    "($any + $any)",
    "($any * $any)",
    "-($any)",
  ],
};

/** One expression, with its literals as they are and as variables bound to their values. */
export interface RandomExpression {
  readonly constant: string;
  readonly variable: string;
}

/** An expression of some kind at most so deep. */
export function randomExpression(random: Random, kind: Kind = random.pick(KINDS), depth = 4): RandomExpression {
  if (depth === 0 || random.below(6) === 0) {
    if (random.below(3) === 0) {
      const index = random.below(LITERALS[kind].length);
      return { constant: LITERALS[kind][index]?.[0] ?? "null", variable: literalName(kind, index) };
    }
    const name = kind === "any" ? "object" : `v_${kind}`;
    return { constant: name, variable: name };
  }
  let constant = "";
  let variable = "";
  for (const part of random.pick(FORMS[kind]).split(/(\$[a-z]+)/)) {
    const wanted = part.startsWith("$") ? (part.slice(1) as Kind) : undefined;
    const made =
      wanted === undefined ? { constant: part, variable: part } : randomExpression(random, wanted, depth - 1);
    constant += made.constant;
    variable += made.variable;
  }
  return { constant, variable };
}

const SCALARS: readonly Value[] = [null, true, false, 0, 1, -7, 0.5, "", "a", "b", "c", "é😀", "12", "constructor"];

function randomData(random: Random, depth: number): Value {
  const kind = depth === 0 ? 0 : random.below(4);
  if (kind < 2) return random.pick(SCALARS);
  const items = Array.from({ length: random.below(4) }, () => randomData(random, depth - 1));
  if (kind === 2) return items;
  return Object.fromEntries(items.map((item, index) => [["a", "b", "c", "constructor"][index], item]));
}

/** Values for all variables. */
export function randomBindings(random: Random): Bindings {
  const own = KINDS.map((kind) => {
    if (kind === "any")
      return ["object", { a: randomData(random, 2), b: randomData(random, 3), c: randomData(random, 1) }];
    return [`v_${kind}`, random.pick(LITERALS[kind])[1]];
  });
  return { ...LITERAL_BINDINGS, ...Object.fromEntries(own) };
}
