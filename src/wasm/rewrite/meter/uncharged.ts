/** Finds functions without a charge of their own: the caller pays. */
import { OP } from "../binary/instructions.js";
import { Integers } from "../binary/integers.js";
import { type FunctionCode, POINT, POINT_SIZE, type Segments } from "./segments.js";
import { HOST_CALL_COST, UNCHARGED_COST } from "./weights.js";

/** Cost of a function that is not known to be without a charge. */
export const CHARGED = -1;

/** The functions without a charge of their own. */
export interface UnchargedFunctions {
  /** Costs for callers of functions without a charge of their own, else {@link CHARGED}. */
  readonly costs: Int32Array;
  /** 1 for each function that certainly leaves the fuel unchanged: neither it nor its callees have a charge. */
  readonly silent: Uint8Array;
}

/** Finds the functions that their callers pay for, and adds the costs of its callees to every segment. */
export function payForCallees(
  functions: readonly FunctionCode[],
  { points, units }: Segments,
  importedFunctions: number,
): UnchargedFunctions {
  const costs = new Int32Array(importedFunctions + functions.length).fill(CHARGED);
  const silent = new Uint8Array(costs.length);
  costs.fill(HOST_CALL_COST, 0, importedFunctions);
  const addedBy = (point: number): number =>
    points.at(point + 1) === POINT.callee ? Math.max(0, costs[points.at(point + 2)] ?? 0) : 0;
  const decide = ({ index, firstSegment, endSegment, firstPoint, endPoint }: FunctionCode): void => {
    // A function with loops pays for itself; an indirect call alone costs more than that.
    if (endSegment - firstSegment > 1) return;
    let cost = units.at(firstSegment);
    let isSilent = true;
    for (let point = firstPoint; point < endPoint; point += POINT_SIZE) {
      cost += addedBy(point);
      isSilent &&= leavesFuel(points.at(point + 1), points.at(point + 2), silent);
    }
    if (cost > UNCHARGED_COST) return;
    costs[index] = cost;
    if (isSilent) silent[index] = 1;
  };
  // Callees before their callers. A function that is called while its own callees are visited is part of a cycle: it has a charge, so that no cycle
  // is without one.
  const [UNSEEN, OPEN, CYCLE, DECIDED] = [0, 1, 2, 3];
  const states = new Uint8Array(functions.length);
  const open = new Integers();
  const next = Int32Array.from(functions, ({ firstPoint }) => firstPoint);
  const enter = (number: number): void => {
    states[number] = OPEN;
    open.push(number);
  };
  for (let root = 0; root < functions.length; root++) {
    if (states[root] === UNSEEN) enter(root);
    while (open.length > 0) {
      const number = open.at(open.length - 1);
      const fn = functions[number];
      const point = next[number] ?? 0;
      if (!fn || point >= fn.endPoint) {
        if (fn && states[number] === OPEN) decide(fn);
        states[number] = DECIDED;
        open.pop();
        continue;
      }
      next[number] = point + POINT_SIZE;
      const callee = points.at(point + 1) === POINT.callee ? points.at(point + 2) - importedFunctions : -1;
      if (callee < 0) continue;
      if (states[callee] === UNSEEN) enter(callee);
      else if (states[callee] === OPEN) states[callee] = CYCLE;
    }
  }
  for (let point = 0; point < points.length; point += POINT_SIZE) {
    const added = addedBy(point);
    if (added > 0) units.add(points.at(point + 3), added);
  }
  return { costs, silent };
}

/** Whether a point of a function without a charge leaves the fuel unchanged. */
function leavesFuel(what: number, value: number, silent: Uint8Array): boolean {
  if (what === POINT.callee) return silent[value] === 1;
  return what !== POINT.bulk && !(what === POINT.memorySize && value === OP.memoryGrow);
}
