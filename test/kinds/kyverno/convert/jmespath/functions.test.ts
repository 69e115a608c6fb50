import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { primary } from "../../../../../src/kinds/kyverno/convert/cel-text.js";
import { query } from "../../../../../src/kinds/kyverno/convert/jmespath/query.js";
import { resultOf as answerOf, refusal, scopeOf, written } from "../converted.js";

const converted = (source: string) => (scope: Parameters<typeof query>[1]) =>
  query(source.replaceAll("S.", "request.object.spec."), scope);

/** A call, the CEL that a person would have written, and its variables. `S` is the object's `spec`. */
const TEXTS: readonly (readonly [string, string, ...string[]])[] = [
  ["length(S.k)", "size(object.spec.k)"],
  [
    "length(S.k || `[]`)",
    "size(object.?spec.k.orValue(null) in variables.empty ? [] : object.spec.k)",
    'empty = [dyn(null), dyn(false), dyn(""), dyn([]), dyn({})]',
  ],
  ["length(keys(S.k))", "size([object.spec.k].filter(m, type(m) == map)[0].map(k, k))"],
  ["contains(S.k, 'a')", 'type(object.spec.k) == list ? "a" in object.spec.k : object.spec.k.contains("a")'],
  ["contains(S.k, `1`)", 'type(object.spec.k) == list ? 1 in object.spec.k : !object.spec.k.startsWith("")'],
  [
    "contains(S.k, S.v)",
    'type(object.spec.k) == list ? object.?spec.v.orValue(null) in object.spec.k : type(object.?spec.v.orValue(null)) == string ? object.spec.k.contains(object.?spec.v.orValue(null)) : !object.spec.k.startsWith("")',
  ],
  ["contains(['a', 'b'], S.k)", 'object.?spec.k.orValue(null) in ["a", "b"]'],
  [
    "contains(request.operation, S.k)",
    "type(object.?spec.k.orValue(null)) == string ? request.operation.contains(object.?spec.k.orValue(null)) : false",
  ],
  ["contains(keys(S.k), 'a')", '"a" in [object.spec.k].filter(m, type(m) == map)[0]'],
  ["contains(split(S.k, ','), 'a')", '"a" in object.spec.k.split(",")'],
  ["contains(split(S.k, ','), `1`)", 'dyn(1) in object.spec.k.split(",")'],
  ["keys(request.object.metadata.labels)", "object.metadata.labels.map(k, k)"],
  ["values(S.data)", "object.spec.data.map(k, object.spec.data[k])"],
  [
    "items(S.k, 'k', 'v')",
    'type(object.spec.k) == list ? object.spec.k.transformList(i, v, {"k": dyn(i), "v": dyn(v)}) : object.spec.k.map(k, k).sort().map(k, {"k": dyn(k), "v": dyn(object.spec.k[k])})',
  ],
  [
    "merge(S.labels, S.data)",
    "(object.spec.labels.map(k, k) + object.spec.data.map(k, k)).distinct().transformMapEntry(i, k, {k: k in object.spec.data ? object.spec.data[k] : object.spec.labels[k]})",
  ],
  [
    "merge(S.labels, {x: null})",
    '(object.spec.labels.map(k, k) + {"x": dyn(null)}.map(k, k)).distinct().transformMapEntry(i, k, {k: k in {"x": dyn(null)} ? {"x": dyn(null)}[k] : object.spec.labels[k]})',
  ],
  [
    "not_null(S.a, S.b, 'd')",
    'object.?spec.a.orValue(null) != null ? object.?spec.a.orValue(null) : object.?spec.b.orValue(null) != null ? object.?spec.b.orValue(null) : "d"',
  ],
  [
    "object_from_lists(S.labels, S.data)",
    "dyn(object.spec.labels.distinct()).transformMapEntry(i, k, {string(k): object.spec.data[?object.spec.labels.lastIndexOf(k)].orValue(null)})",
  ],
  [
    "label_match(S.labels, S.data)",
    "object.spec.labels.all(k, k in object.spec.data && object.spec.data[k] == object.spec.labels[k])",
  ],
  [
    "lookup(S.m, 'a')",
    '"a" in variables.value ? variables.value["a"] : null',
    "value = [object.spec.m].filter(m, type(m) == map)[0]",
  ],
  ["sort(S.k)", "dyn(object.spec.k.sort())"],
  ["sort_by(S.l, &p)", "dyn(object.spec.l.sortBy(e, e.p))"],
  ["sort_by(S.l, &p)[0].n", "dyn(object.spec.l.sortBy(e, e.p))[?0].optMap(e, e.n).orValue(null)"],
  ["max(S.k)", "object.spec.k.sort().last().orValue(null)"],
  ["min(S.k)", "object.spec.k.sort().first().orValue(null)"],
  ["max_by(S.l, &p)", "object.spec.l.reverse().sortBy(e, e.p).last().orValue(null)"],
  ["min_by(S.l, &p)", "object.spec.l.sortBy(e, e.p).first().orValue(null)"],
  ["map(&to_upper(@), S.k)", "(object.spec.k + dyn([])).map(e, e.upperAscii())"],
  ["map(&n, S.l)", "(object.spec.l + dyn([])).map(e, e.?n.orValue(null))"],
  [
    "max(map(&length(@), S.k))",
    "variables.value == [] ? null : dyn(variables.value.max())",
    "value = (object.spec.k + dyn([])).map(e, size(e))",
  ],
  [
    "reverse(S.k)",
    'type(object.spec.k) == list ? dyn(object.spec.k.reverse()) : object.spec.k.split("").reverse().join()',
  ],
  ["reverse(split(S.k, ','))", 'dyn(object.spec.k.split(",").reverse())'],
  [
    "to_array(S.k)",
    "type(object.?spec.k.orValue(null)) == list ? object.?spec.k.orValue(null) : [object.?spec.k.orValue(null)]",
  ],
  [
    "to_string(S.k)",
    "type(object.?spec.k.orValue(null)) == string ? object.?spec.k.orValue(null) : json.marshal(object.?spec.k.orValue(null))",
  ],
  ["to_string(length(S.k))", "string(size(object.spec.k))"],
  ["to_number('2400')", "2400.0"],
  ["to_number('x')", "null"],
  ["type('a')", '"string"'],
  ["starts_with(S.k, 'a')", 'object.spec.k.startsWith("a")'],
  ["ends_with(S.k, 'a')", 'object.spec.k.endsWith("a")'],
  ["to_upper(S.k)", "object.spec.k.upperAscii()"],
  ["to_lower(S.k)", "object.spec.k.lowerAscii()"],
  ["equal_fold(S.k, 'AbC')", 'object.spec.k.lowerAscii() == "abc"'],
  ["compare(S.a, S.b)", "object.spec.a < object.spec.b ? -1 : object.spec.a > object.spec.b ? 1 : 0"],
  ["trim(S.k, ' -')", 'regex.replace(object.spec.k, "^[ \\\\-]+|[ \\\\-]+$", "")'],
  ["trim_prefix(S.k, 'v')", 'object.spec.k.startsWith("v") ? object.spec.k.substring(1) : object.spec.k'],
  ["truncate(S.k, `3`)", "object.spec.k.substring(0, math.least(3, size(object.spec.k)))"],
  ["split(S.k, '/')[0]", 'object.spec.k.split("/")[?0].orValue(null)'],
  ["join(',', S.k)", 'object.spec.k.join(",")'],
  ["replace(S.k, 'a', 'b', `1`)", 'object.spec.k.replace("a", "b", 1)'],
  ["replace_all(S.k, 'a', 'b')", 'object.spec.k.replace("a", "b")'],
  ["regex_match('^v[0-9]+$', S.k)", 'string([object.spec.k].filter(v, type(v) != bool)[0]).matches("^v[0-9]+$")'],
  ["regex_match('^v[0-9]+$', split(S.k, '/')[0])", 'object.spec.k.split("/")[0].matches("^v[0-9]+$")'],
  [
    "regex_replace_all('([a-z]+)-(?P<n>[0-9]+)', S.k, '$2/$1$x$n$$')",
    'regex.replace(string([object.spec.k].filter(v, type(v) != bool)[0]), "([a-z]+)-(?P<n>[0-9]+)", "\\\\2/\\\\1\\\\2$")',
  ],
  [
    "regex_replace_all_literal('[0-9]', S.k, '$1\\')",
    'regex.replace(string([object.spec.k].filter(v, type(v) != bool)[0]), "[0-9]", "$1\\\\\\\\")',
  ],
  ["pattern_match('a*c?', S.k)", 'string([object.spec.k].filter(v, type(v) != bool)[0]).matches("(?s)^a.*c.$")'],
  [
    "pattern_match(S.p, S.k)",
    'string([object.spec.k].filter(v, type(v) != bool)[0]).matches("(?s)^\\\\Q" + object.spec.p.replace("*", "\\\\E.*\\\\Q").replace("?", "\\\\E.\\\\Q") + "\\\\E$")',
  ],
  ["to_boolean(S.k)", '{"true": true, "false": false}[object.spec.k.lowerAscii()]'],
  ["base64_encode(S.k)", "base64.encode(bytes(object.spec.k))"],
  ["base64_decode(S.k)", 'string(base64.decode(size(object.spec.k) % 4 == 0 ? object.spec.k : "="))'],
  ["parse_json(S.k)", "json.unmarshal(object.spec.k)"],
  ["parse_yaml(S.k)", "yaml.parse(object.spec.k)"],
  ["sha256(S.k)", "sha256(object.spec.k)"],
  ["x509_decode(S.k)", "x509.decode(object.spec.k)"],
  ["random('[a-z]{8}')", 'random("[a-z]{8}")'],
  ["add(S.a, `1`)", "(type(object.spec.a) == int ? double(object.spec.a) : object.spec.a) + 1.0"],
  ["add(length(S.a), `1`)", "double(size(object.spec.a)) + 1.0"],
  [
    "add('1Gi', S.a)",
    "variables.add",
    'add = cel.bind(q, quantity("1Gi").add(quantity(object.spec.a)).asApproximateFloat(), q == math.floor(q) ? string(int(q)) : string(q))',
  ],
  [
    "subtract('1h', S.a)",
    "variables.subtract",
    'subtract = cel.bind(d, duration("1h") - duration(object.spec.a), cel.bind(s, math.abs(d.getSeconds()), (d < duration("0s") ? "-" : "") + (s >= 3600 ? string(s / 3600) + "h" : "") + (s >= 60 ? string(s / 60 % 60) + "m" : "") + string(s % 60) + "s"))',
  ],
  ["divide(length(S.a), `2`)", "double(size(object.spec.a)) / 2.0"],
  [
    "divide(length(S.a), length(S.b))",
    "double(size(object.spec.a)) / (double(size(object.spec.b)) == 0.0 ? double(1 / 0) : double(size(object.spec.b)))",
  ],
  ["modulo(length(S.a), `2`)", "size(object.spec.a) % 2"],
  [
    "sum(S.k)",
    "variables.sum",
    'sum = type(object.spec.k[0]) != string ? dyn(object.spec.k.map(v, type(v) == int ? double(v) : v).sum()) : dyn(cel.bind(q, quantity(string(object.spec.k.map(v, int(math.round(quantity(v).asApproximateFloat() * 1000.0))).sum()) + "m").asApproximateFloat(), q == math.floor(q) ? string(int(q)) : string(q)))',
  ],
  [
    "sum(map(&length(@), S.k))",
    "variables.list == [] ? double(variables.list[0]) : variables.list.map(v, double(v)).sum()",
    "list = (object.spec.k + dyn([])).map(e, size(e))",
  ],
  ["avg(S.k)", "object.spec.k.map(v, type(v) == int ? double(v) : v).sum() / double(size(object.spec.k))"],
  ["abs(S.k)", "math.abs(object.spec.k)"],
  ["ceil(S.k)", "type(object.spec.k) == int ? object.spec.k : math.ceil(object.spec.k)"],
  ["floor(length(S.k))", "size(object.spec.k)"],
  ["round(S.k, `1`)", "type(object.spec.k) == int ? object.spec.k : math.round(object.spec.k, 1)"],
  ["time_now_utc()", "string(timestamp(int(time.now())))"],
  [
    "time_since('', S.k, '')",
    "variables.duration",
    'duration = cel.bind(d, time.now() - timestamp(object.spec.k), cel.bind(s, math.abs(d.getSeconds()), (d < duration("0s") ? "-" : "") + (s >= 3600 ? string(s / 3600) + "h" : "") + (s >= 60 ? string(s / 60 % 60) + "m" : "") + string(s % 60) + "s"))',
  ],
  [
    "time_since('2006-01-02', S.k, '2024-01-10')",
    "variables.duration",
    'duration = cel.bind(d, timestamp("2024-01-10T00:00:00Z") - timestamp(object.spec.k + "T00:00:00Z"), cel.bind(s, math.abs(d.getSeconds()), (d < duration("0s") ? "-" : "") + (s >= 3600 ? string(s / 3600) + "h" : "") + (s >= 60 ? string(s / 60 % 60) + "m" : "") + string(s % 60) + "s"))',
  ],
  [
    "time_diff(S.a, S.b)",
    "variables.duration",
    'duration = cel.bind(d, timestamp(object.spec.b) - timestamp(object.spec.a), cel.bind(s, math.abs(d.getSeconds()), (d < duration("0s") ? "-" : "") + (s >= 3600 ? string(s / 3600) + "h" : "") + (s >= 60 ? string(s / 60 % 60) + "m" : "") + string(s % 60) + "s"))',
  ],
  ["time_add(S.k, '4h')", 'string(timestamp(object.spec.k) + duration("4h"))'],
  ["time_to_cron(time_add(time_now_utc(), '4h'))", 'time.toCron(time.now() + duration("4h"))'],
  ["time_utc(S.k)", "string(timestamp(int(timestamp(object.spec.k))))"],
  ["time_parse('2006-01-02', S.k)", 'string(timestamp(object.spec.k + "T00:00:00Z"))'],
  ["time_parse('1702691171', S.k)", "string(timestamp(int(object.spec.k)))"],
  ["time_truncate(S.k, '2h')", 'string(time.truncate(timestamp(object.spec.k), duration("2h")))'],
  ["time_before(S.a, S.b)", "timestamp(object.spec.a) < timestamp(object.spec.b)"],
  ["time_after(time_now(), S.k)", "timestamp(object.spec.k) < time.now()"],
  [
    "time_between(S.a, S.b, S.c)",
    "timestamp(object.spec.b) < timestamp(object.spec.a) && timestamp(object.spec.a) < timestamp(object.spec.c)",
  ],
  [
    "semver_compare(S.k, '>=1.0.0 <2.0.0')",
    'isSemver(object.spec.k) && semver(object.spec.k).compareTo(semver("1.0.0")) >= 0 && semver(object.spec.k).compareTo(semver("2.0.0")) < 0',
  ],
  [
    "semver_compare(S.k, '<1.0.0 || 3.x')",
    '!isSemver(object.spec.k) || semver(object.spec.k).compareTo(semver("1.0.0")) < 0 || semver(object.spec.k).compareTo(semver("3.0.0")) >= 0 && semver(object.spec.k).compareTo(semver("4.0.0")) < 0',
  ],
];

test("a call of a function becomes the CEL that a person would have written", () => {
  for (const [source, ...texts] of TEXTS) assert.deepEqual(written(converted(source)), texts, source);
});

interface Answer {
  readonly spec: unknown;
  readonly error?: true;
  /** What a message prints; a value that is null prints nothing. */
  readonly prints?: string;
  readonly value?: null;
}

/** What Kyverno 1.19.1 answered. */
const ANSWERS = readFileSync(
  new URL("../../../../../../test/vectors/kyverno-old/jmespath-functions.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly query: string; readonly answers: readonly Answer[] });

/** Where CEL's answer is another one: the query, the object's `spec` and what CEL says. */
const DIFFERENT: readonly (readonly [string, string, string])[] = [
  // A quantity is printed as a number, a duration without parts of a second.
  ["sum(S.k)", '{"k":["1Gi","1Gi"]}', "2147483648"],
  ["sum(S.k)", '{"k":["100m","1"]}', "1.1"],
  ["subtract(S.a, S.b)", '{"a":"1Gi","b":"1Mi"}', "1072693248"],
  ["divide(S.a, S.b)", '{"a":"1Gi","b":2}', "536870912"],
  ["modulo(S.a, S.b)", '{"a":"5Gi","b":"2Gi"}', "1073741824"],
  ["add(S.a, S.b)", '{"a":"1Gi","b":"1Gi"}', "2147483648"],
  ["add(S.a, '1Gi')", '{"a":"1Gi"}', "2147483648"],
  ["multiply(S.a, S.b)", '{"a":"1Gi","b":2}', "2147483648"],
  ["multiply(S.a, S.b)", '{"a":2,"b":"1Gi"}', "2147483648"],
  ["multiply(S.a, S.b)", '{"a":"500m","b":0.5}', "0.25"],
  ["multiply(S.a, `2`)", '{"a":"1Gi"}', "2147483648"],
  ["sum(S.l[*].v)", '{"l":[{"v":"1Gi"},{}]}', "1073741824"],
  ["time_since('', S.a, S.b)", '{"a":"2024-01-01T00:00:00.5Z","b":"2024-01-01T00:00:01Z"}', "0s"],
  // CEL sorts numbers of one type only.
  ["min(S.k)", '{"k":[1.5,1]}', "error"],
  ["sort(S.k)", '{"k":[3,1.5]}', "error"],
  // CEL does not tell these wrong types apart.
  ["min(S.k)", '{"k":[true]}', "true"],
  ["add(S.a, '10s')", '{"a":"1m"}', "1m10s"],
  ["sort(S.k)", '{"k":[true]}', "[true]"],
  ["time_since('', S.a, S.b)", '{"a":5,"b":"2024-01-01T00:00:01Z"}', "473351h59m56s"],
  ["time_since('2006-01-02 15:04:05', S.a, '2024-01-02 00:00:00')", '{"a":"2024-01-01T12:00:00"}', "12h0m0s"],
  // Rare.
  ["min_by(S.k, &p).n", '{"k":[{"n":"a"}]}', "error"],
  ["path_canonicalize(S.k)", '{"k":"a//.."}', ""],
  ["path_canonicalize(S.k)", '{"k":"../a"}', "a"],
  ["truncate(S.k, S.n)", '{"k":"abc","n":1.5}', "error"],
  ["parse_json(S.k).a", '{"k":"[1]"}', "error"],
  ["divide(S.a, '1Mi')", '{"a":"1"}', "9.5367431640625e-7"],
  ["sum(map(&to_number(@), S.k))", '{"k":["x"]}', "error"],
];

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ["regex_match('^(?!x)a', S.k)", /is not an expression of RE2: an error in Kyverno always/],
  ["regex_match('(', S.k)", /is not an expression of RE2: an error in Kyverno always/],
  ["is_external_url(S.k)", /is_external_url of JMESPath is not converted: it looks names up in DNS/],
  ["round(S.k, S.n)", /round is converted where the count of digits is a known whole number/],
  ["round(S.k, `1.5`)", /round is converted where the count of digits is a known whole number/],
  ["time_since('Mon Jan _2 15:04:05 2006', S.a, '')", /times of the layout .* are not converted/],
  ["semver_compare(S.k, '1.0')", /"1.0" is not a range of versions that is converted/],
  ["semver_compare(S.k, '!=1.x')", /"!=1.x" is not a range of versions that is converted/],
  ["semver_compare(S.k, S.r)", /the range of semver_compare is converted where it is a text without variables/],
  ["regex_replace_all('a', S.k, S.r)", /the replacement of regex_replace_all is converted where/],
  ["trim(S.k, S.c)", /the set of characters of trim is converted where/],
  ["items(S.k, S.a, 'v')", /the name of keys of items is converted where/],
  ["no_such_function(S.k)", /the function no_such_function of JMESPath is not converted/],
  ["length(S.a, S.b)", /length takes 1 arguments, and 2 are an error in Kyverno/],
  ["length(`5`)", /argument 1 of length is number and not string\|array\|object: an error in Kyverno always/],
  ["sort_by(S.a, 'p')", /argument 2 of sort_by is string and not &: an error in Kyverno always/],
  ["length(&p)", /argument 1 of length is a reference and not string/],
  ["to_upper(length(S.k))", /argument 1 of to_upper is number and not string/],
  ["add(S.a, `true`)", /add needs numbers, quantities or durations: anything else is an error in Kyverno/],
  ["add('1Gi', `1`)", /add of quantity and number is an error in Kyverno always/],
];

test("functions answer as Kyverno does", () => {
  assert.ok(ANSWERS.length > 190);
  const different = new Map(DIFFERENT.map(([source, spec, says]) => [`${source} ${spec}`, says]));
  for (const { query: source, answers } of ANSWERS) {
    const short = source.replaceAll("request.object.spec.", "S.");
    if (REFUSED.some(([refused]) => refused === short)) continue;
    for (const { spec, error: fails, prints } of answers) {
      const object = { metadata: { name: "w" }, spec };
      const value = answerOf(converted(source), object);
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const key = `${short} ${JSON.stringify(spec)}`;
      const other = different.get(key);
      different.delete(key);
      const wanted = other ?? (fails ? "error" : (prints ?? "null"));
      // The condition that was asked is false of null and of "zz".
      assert.equal(text === "zz" ? "null" : text, wanted, `${source} of ${JSON.stringify(spec)}`);
    }
  }
  assert.deepEqual([...different.keys()], []);
});

test("what CEL can't say is refused by name, with the reason", () => {
  for (const [source, reason] of REFUSED) assert.match(refusal(converted(source)), reason, source);
});

test("loops have names of their own", () => {
  assert.deepEqual(written(converted("map(&keys(@), S.l)")), [
    "(object.spec.l + dyn([])).map(e, [e].filter(m, type(m) == map)[0].map(k, k))",
  ]);
  assert.deepEqual(written(converted("map(&sort_by(@, &length(p))[0], S.l)")), [
    "(object.spec.l + dyn([])).map(e, dyn(e.sortBy(e1, size(e1.p)))[?0].orValue(null))",
  ]);
  const term = converted("values(S.data)")(
    scopeOf({ roots: { object: primary("k"), oldObject: primary("oldObject") } }),
  );
  assert.equal(term.cel.text, "k.spec.data.map(k2, k.spec.data[k2])");
});
