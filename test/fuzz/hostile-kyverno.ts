/** Calls of Kyverno's functions with the hostile variables, alone and in loops: the same list in every run. */
import { formatType, type Type } from "../../src/cel/types.js";
import { libraryFunctions } from "../../src/kinds/kyverno/libraries/index.js";
import { hostileVariables } from "./hostile-objects.js";

const ALL = hostileVariables.map(({ name }) => name);
const TEXTS = hostileVariables.filter(({ type }) => type.kind === "string").map(({ name }) => name);
const LISTS = hostileVariables.filter(({ type }) => type.kind === "list").map(({ name }) => name);

const text = (value: string): string => JSON.stringify(value);
/** Nine levels of lists, each of which has the one before nine times. */
const LAUGHS = Array.from({ length: 9 }, (_, i) => {
  const before = i === 0 ? "x" : `*l${i - 1}`;
  return `l${i}: &l${i} [${Array.from({ length: 9 }, () => before).join(", ")}]`;
}).join("\n");

/** What may be passed for a parameter, by its type. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  "kyverno.image": ["image('nginx:1')", "image('registry.acme.example/' + letters.substring(0, 200000))"],
  "json.Json": ["json"],
  "yaml.Yaml": ["yaml"],
  double: ["1.5", "1e308", "-5e-324"],
  int: ["one", "many", "-1", "300"],
  timestamp: ["timestamp('2024-01-01T00:00:00Z')"],
  duration: ["duration('1h')", "duration('1ns')"],
  bytes: ["bytes(letters)", "gzip.compress(letters)", "gzip.compress(gzip.compress(mixed))"],
};

const choices = (type: Type): readonly string[] =>
  type.kind === "string"
    ? TEXTS
    : type.kind === "list"
      ? LISTS
      : (CHOICES[formatType(type)] ?? ALL.map((name) => `dyn(${name})`));

/** Texts that are made for one function. */
const MADE: readonly string[] = [
  `yaml.parse(${text(LAUGHS)})`,
  `yaml.parse(${text("- ".repeat(2_000))})`,
  "yaml.parse('a: ' + letters)",
  "yaml.parse('\"' + beyond)",
  "yaml.parse('- a\\n'.replace('a', letters.substring(0, 1000)) + dots)",
  "yaml.parse(texts.join('\\n- '))",
  "yaml.parse(texts.join(': 1\\n'))",
  "json.unmarshal('[' + texts.map(t, '1').join(',') + ']')",
  "json.unmarshal('\"' + letters + '\"')",
  `json.unmarshal(${text("[".repeat(5_000))})`,
  "json.marshal([object, object])",
  "yaml.parse(json.marshal(wide))",
  "gzip.decompress(gzip.compress(letters))",
  "gzip.decompress(gzip.compress(object))",
  "random('[a-z]{1000}')",
  "random('([a-z]{100}){100}')",
  "random('(((a|b){10}){10}){10}')",
  "random(pattern)",
  "random(classes)",
  "x509.decode('-----BEGIN CERTIFICATE-----\\n' + letters + '\\n-----END CERTIFICATE-----\\n')",
  "x509.decode('-----BEGIN CERTIFICATE-----\\n'.replace('x', '') + blanks)",
  "listObjToMap(maps, maps, 'name', 'other')",
  "listObjToMap(few, few, 'name', 'list')",
  "image('a/' + letters + ':1').tag()",
  "isImage(letters + '@sha256:' + digits)",
  "isImage(texts.join('/'))",
  "parseServiceAccount('system:serviceaccount:' + letters)",
];

const LOOPS: readonly ((body: string) => string)[] = [
  (body) => body,
  (body) => `numbers.all(i, [${body}].size() == 1)`,
  (body) => `few.map(m, ${body}).size() > 0`,
  (body) => `[${Array.from({ length: 40 }, () => body).join(", ")}].size() == 40`,
];

/** All of them. */
export function* kyvernoExpressions(): Generator<string> {
  let turn = 0;
  for (const { name, overloads } of libraryFunctions) {
    for (const { member = false, params } of overloads) {
      const each = params.map(choices);
      for (let round = 0; round < Math.max(1, ...each.map(({ length }) => Math.min(length, 25))); round++) {
        turn += 1;
        const args = each.map((choice, index) => choice[(round + turn * 5 * index) % choice.length] ?? "1");
        const call = member ? `${args[0]}.${name}(${args.slice(1).join(", ")})` : `${name}(${args.join(", ")})`;
        for (const loop of LOOPS) yield loop(call);
      }
    }
  }
  for (const body of MADE) for (const loop of LOOPS) yield loop(body);
}
