/** Routes that another room brings to the API port: the page in the browser. This room knows no more of them than this. */
import type { LoadedRoutes } from "./plain-routes.js";

/** What the room that brings them exports, in a file that is light to import: the rest comes with `load`, at the first request. */
export type AddedRoutes = LoadedRoutes & {
  /** What is answered by POST. */
  readonly posted: readonly string[];
};
