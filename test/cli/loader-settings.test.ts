import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { clusterEntryOptions, exemptNamespaces, loaderSettings } from "../../src/cli/loader-settings.js";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";
import { countsIn } from "../../src/config/from-cluster/index.js";
import { NAMESPACED_MODULE_MIB } from "../../src/config/from-cluster/namespaced-limits.js";
import { UsageError } from "../../src/data/command-io.js";
import { DEFAULT_BLOCKLIST } from "../../src/world/http/egress-rules.js";

test("what policies in namespaces may be is as the options say; without any of them there are no limits", () => {
  const without = clusterEntryOptions({ policyServerName: "own" });
  assert.deepEqual(without, { policyServer: "own", namespaced: {}, exceptionNamespaces: new Set() });
  const values = {
    namespacedPolicyKinds: "AdmissionPolicy, NamespacedValidatingPolicy",
    namespacedPolicyPlaces: "ghcr.io/acme, https://modules.example/",
    namespacedPolicyMemory: 64,
    namespacedPolicyModuleSize: 48,
  };
  assert.deepEqual(clusterEntryOptions(values).namespaced, {
    kinds: new Set(["AdmissionPolicy", "NamespacedValidatingPolicy"]),
    places: ["ghcr.io/acme", "https://modules.example/"],
    memoryMiB: 64,
    moduleMiB: 48,
  });
});

test("what the help says of the size of modules is what holds without the option", () => {
  const option = SERVE_OPTIONS.find(({ flag }) => flag === "namespaced-policy-module-size");
  assert.match(option?.description ?? "", new RegExp(`without it ${NAMESPACED_MODULE_MIB}$`));
});

test("empty lists allow nothing", () => {
  const { namespaced } = clusterEntryOptions({ namespacedPolicyKinds: "", namespacedPolicyPlaces: "" });
  assert.deepEqual(namespaced, { kinds: new Set(), places: [] });
});

test("PolicyExceptions count in the namespaces that are named, and in no others", () => {
  const counted = (names?: string) => {
    const options = clusterEntryOptions(names === undefined ? {} : { exceptionNamespaces: names });
    return ["a", "b", "c"].filter((namespace) => countsIn(options.exceptionNamespaces, namespace)).join();
  };
  assert.equal(counted(), "");
  assert.equal(counted(""), "");
  assert.equal(counted(" , "), "");
  assert.equal(counted("a, b"), "a,b");
  assert.equal(counted("*"), "a,b,c");
  assert.equal(counted("a,*"), "a,b,c");
  for (const wrong of ["a*", "A", "a b", "'*'", "a/b", "**"]) assert.throws(() => counted(wrong), UsageError);
});

test("a kind that there is not is a mistake of the command line", () => {
  assert.throws(() => clusterEntryOptions({ namespacedPolicyKinds: "ClusterAdmissionPolicy" }), UsageError);
});

test("what the help says is blocked is what is blocked", () => {
  const option = SERVE_OPTIONS.find(({ flag }) => flag === "http-blocklist");
  assert.equal(option?.default, DEFAULT_BLOCKLIST.join(","));
});

test("lists of HTTP servers are made of commas, and an empty one blocks nothing", () => {
  const { egress } = loaderSettings({ httpBlocklist: "", allowHttpInNamespacedPolicies: true }, {});
  assert.deepEqual(egress, { blocklist: [""], forNamespaced: true });
  const allowing = loaderSettings({ httpAllowlist: "https://a,https://b" }, {});
  assert.deepEqual(allowing.egress, { allowlist: ["https://a", "https://b"], forNamespaced: false });
});

test("a list that can't be read is a mistake of the command line", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const args = ["check", "--http-allowlist", "example.com"];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stderr.end();
  assert.equal(code, 2);
  assert.match(await text(stderr), /the entry "example\.com" of the HTTP allowlist must include scheme and host/);
});

test("times are milliseconds, and none where the protection is switched off", () => {
  assert.equal(loaderSettings({ policyTimeout: 3 }, {}).policyTimeout, 3000);
  assert.equal(
    loaderSettings({ policyTimeout: 3, disableTimeoutProtection: true }, {}).policyTimeout,
    Number.POSITIVE_INFINITY,
  );
  assert.equal(loaderSettings({}, {}).policyTimeout, undefined);
});

test("exempt namespaces are names, and patterns that mean some of them", () => {
  assert.deepEqual(exemptNamespaces(), []);
  assert.deepEqual(exemptNamespaces("a, openshift-*,*-infra,a"), ["a", "openshift-*", "*-infra"]);
  const long = Array.from({ length: 40 }, (_, i) => `${"n".repeat(50)}-${i}-*`).join();
  for (const [text, says] of [
    ["A", /'A' is neither a namespace nor a pattern/],
    ["a_b", /'a_b' is neither/],
    ["-*", /'-\*' is neither/],
    ["a.*", /'a\.\*' is neither/],
    ["a,[b]", /'\[b\]' is neither/],
    ["*", /'\*' exempts all namespaces/],
    ["**", /exempts all namespaces/],
    [long, /it has more than 2000 characters/],
  ] as const)
    assert.throws(() => exemptNamespaces(text), says, text);
});
