import assert from "node:assert/strict";
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
