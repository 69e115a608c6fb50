import { statSync } from "node:fs";
import { join } from "node:path";
import type { PageState } from "../../src/page/api.js";
import { evaluated, opened, type Stage } from "./scenario.js";

/** A picture of the documentation must not be heavier. In bytes. */
const HEAVIEST = 150 * 1024;

/** Three columns, and no larger: the pictures stand in a page. */
const WINDOW = { width: 1120, height: 680 };

/** Takes the pictures of docs/page.md into a folder. */
export async function takePictures({ tab, play, mock }: Stage, folder: string): Promise<readonly string[]> {
  const taken: string[] = [];
  const take = async (name: string) => {
    const file = join(folder, `${name}.png`);
    await tab.value("document.activeElement.blur()");
    await tab.picture(file);
    if (statSync(file).size > HEAVIEST) throw new Error(`${file} has more than ${HEAVIEST} bytes`);
    taken.push(file);
  };
  await opened(tab, `${play}#/draft`, WINDOW);
  await tab.untilText("#draft-summary", "No mistakes");
  await evaluated(tab, "Denied");
  await take("page-draft");
  await tab.fill(
    "#draft-field",
    await tab.value<string>(
      "document.querySelector('#draft-field').value.replace('<=', '=<').replace('string(', 'strin(')",
    ),
  );
  await tab.until("document.querySelector('.problem')");
  await tab.key("Enter", { ctrl: true });
  await tab.untilText(".answer", "Not evaluated");
  await take("page-mistakes");
  await opened(tab, `${play}#/policy/workloads`, { ...WINDOW, dark: true });
  await tab.until("document.querySelector('.rails')");
  await evaluated(tab, "Allowed");
  await take("page-group-dark");
  await opened(tab, `${play}#/policy/add-label`, { width: 390, height: 844 });
  await evaluated(tab, "Allowed");
  await take("page-narrow");
  const state = (await (await fetch(`${play}page/state`)).json()) as PageState;
  mock.serve({ ...state, mode: "read", examples: [] });
  await opened(tab, mock.url, WINDOW);
  await tab.until("document.querySelector('.overview')");
  await take("page-overview");
  return taken;
}
