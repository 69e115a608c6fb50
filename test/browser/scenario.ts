import assert from "node:assert/strict";
import type { MockServer } from "./mock-server.js";
import type { Tab } from "./tab.js";

/** What scenarios have at hand. */
export interface Stage {
  readonly tab: Tab;
  readonly mock: MockServer;
  /** Where `policy-server play` answers. */
  readonly play: string;
}

/** Something that a person does with the page. */
export interface Scenario {
  readonly name: string;
  readonly run: (stage: Stage) => Promise<void>;
  /** Complaints of the browser that belong to it: a server that is gone, a refusal. */
  readonly mayComplain?: RegExp;
}

/** Opens a page and waits until it shows its list; nothing is kept from before. */
export async function opened(tab: Tab, url: string, window: Parameters<Tab["open"]>[1] = {}): Promise<void> {
  await tab.open(url, window);
  await tab.until("document.querySelector('.entry')");
  await tab.value("localStorage.clear()");
  await tab.open(url, window);
  await tab.until("document.querySelector('.entry')");
}

/** Evaluates by the keyboard and waits for the headline. */
export async function evaluated(tab: Tab, word: string): Promise<void> {
  await tab.key("Enter", { ctrl: true });
  await tab.untilText(".verdict .word", word);
}

/** That a text is in sight. */
export async function shows(tab: Tab, selector: string, text: string | RegExp): Promise<void> {
  const found = await tab.text(selector);
  if (typeof text === "string") assert.ok(found.includes(text), `${selector} lacks ${text}: ${found}`);
  else assert.match(found, text);
}
