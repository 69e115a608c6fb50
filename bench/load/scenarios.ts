/** All scenarios of the chaos run, in the order in which they are played. */
import { hung, killed } from "./scenarios/processes.js";
import type { Scenario } from "./stage.js";

/** Each has a server of its own, and cleans up after itself. */
export const SCENARIOS: readonly Scenario[] = [killed, hung];
