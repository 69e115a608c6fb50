import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { expressionTree } from "../../src/page/expression-tree.js";
import { until } from "../support/until.js";
import { HOSTILE, stateOf } from "./mock-answers.js";
import { evaluated, opened, type Scenario, shows } from "./scenario.js";

/** More than a screen; less than anybody waits for. In milliseconds. */
const QUICK = 1500;

/** What the page does with answers that no real server gives on demand. */
export const mockScenarios: readonly Scenario[] = [
  {
    name: "the list tells every state, and the filter narrows it",
    async run({ tab, mock }) {
      await opened(tab, mock.url);
      await shows(tab, "#count", "8 policies, 1 unavailable");
      for (const word of ["unavailable", "outdated", "monitor"]) await shows(tab, ".entries", word);
      await tab.fill("#filter", "unavail");
      await tab.untilText("#count", "1 of 8");
      await shows(tab, ".entries", /^broken\s/);
      await tab.key("Escape");
      await tab.untilText("#count", "8 policies");
    },
  },
  {
    name: "a hostile name is a name",
    async run({ tab, mock }) {
      await opened(tab, `${mock.url}#/policy/${encodeURIComponent(HOSTILE)}`);
      await shows(tab, "#policy-name", HOSTILE);
      await evaluated(tab, "Denied");
      await shows(tab, ".answer", HOSTILE);
      await tab.open(`${mock.url}#/policy/broken`);
      await tab.untilText(".notice.bad", HOSTILE);
      assert.equal(await tab.value("document.querySelectorAll('img, script:not([src])').length"), 0);
      assert.notEqual(await tab.value("document.title"), "harmed");
    },
  },
  {
    name: "what monitor mode hid, warnings, and an unavailable policy's reason are told",
    async run({ tab, mock }) {
      await opened(tab, `${mock.url}#/policy/no-latest-tag`);
      await shows(tab, ".details", "Monitor:");
      await evaluated(tab, "Denied");
      await shows(tab, ".answer", "Hidden by monitor mode, would be denied: the tag latest is not allowed");
      await tab.open(`${mock.url}#/policy/memory-limits`);
      await tab.untilText(".details .notice.warn", "undeclared reference");
    },
  },
  {
    name: "a mistake behind characters of two units is underlined at its place, and the list leads to it",
    async run({ tab, mock }) {
      await opened(tab, `${mock.url}#/draft`);
      await tab.fill("#draft-field", "p:\n  cel: \"'😀😀'.startWith('a')\"\n");
      await tab.untilText(".problems", "undeclared function 'startWith'");
      assert.equal(await tab.value("document.querySelector('.mark.error').textContent"), "startWith");
      await shows(tab, ".problems", "Did you mean startsWith?");
      await tab.click(".problem");
      const chosen =
        "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.querySelector('#draft-field'))";
      assert.equal(await tab.value(chosen), "startWith");
      await tab.key("Enter", { ctrl: true });
      await tab.untilText(".answer", "Not evaluated: the draft has a mistake in line 2");
      await tab.fill("#payload-field", "{broken");
      await tab.fill("#draft-field", "p:\n  cel: 1\n");
      await tab.key("Enter", { ctrl: true });
      await tab.untilText("#payload-summary + .problems", "this is not JSON");
    },
  },
  {
    name: "an answer that comes late is nobody's",
    async run({ tab, mock }) {
      await opened(tab, `${mock.url}#/policy/replica-limit`);
      await tab.fill("#payload-field", "wait: 1500\nreplicas: 6\n");
      await tab.key("Enter", { ctrl: true });
      await tab.untilText(".answer.busy", "");
      await tab.until("document.querySelector('.answer.busy')");
      await tab.fill("#payload-field", "replicas: 5\n");
      await evaluated(tab, "Allowed");
      await tab.until("!document.querySelector('.answer.busy')");
      await tab.fill("#payload-field", "replicas: 6\n");
      await shows(tab, ".stale", "earlier text");
      await evaluated(tab, "Denied");
      assert.ok(mock.asked.includes("ended"), "the first question was ended");
    },
  },
  {
    name: "refusals are told in the server's words",
    mayComplain: /status of (403|413|429)/,
    async run({ tab, mock }) {
      await opened(tab, `${mock.url}#/policy/replica-limit`);
      for (const status of [403, 413, 429]) {
        await tab.fill("#payload-field", `refuse: ${status}`);
        await tab.key("Enter", { ctrl: true });
        await tab.untilText(".answer", `refused with ${status}`);
      }
    },
  },
  {
    name: "a server that is gone is missed, and found again; what was written stays",
    mayComplain: /ERR_|Failed to load|Failed to fetch/,
    async run({ tab, mock }) {
      await opened(tab, `${mock.url}#/draft`);
      await tab.fill("#payload-field", "replicas: 5 # mine");
      await mock.stop();
      await tab.key("Enter", { ctrl: true });
      await tab.untilText(".answer", "The server does not answer.");
      await tab.untilText("#connection", "Next try in");
      await mock.comeBack();
      await tab.click("#connection button");
      await tab.until("document.querySelector('#connection').hidden");
      await evaluated(tab, "Allowed");
      await tab.open(`${mock.url}#/draft`);
      await tab.until("document.querySelector('#payload-field').value.includes('# mine')");
      await tab.click("#reset");
      await tab.until("document.querySelector('#payload-field').value.includes('replicas: 6')");
    },
  },
  {
    name: "a denied group says its cause first, and what members warn of stands with them",
    async run({ tab, mock }) {
      for (const width of [1280, 390]) {
        await opened(tab, `${mock.url}#/policy/trusted-workloads`, { width });
        await evaluated(tab, "Denied");
        const said = await tab.text(".answer-body");
        const order = ["Denied", "exempt: team 'web' is not exempt", "The workload is not trusted.", "Members"];
        const places = order.map((words) => said.indexOf(words));
        assert.ok(!places.includes(-1) && places.every((place, at) => place >= (places[at - 1] ?? 0)), said);
        const notices = "[...document.querySelectorAll('.answer-body > .notice')].map((each) => each.innerText.trim())";
        assert.deepEqual(
          (await tab.value<string[]>(notices)).map((each) => each.replace(/\s+/g, " ")),
          ["△ Warning: … and 3 more warnings"],
        );
        assert.ok(!said.includes("the tag 1.4 is old"), "it is folded");
        assert.match(said, /latest_tag\s*△ 2 warnings/);
        await tab.click(".members > li:nth-child(2) > details > summary");
        await shows(tab, ".members > li:nth-child(2) .inside", "the tag 1.4 is old");
        await shows(tab, ".members > li:nth-child(2) .inside", HOSTILE);
      }
    },
  },
  {
    name: "a drawing is as wide as its place, however deep and wide the expression",
    async run({ tab, mock }) {
      const names = ["signed", "latest_tag", "exempt"];
      const [group] = stateOf("read").policies.filter(({ id }) => id === "trusted-workloads");
      assert.ok(group?.group !== undefined);
      const expressions = [
        "signed() ? exempt() : latest_tag() ? exempt() && signed() : object.metadata.namespace == 'kube-system'",
        `${"signed() && exempt() ? !latest_tag() : ".repeat(30)}signed()`,
        `${"(signed() ? (exempt() || ".repeat(14)}signed()${") : latest_tag())".repeat(14)}`,
        `!(${Array.from({ length: 40 }, () => "(signed() && !(exempt() || latest_tag()))").join(" || ")})`,
        `${"signed() && ".repeat(60)}exempt()`,
        `object.spec.containers.all(c, c.image.startsWith("${"registry.example.com/".repeat(20)}"))`,
      ];
      const drawn = expressions.map((expression, index) => {
        const tree = expressionTree(expression, names);
        return { ...group, id: `drawn-${index}`, group: { ...group.group!, expression, tree } };
      });
      mock.serve({ ...stateOf("read"), policies: drawn });
      for (const width of [390, 1280]) {
        for (const { id } of drawn) {
          await opened(tab, `${mock.url}#/policy/${id}`, { width });
          await tab.until("document.querySelector('.rails .box')");
          const [inner = 0, outer = 0, page = 0] = await tab.value<number[]>(
            "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth, document.documentElement.scrollWidth])(document.querySelector('.drawing .scroll'))",
          );
          assert.ok(inner <= outer && page <= width, `${id} at ${width}: ${inner} of ${outer}, ${page}`);
        }
      }
      mock.serve(stateOf("play"));
    },
  },
  {
    name: "read: the overview says what each policy is and what is wrong, and leads to each",
    async run({ tab, mock }) {
      mock.serve(stateOf("read"));
      for (const width of [390, 1280]) {
        await opened(tab, mock.url, { width });
        await shows(tab, "main h2", "Overview");
        await shows(tab, ".notice.bad", "broken can't be loaded, and denies every request: policies.yaml:12:5");
        await shows(tab, ".notice.warn", "memory-limits answers as before its last change:");
        const rows = await tab.value<string[]>(
          "[...document.querySelectorAll('.overview tbody tr')].map((row) => row.innerText.replace(/\\s+/g, ' ').trim())",
        );
        for (const row of [
          /^add-label WASM · kubewarden-wapc protect may mutate$/,
          /^no-latest-tag ValidatingAdmissionPolicy ◎ monitor$/,
          /^broken ValidatingAdmissionPolicy ✕ unavailable$/,
          /^trusted-workloads group protect$/,
          /^signed\(\) && \(!latest_tag\(\) .* Members \(3\)$/,
        ]) {
          assert.ok(
            rows.some((text) => row.test(text)),
            `${row} is not among ${rows.join(" | ")}`,
          );
        }
        assert.ok(await tab.value<boolean>(`document.documentElement.scrollWidth <= ${width}`));
      }
      await tab.click(".overview a[href='#/policy/memory-limits']");
      await tab.untilText("#policy-name", "memory-limits");
      await tab.show({ width: 390 });
      await tab.click("#menu");
      await tab.click(".draft .entry");
      await tab.untilText("main h2", "Overview");
      assert.equal(await tab.value("getComputedStyle(document.querySelector('nav')).display"), "none");
      mock.serve({ ...stateOf("read"), policies: stateOf("read").policies.slice(0, 2) });
      await tab.open(`${mock.url}#/draft/1.abc`);
      await tab.untilText("main", "✓ All policies are loaded");
      await shows(tab, ".notice.warn", "The link holds a draft: this page is for reading");
      mock.serve(stateOf("play"));
    },
  },
  {
    name: "a link holds a draft, and nothing of it is sent or kept before it is taken",
    async run({ tab, mock }) {
      const sent = () => tab.requests.filter((url) => /page\/(check|evaluate)/.test(url)).length;
      await opened(tab, `${mock.url}#/draft`);
      const draft = `shared: # ${HOSTILE} 😀\n  cel: "'a'.startsWith('a')"\n`;
      await tab.fill("#draft-field", draft);
      await tab.fill("#payload-field", "replicas: 5 # shared");
      await tab.value("document.querySelector('#raw').click()");
      await tab.untilText("#draft-summary", "No mistakes");
      await tab.value(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })",
      );
      await tab.click("#copy-link");
      await tab.untilText(".draft-work .summary[role=status]", "Copied");
      const link = await tab.value<string>("window.copied");
      assert.match(link, /#\/draft\/1\.[\w-]+$/);
      await tab.click("#reset");
      await tab.fill("#draft-field", "mine:\n  cel: 1\n");
      await tab.untilText("#draft-summary", "No mistakes");
      const kept = await tab.value("JSON.stringify(localStorage)");
      for (const width of [390, 1280]) {
        await tab.open(link, { width });
        await tab.untilText("main", "A draft from a link");
        await shows(tab, "main", HOSTILE);
        await shows(tab, "main", "replicas: 5 # shared");
        assert.equal(await tab.value("JSON.stringify(localStorage)"), kept);
        assert.ok(await tab.value<boolean>(`document.documentElement.scrollWidth <= ${width}`));
      }
      assert.equal(await tab.value("document.querySelectorAll('img, script:not([src])').length"), 0);
      const before = mock.asked.length;
      await tab.key("Enter", { ctrl: true });
      await tab.untilText(".answer", "take the draft first");
      assert.equal(mock.asked.length, before);
      assert.ok(
        tab.requests.every((url) => !url.includes("1.")),
        "no request holds the link",
      );
      const checked = sent();
      await tab.click("main .primary");
      await tab.until("document.querySelector('#draft-field')");
      assert.equal(await tab.value("document.querySelector('#draft-field').value"), draft);
      assert.equal(await tab.value("document.querySelector('#raw').checked"), true);
      assert.equal(await tab.value("location.hash"), "#/draft");
      await until("the check", () => sent() > checked);
      await tab.focus("#draft-field");
      await tab.value("void document.execCommand('undo')");
      assert.equal(await tab.value("document.querySelector('#draft-field').value"), "mine:\n  cel: 1\n");
      for (const broken of [
        link.slice(0, -9),
        link.replace("1.", "2."),
        `${link}${"A".repeat(32_768)}`,
        "#/draft/<b>",
      ]) {
        await tab.open(new URL(broken, mock.url).href);
        await tab.untilText("main", "This link can't be opened");
        assert.equal(await tab.value("document.querySelectorAll('main b').length"), 0);
      }
      await tab.click("main a");
      await tab.until("document.querySelector('#draft-field').value.startsWith('mine:')");
      await tab.fill("#payload-field", randomBytes(40_000).toString("hex"));
      await tab.click("#copy-link");
      await tab.untilText(".draft-work .summary[role=status]", "Too long for a link");
    },
  },
  {
    name: "read: what is served, no editor, and where to try it",
    async run({ tab, mock }) {
      mock.serve(stateOf("read"));
      await opened(tab, mock.url);
      await shows(tab, "aside", "policy-server play");
      await shows(tab, "#about", "read only");
      assert.equal(await tab.value("document.querySelectorAll('textarea').length"), 0);
      await tab.open(`${mock.url}#/policy/trusted-workloads`);
      await tab.until("document.querySelectorAll('.rails .box').length === 4");
      await tab.key("Enter", { ctrl: true });
      mock.serve({ ...stateOf("read"), policies: [] });
      await tab.open(mock.url);
      await tab.untilText("main", "No policies are served.");
      mock.serve(stateOf("play"));
    },
  },
  {
    name: "five hundred policies are there at once, and filtered at once",
    async run({ tab, mock }) {
      mock.serve(stateOf("play", true));
      await opened(tab, mock.url);
      const took = await tab.value<number>(`(() => {
        const filter = document.querySelector("#filter");
        const start = performance.now();
        for (const text of ["p", "po", "pol", "policy-49", ""]) {
          filter.value = text;
          filter.dispatchEvent(new Event("input"));
          document.body.offsetHeight;
        }
        return performance.now() - start;
      })()`);
      assert.ok(took < QUICK, `five filters took ${took} ms`);
      await shows(tab, "#count", "508 policies");
      mock.serve(stateOf("play"));
    },
  },
];
