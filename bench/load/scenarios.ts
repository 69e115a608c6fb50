/** All scenarios of the chaos run, in the order in which they are played. */
import { clock, disk, storm } from "./scenarios/changes.js";
import { hostile, hostileLarge } from "./scenarios/hostile.js";
import { hung, killed } from "./scenarios/processes.js";
import { descriptors, heap, labels, socket } from "./scenarios/resources.js";
import type { Scenario } from "./stage.js";

/** Each has a server of its own, and cleans up after itself. */
export const SCENARIOS: readonly Scenario[] = [
  ...[killed, hung, storm, clock],
  ...[socket, disk, descriptors, heap],
  ...[labels, hostile, hostileLarge],
];
