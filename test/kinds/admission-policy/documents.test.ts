import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem, type Problem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import { sortDocuments } from "../../../src/kinds/admission-policy/documents.js";

/** What is said of one document that is neither a policy nor a binding. */
function said(text: string): readonly string[] {
  const problems: Problem[] = [];
  const { documents } = parseResources(text, "f.yaml");
  const { objects } = sortDocuments(documents, () => ({ kind: "other" }), problems);
  assert.equal(objects.length, 1);
  return problems.map(formatProblem);
}

describe("objects beside policies", () => {
  const SO = "the API server does not take it, and it may be any object that is looked up";
  const kinds = ["apiVersion: v1\nkind: ConfigMap", "apiVersion: v1\nkind: Namespace", "apiVersion: a.b/v1\nkind: X"];
  for (const kind of kinds) {
    test(`whose name or namespace is no text are errors where it stands: ${kind.replace("\n", ", ")}`, () => {
      for (const [metadata, at] of [
        ["{name: 1234}", "3:18: metadata.name: an object's name is not a text (write it in quotes)"],
        ["{name: true, namespace: x}", "3:18: metadata.name: an object's name is not a text (write it in quotes)"],
        ["{name: [a]}", "3:18: metadata.name: an object's name is not a text (write it in quotes)"],
        [
          "{name: a, namespace: 1234}",
          "3:32: metadata.namespace: an object's namespace is not a text (write it in quotes)",
        ],
        ["{labels: {a: 5}, name: 1234}", "3:34: metadata.name: an object's name is not a text (write it in quotes)"],
        ["[{name: a}]", "3:11: metadata: an object's metadata is not a map"],
      ] as const) {
        assert.deepEqual(said(`${kind}\nmetadata: ${metadata}\n`), [`f.yaml:${at}: ${SO}`]);
      }
      for (const metadata of ['{name: "1234"}', "{name: a, namespace: null}", "{name: null}", "{}", "null"]) {
        assert.deepEqual(said(`${kind}\nmetadata: ${metadata}\n`), []);
      }
    });

    test(`whose other metadata the API server does not take are warned of: ${kind.replace("\n", ", ")}`, () => {
      const [warning = "", ...others] = said(`${kind}\nmetadata: {name: a, labels: {a: 5}}\n`);
      assert.deepEqual(others, []);
      assert.match(warning, /^f.yaml:3:33: warning: .* a policy that asks for it fails: json: cannot unmarshal number/);
    });
  }
});
