/** The paths of the page. */

/** Paths of files, with their names in the folder of the page. */
export const PAGE_FILES: ReadonlyMap<string, string> = new Map([
  ["/", "index.html"],
  ["/page/page.js", "page.js"],
  ["/page/page.css", "page.css"],
]);
/** The state that the page shows. */
export const STATE_PATH = "/page/state";
/** The problems of a draft. */
export const CHECK_PATH = "/page/check";
/** The evaluation of a draft and a payload. */
export const EVALUATE_PATH = "/page/evaluate";
