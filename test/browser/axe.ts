import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Tab } from "./tab.js";

/** A window of a laptop and one of a phone, in both colour schemes. */
const LOOKS = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
].flatMap((window) => [
  { ...window, dark: false },
  { ...window, dark: true },
]);

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly html: string }[];
}

let script: string | undefined;

/** What axe finds in the page as it is, in each look; the page is left in the first one. */
export async function barriersOf(tab: Tab): Promise<readonly string[]> {
  script ??= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // Through the browser's own tools: the page's content security policy lets no script in.
  await tab.value<void>(`void (typeof axe === "object" || (0, eval)(${JSON.stringify(script)}))`);
  const found: string[] = [];
  for (const look of LOOKS) {
    await tab.show(look);
    await tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const violations = await tab.value<readonly Violation[]>(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => JSON.parse(JSON.stringify(violations)))`,
    );
    for (const { id, impact, nodes } of violations) {
      const places = nodes.map(({ target, html }) => `${target.join(" ")} ${html.slice(0, 120)}`);
      found.push(`${id} (${impact}) at ${look.width} px, ${look.dark ? "dark" : "light"}: ${places.join(", ")}`);
    }
  }
  await tab.show(LOOKS[0]);
  return found;
}
