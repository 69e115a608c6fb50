import assert from "node:assert/strict";
import { evaluated, opened, type Scenario, shows } from "./scenario.js";

/** Roles that somebody works with: each needs a name. */
const CONTROLS = new Set(["button", "link", "textbox", "searchbox", "combobox", "checkbox", "region", "group"]);

/** What people do with `policy-server play`, over the policies of this checkout. */
export const playScenarios: readonly Scenario[] = [
  {
    name: "the page opens with an example, and says what comes of it",
    async run({ tab, play }) {
      await opened(tab, play);
      await tab.until("document.querySelector('#draft-field').value.includes('replica-limit')");
      await tab.untilText("#draft-summary", "No mistakes");
      await evaluated(tab, "Denied");
      await shows(tab, ".verdict", "at most 3 replicas, not 5");
      await shows(tab, ".expressions", "object.spec.replicas");
      const values = await tab.value<string>(
        "[...document.querySelectorAll('.parts .value')].map((row) => row.innerText).join('\\n')",
      );
      assert.match(values, /object\.spec\.replicas\s+5/);
      await tab.value(
        "(() => { const field = document.querySelector('#payload-field'); field.setSelectionRange(0, 0); })()",
      );
      const allowed = await tab.value<string>(
        "document.querySelector('#payload-field').value.replace('replicas: 5', 'replicas: 3')",
      );
      await tab.fill("#payload-field", allowed);
      await evaluated(tab, "Allowed");
    },
  },
  {
    name: "an expression is walked with the arrow keys, each part says its value",
    async run({ tab, play }) {
      await opened(tab, play);
      await evaluated(tab, "Denied");
      const last =
        "[...document.querySelectorAll('.expression')].find((each) => each.innerText.includes('<= variables.limit'))";
      await tab.value(`${last}.querySelector('.part').focus()`);
      await tab.until(`${last}.querySelector('.readout').innerText.includes('is false')`);
      await tab.key("ArrowDown");
      await tab.until(`${last}.querySelector('.readout').innerText.includes('object.spec.replicas is 5')`);
      await tab.key("ArrowRight");
      await tab.until(`${last}.querySelector('.readout').innerText.includes('variables.limit is 3')`);
    },
  },
  {
    name: "a mistake is shown while it is typed, and goes when it is mended",
    async run({ tab, play }) {
      await opened(tab, play);
      const draft = (call: string) =>
        `mine:\n  cel:\n    validations:\n      - expression: "object.metadata.name.${call}('a')"\n`;
      await tab.fill("#draft-field", draft("startWith"));
      await tab.untilText(".problems", "startWith");
      assert.match(await tab.value<string>("document.querySelector('.mark.error').textContent"), /startWith/);
      assert.equal(await tab.value("document.querySelector('#draft-field').getAttribute('aria-invalid')"), "true");
      await tab.fill("#draft-field", draft("startsWith"));
      await tab.untilText("#draft-summary", "No mistakes");
      await tab.until("document.querySelectorAll('.mark').length === 0");
    },
  },
  {
    name: "a group is drawn, its members are links, and coloured once it was asked",
    async run({ tab, play }) {
      await opened(tab, `${play}#/policy/workloads`);
      await tab.until("document.querySelectorAll('.rails .box').length === 3");
      await evaluated(tab, "Allowed");
      const boxes = "[...document.querySelectorAll('main .rails .box')].map((box) => box.textContent).join('\\n')";
      await tab.until(`${boxes}.includes('not evaluated')`);
      assert.match(await tab.value<string>(boxes), /unprivileged.*✓.*allow/);
      await shows(tab, ".members", /unprivileged\s+allow/);
      await tab.value("document.querySelector('.rails a').focus()");
      await tab.key("Enter");
      await tab.untilText("#policy-name", "privileged-pods");
    },
  },
  {
    name: "the draft of a group is drawn with its answer",
    async run({ tab, play }) {
      await opened(tab, `${play}#/draft`);
      await tab.choose("#examples", "Group");
      await tab.untilText("#draft-summary", "No mistakes");
      await tab.key("Enter", { ctrl: true });
      await tab.until("document.querySelectorAll('aside .rails .box').length > 1");
      await tab.until("document.querySelectorAll('aside .members > li').length > 1");
    },
  },
  {
    name: "a patch is shown as a difference, the response as JSON",
    async run({ tab, play }) {
      await opened(tab, `${play}#/policy/add-label`);
      await evaluated(tab, "Allowed");
      await shows(tab, ".diff-lines", "team.example.com/owner: platform");
      assert.ok((await tab.value<number>("document.querySelectorAll('.diff-line.added').length")) > 0);
      await tab.value("document.querySelector('.answer > .answer-body > .fold > summary').click()");
      await shows(tab, ".answer-body > .fold", /"allowed": true/);
    },
  },
  {
    name: "an error of the payload stands at its place",
    async run({ tab, play }) {
      await opened(tab, `${play}#/policy/replica-limit`);
      await tab.fill("#payload-field", "apiVersion: apps/v1\nkind: [\n");
      await tab.key("Enter", { ctrl: true });
      await tab.until("document.querySelector('#payload-summary + .problems li')");
      await shows(tab, ".answer", "Not evaluated");
    },
  },
  {
    name: "everything is reached without a pointer",
    async run({ tab, play }) {
      await opened(tab, play);
      const seen = new Set<string>();
      await tab.value("document.body.focus()");
      for (let steps = 0; steps < 40; steps += 1) {
        await tab.key("Tab");
        seen.add(await tab.value<string>("document.activeElement.id || document.activeElement.className"));
      }
      for (const stop of [
        "skip",
        "filter",
        "examples",
        "reset",
        "draft-field",
        "payload-field",
        "operation",
        "raw",
        "evaluate",
      ]) {
        assert.ok(seen.has(stop), `${stop} is not among ${[...seen].join(", ")}`);
      }
      // Who types may indent, and gets out with Escape.
      await tab.focus("#draft-field");
      await tab.key("x");
      await tab.key("Tab");
      assert.equal(await tab.value("document.activeElement.id"), "draft-field");
      assert.ok(await tab.value<boolean>("document.activeElement.value.includes('x  ')"));
      await tab.key("Escape");
      await tab.key("Tab");
      assert.notEqual(await tab.value("document.activeElement.id"), "draft-field");
      await tab.focus("#filter");
      await tab.fill("#filter", "workloads");
      await tab.key("ArrowDown");
      await tab.key("ArrowDown");
      await tab.key("Enter");
      await tab.until("location.hash.startsWith('#/policy/') && document.activeElement.id === 'policy-name'");
    },
  },
  {
    name: "what a screen reader meets has names, landmarks and headings",
    async run({ tab, play }) {
      for (const hash of ["#/draft", "#/policy/workloads"]) {
        await opened(tab, `${play}${hash}`);
        await evaluated(tab, hash === "#/draft" ? "Denied" : "Allowed");
        const nodes = await tab.accessible();
        const nameless = nodes.filter(
          ({ role, name, focusable }) => focusable && CONTROLS.has(role) && name.trim() === "",
        );
        assert.deepEqual(nameless, []);
        for (const role of ["banner", "navigation", "main", "complementary"]) {
          assert.equal(nodes.filter((node) => node.role === role).length, 1, role);
        }
        assert.ok(nodes.some(({ role, name }) => role === "heading" && name === "policy-server"));
        const twice = await tab.value(
          "[...document.querySelectorAll('[id]')].map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at)",
        );
        assert.deepEqual(twice, []);
      }
    },
  },
  {
    name: "a narrow window shows everything, nothing sticks out",
    async run({ tab, play }) {
      for (const hash of ["#/draft", "#/policy/workloads"]) {
        await opened(tab, `${play}${hash}`, { width: 360, height: 740 });
        await evaluated(tab, hash === "#/draft" ? "Denied" : "Allowed");
        assert.ok(await tab.value<boolean>("document.documentElement.scrollWidth <= 360"));
        assert.equal(await tab.value("getComputedStyle(document.querySelector('nav')).display"), "none");
        await tab.click("#menu");
        await tab.untilText("nav", "workloads");
      }
    },
  },
];
