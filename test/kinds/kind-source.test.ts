import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../src/config/documents/problem.js";
import { parseResources } from "../../src/config/documents/source-document.js";
import type { ConfigEntry } from "../../src/config/entry.js";
import { parseConfig } from "../../src/config/index.js";
import type { DocumentKind, GroupKind, InlineKind, PreparedEntry } from "../../src/kinds/kind.js";
import { createKindSource } from "../../src/kinds/kind-source.js";
import { loadEntries } from "../../src/loader/loader.js";
import { NO_NEEDS } from "../../src/world/needs.js";

const TEXT = `
inline: { cel: { validations: [ { expression: "true" } ] } }
group: { expression: "member()", message: m, policies: { member: { cel: { validations: [ { expression: "true" } ] } } } }
`;

const made = (id: string): PreparedEntry => ({
  needs: NO_NEEDS,
  policy: () => ({
    id,
    kind: "cel",
    implementation: "fake",
    immediate: true,
    evaluate: () => ({ verdict: "allow" }),
  }),
});
const types = (name: string) => ({ policies: [{ group: `${name}.io`, kind: "Rule" }], companions: [] });
const documentKind = (name: string): DocumentKind => ({ ...types(name), prepare: ({ id }) => made(id) });
const inlineKind: InlineKind = { prepare: ({ id }) => made(id) };
const groupKind: GroupKind = {
  policy: ({ id }) => ({
    id,
    kind: "group",
    implementation: "fake",
    immediate: true,
    evaluate: () => ({ verdict: "allow" }),
  }),
  mistakes: () => [],
};

/** The entries of the text, and of documents of these kinds: an entry for each list of names. */
function entriesOf(...documents: readonly (readonly string[])[]): ConfigEntry[] {
  const read = parseConfig(TEXT, "p.yaml");
  assert.ok(read.ok);
  const [inline] = read.config.entries;
  assert.ok(inline?.kind === "cel");
  const { origin, policyMode, allowedToMutate } = inline;
  const resources = documents.map((names): ConfigEntry => {
    const text = names.map((name) => `{apiVersion: ${name}.io/v1, kind: Rule, metadata: {name: r}}\n`).join("---\n");
    return {
      kind: "resource",
      id: names.join("-"),
      origin,
      documents: parseResources(text, "rules.yaml").documents,
      policyMode,
      allowedToMutate,
    };
  });
  return [...read.config.entries, ...resources];
}

describe("kinds whose code is loaded when used", () => {
  test("leave what is of them unavailable while that fails, and nothing else; the next configuration tries again", async () => {
    const failing = new Set<string>();
    const loads: string[] = [];
    const load = async <T>(name: string, kind: T): Promise<T> => {
      loads.push(name);
      if (failing.has(name)) throw new Error("open '/srv/x.js'");
      return kind;
    };
    const source = createKindSource({
      documents: ["a", "b"].map((name) => ({ types: types(name), load: () => load(name, documentKind(name)) })),
      inline: () => load("inline", inlineKind),
      group: () => load("group", groupKind),
      modules: [],
    });
    const served = async (...failures: string[]) => {
      failing.clear();
      for (const name of failures) failing.add(name);
      const entries = entriesOf(["a"], ["b"], ["a", "b"]);
      const { policies, problems } = await loadEntries(
        { file: "p.yaml", files: [], entries },
        {
          kinds: await source.for(entries),
          fetchModule: () => assert.fail(),
          worldFor: () => ({ authorizer: { authorize: () => ({ decision: "noOpinion", reason: "" }) }, now: () => 0 }),
          prefetch: () => undefined,
          policyTimeout: 1000,
          watcher: undefined,
        },
      );
      const rows = [...policies.entries.values()].filter(({ unavailable }) => unavailable !== undefined);
      for (const { unavailable } of rows) {
        assert.match(unavailable ?? "", /the code for policies of this kind could not be loaded$/);
      }
      return { unavailable: rows.map(({ id }) => id), problems: problems.map(formatProblem) };
    };
    const documents = await served("a");
    assert.deepEqual(documents.unavailable, ["a", "a-b"]);
    assert.match(documents.problems[0] ?? "", /^rules.yaml:1:\d+: kind: the code .*\nopen '\/srv\/x.js'$/);
    assert.deepEqual((await served("inline", "group", "a")).unavailable, ["a", "a-b"]);
    assert.deepEqual((await served()).unavailable, []);
    assert.deepEqual(loads, ["a", "b", "inline", "group", "a", "a"]);
  });

  test("are unavailable in their entries and groups, too", async () => {
    const fail = () => Promise.reject(new Error("no"));
    const source = createKindSource({ documents: [], inline: fail, group: fail, modules: [] });
    const entries = entriesOf();
    const { inline, group } = await source.for(entries);
    const [cel, expression] = entries;
    assert.ok(cel?.kind === "cel" && expression?.kind === "group");
    assert.throws(() => inline.prepare(cel, () => {}), { code: "POLICY_LOAD", message: /could not be loaded$/ });
    assert.throws(() => group.policy(expression, [], () => {}), { code: "POLICY_LOAD" });
    assert.deepEqual(group.mistakes({} as never), []);
  });
});
