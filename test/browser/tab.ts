import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Devtools } from "./devtools.js";

/** How long something is waited for that the page is to show. In milliseconds. */
const PATIENCE = 10_000;

/** What a key is in the protocol, where its name is not enough. */
const KEYS: ReadonlyMap<string, { readonly code: string; readonly number: number; readonly text?: string }> = new Map([
  ["Tab", { code: "Tab", number: 9 }],
  ["Enter", { code: "Enter", number: 13, text: "\r" }],
  ["Escape", { code: "Escape", number: 27 }],
  ["ArrowDown", { code: "ArrowDown", number: 40 }],
  ["ArrowUp", { code: "ArrowUp", number: 38 }],
  ["ArrowLeft", { code: "ArrowLeft", number: 37 }],
  ["ArrowRight", { code: "ArrowRight", number: 39 }],
]);
const CTRL = 2;
const SHIFT = 8;

/** A page in a browser, and all that it complained about. */
export class Tab {
  readonly #tab: Devtools;
  /** Errors on the console, exceptions, violations of the content security policy. */
  readonly complaints: string[] = [];
  /** Every address that was asked for. */
  readonly requests: string[] = [];

  private constructor(tab: Devtools) {
    this.#tab = tab;
  }

  /** Listens to a tab from its beginning. */
  static async of(devtools: Devtools): Promise<Tab> {
    const tab = new Tab(devtools);
    devtools.on("Runtime.exceptionThrown", (event) => tab.complaints.push(JSON.stringify(event.exceptionDetails)));
    devtools.on("Runtime.consoleAPICalled", ({ type, args }) => {
      if (type === "error" || type === "warning") tab.complaints.push(JSON.stringify(args));
    });
    devtools.on("Log.entryAdded", ({ entry }) => {
      const { level, text } = entry as { readonly level: string; readonly text: string };
      if (level === "error" || level === "warning") tab.complaints.push(text);
    });
    devtools.on("Network.requestWillBeSent", ({ request }) =>
      tab.requests.push((request as { readonly url: string }).url),
    );
    for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"]) await devtools.send(`${domain}.enable`);
    return tab;
  }

  /** Shows the page in a window of a size, without loading it anew. */
  async show({ width = 1280, height = 800, dark = false } = {}): Promise<void> {
    await this.#tab.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 500,
    });
    await this.#tab.send("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
        { name: "prefers-reduced-motion", value: "reduce" },
      ],
    });
  }

  /** Opens an address, in a window of a size. */
  async open(url: string, window: Parameters<Tab["show"]>[0] = {}): Promise<void> {
    await this.show(window);
    // An address that differs behind # only would not load anew.
    await this.#tab.send("Page.navigate", { url: "about:blank" });
    await this.#tab.send("Page.navigate", { url });
  }

  /** The value of an expression in the page. */
  async value<T>(expression: string): Promise<T> {
    const answer = await this.#tab.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails !== undefined)
      throw new Error(`${expression}: ${JSON.stringify(answer.exceptionDetails)}`);
    return (answer.result as { readonly value: T }).value;
  }

  /** Waits until an expression holds in the page. */
  async until(expression: string): Promise<void> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const holds = await this.value<boolean>(`Boolean(${expression})`).catch(() => false);
      if (holds) return;
      if (Date.now() > end)
        throw new Error(`does not come to hold: ${expression}; the page says: ${await this.text("body")}`);
      await sleep(30);
    }
  }

  /** The text in sight of an element; `""` where there is none. */
  text(selector: string): Promise<string> {
    return this.value<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
  }

  /** Waits until an element has a text in it. */
  untilText(selector: string, text: string): Promise<void> {
    return this.until(
      `document.querySelector(${JSON.stringify(selector)})?.innerText.includes(${JSON.stringify(text)})`,
    );
  }

  click(selector: string): Promise<void> {
    return this.value<void>(`void document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  focus(selector: string): Promise<void> {
    return this.value<void>(`document.querySelector(${JSON.stringify(selector)}).focus()`);
  }

  /** Empties a field and types into it, as fast as a keyboard can't. */
  async fill(selector: string, text: string): Promise<void> {
    await this.value<void>(
      `(() => { const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.select(); })()`,
    );
    await this.#tab.send("Input.insertText", { text });
  }

  /** Chooses in a list by the words that are shown. */
  choose(selector: string, words: string): Promise<void> {
    return this.value<void>(`(() => {
      const list = document.querySelector(${JSON.stringify(selector)});
      list.value = [...list.options].find((option) => option.text.includes(${JSON.stringify(words)})).value;
      list.dispatchEvent(new Event("change"));
    })()`);
  }

  /** Presses a key. */
  async key(name: string, held: { readonly ctrl?: boolean; readonly shift?: boolean } = {}): Promise<void> {
    const known = KEYS.get(name);
    const modifiers = (held.ctrl === true ? CTRL : 0) + (held.shift === true ? SHIFT : 0);
    const text = modifiers === 0 ? (known === undefined ? name : known.text) : undefined;
    const common = { key: name, code: known?.code ?? "", windowsVirtualKeyCode: known?.number ?? 0, modifiers };
    await this.#tab.send("Input.dispatchKeyEvent", {
      type: text === undefined ? "rawKeyDown" : "keyDown",
      ...common,
      ...(text === undefined ? {} : { text }),
    });
    await this.#tab.send("Input.dispatchKeyEvent", { type: "keyUp", ...common });
  }

  /** A picture of what is in sight. */
  async picture(file: string): Promise<void> {
    const { data } = await this.#tab.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(String(data), "base64"));
  }

  /** The roles and names of all that a screen reader meets. */
  async accessible(): Promise<
    readonly { readonly role: string; readonly name: string; readonly focusable: boolean }[]
  > {
    const { nodes } = await this.#tab.send("Accessibility.getFullAXTree");
    interface Node {
      readonly ignored: boolean;
      readonly role?: { readonly value: string };
      readonly name?: { readonly value: string };
      readonly properties?: readonly { readonly name: string; readonly value: { readonly value: unknown } }[];
    }
    return (nodes as readonly Node[])
      .filter((node) => !node.ignored)
      .map(({ role, name, properties }) => ({
        role: role?.value ?? "",
        name: name?.value ?? "",
        focusable:
          properties?.some((property) => property.name === "focusable" && property.value.value === true) ?? false,
      }));
  }
}
