/**
 * Break-glass: a ConfigMap in the server's namespace, which no webhook asks about, has the leader withdraw all webhooks until a time, at most a day after its
 * creation. Every replica reads it, so that one that begins to lead writes no webhook meanwhile.
 */
import { parseGoDuration } from "../../data/go/duration.js";
import { printable } from "../../data/printable.js";
import { rfc3339Time } from "../../data/rfc3339.js";
import { isForbidden, reasonOf } from "../../kubernetes/client/errors.js";
import { followObject } from "../../kubernetes/client/follow.js";
import { collectionPath } from "../../kubernetes/client/paths.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import type { BreakGlassSample } from "../../telemetry/metrics.js";
import { EVENTS, eventObject } from "../events/event.js";
import type { PartContext } from "../part.js";
import { serverTime } from "../server-time.js";
import { CONFIG_MAP } from "../sources/watched-kinds.js";

/** The name of the ConfigMap. */
export const BREAK_GLASS = "policy-server-break-glass";

/** The longest time from the creation of the ConfigMap to its expiry: one that stays, as in a repository, must not disable policies for good. */
const LONGEST_MS = 24 * 3_600_000;
/** How often log and events repeat that it is in force. */
const AGAIN_MS = 600_000;
/** The longest wait until the clock is looked at again. */
const LOOK_MS = 10_000;
/** Refusals in a row, within three seconds, after which ConfigMaps count as unreadable. */
const MOST_REFUSALS = 3;
/** Most characters of a text of the ConfigMap. */
const MOST_CHARACTERS = 100;

/** The state of break-glass. `reason`: what its author says, or why it is refused. */
type Glass =
  | { readonly state: "whole" }
  | { readonly state: "in_force"; readonly by: string; readonly reason: string; readonly until: number }
  | { readonly state: "refused"; readonly by: string; readonly reason: string };

const WHOLE: Glass = { state: "whole" };

/**
 * The demand of a ConfigMap.
 * @param now milliseconds since 1970, by the API server's clock
 */
export function readBreakGlass(configMap: JsonObject | undefined, now: number): Glass {
  if (configMap === undefined) return WHOLE;
  const said = (key: string): string => {
    const shown = printable(text(member(configMap, "data"), key)).trim();
    return shown.length <= MOST_CHARACTERS ? shown : `${shown.slice(0, MOST_CHARACTERS - 1)}…`;
  };
  const [by, reason, expires] = [said("by"), said("reason"), said("expires")];
  const refused = (why: string): Glass => ({ state: "refused", by, reason: why });
  const created = Date.parse(text(member(configMap, "metadata"), "creationTimestamp"));
  const forms = `a duration from its creation on, such as 2h, or a time, such as ${timeText(created + LONGEST_MS / 12)}`;
  if (by === "") return refused('it does not say who wrote it: its key "by" takes a name');
  if (expires === "") return refused(`it does not say when it ends: its key "expires" takes ${forms}`);
  const duration = parseGoDuration(expires);
  const until = duration.ok ? created + Number(duration.nanos / 1_000_000n) : rfc3339Time(expires);
  const has = `its key "expires" has "${expires}"`;
  const anew = "delete it, and create it anew with an expiry in the next 24 hours";
  if (until === undefined) return refused(`${has}, and takes ${forms}`);
  if (until > created + LONGEST_MS)
    return refused(`${has}, which is more than 24 hours after its creation at ${timeText(created)}: ${anew}`);
  if (until <= (serverTime(configMap) ?? created))
    return refused(`${has}, which was over when it was written: ${anew}`);
  return until <= now ? WHOLE : { state: "in_force", by, reason: reason || "not given", until };
}

const timeText = (time: number): string => new Date(time).toISOString().replace(".000Z", "Z");

/** Follows the ConfigMap. */
export class BreakGlass {
  readonly #context: PartContext;
  readonly #changed: () => void;
  readonly #stopping = new AbortController();
  #configMap: JsonObject | undefined;
  #glass: Glass = WHOLE;
  #isKnown = false;
  #leading: AbortSignal | undefined;
  #cancel = (): void => {};
  /** When log and events said last what is the matter, by {@link Clock.now}. */
  #saidAt = Number.NEGATIVE_INFINITY;
  readonly #warned = new Set<string>();

  /** @param changed called when it begins, ends, or is changed, and when it is known for the first time whether it is in force */
  constructor(context: PartContext, changed: () => void) {
    this.#context = context;
    this.#changed = changed;
    const { cluster, clock, settings, metrics } = context;
    metrics.breakGlass(() => this.#sample);
    let refusals = 0;
    followObject(cluster, collectionPath(CONFIG_MAP, settings.namespace), BREAK_GLASS, this.#stopping.signal, {
      clock,
      seen: (configMap) => {
        refusals = 0;
        this.#configMap = configMap;
        this.#look();
      },
      failed: (error, refused) => {
        if (!refused) {
          if (!this.#isKnown && this.#leading?.aborted === false)
            this.#warn("no webhook is written before it is known whether break-glass is in force", error);
          return;
        }
        refusals += 1;
        // An API server that has just started refuses what it allows a moment later: webhooks must not come back for that moment.
        if (refusals < MOST_REFUSALS) return;
        this.#warn("break-glass is not available: ConfigMaps of the server's namespace cannot be read", error);
        if (this.#isKnown) return;
        this.#isKnown = true;
        this.#changed();
      },
    });
  }

  /** Whether it is known if break-glass is in force: before that no webhook may be written. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Why no webhook may stand, for people; undefined: they may. */
  get inForce(): string | undefined {
    const glass = this.#glass;
    if (glass.state !== "in_force") return undefined;
    return `break-glass is in force until ${timeText(glass.until)}, written by ${glass.by}: ${glass.reason}`;
  }

  /** Writes events from now on, until the signal is aborted. */
  lead(signal: AbortSignal): void {
    this.#leading = signal;
    this.#saidAt = Number.NEGATIVE_INFINITY;
    if (this.#isKnown) this.#look();
  }

  /** Ends following it. */
  stop(): void {
    this.#stopping.abort();
    this.#cancel();
  }

  get #sample(): BreakGlassSample | undefined {
    const glass = this.#glass;
    return glass.state === "whole" ? undefined : { state: glass.state, by: glass.by, why: glass.reason };
  }

  /** Finds out what holds now, and looks again when that may end. */
  #look(): void {
    if (this.#stopping.signal.aborted) return;
    const { clock, replicas } = this.#context;
    this.#cancel();
    const before = this.#glass;
    const now = replicas.serverWall();
    this.#glass = readBreakGlass(this.#configMap, now);
    const isOther = JSON.stringify(this.#glass) !== JSON.stringify(before);
    if (before.state === "in_force" && this.#glass.state !== "in_force") {
      const why = this.#configMap === undefined ? "its ConfigMap was deleted" : "its time is over, or it was changed";
      this.#context.log.info("break-glass has ended: the webhooks are written again", { why });
      this.#event("Normal", "BreakGlassEnded", `${why}: the webhooks are written again`);
    }
    if (isOther || clock.now() - this.#saidAt >= AGAIN_MS) this.#say();
    // One that seems to be over may not be: at first, the API server's clock is not known.
    if (this.#configMap !== undefined && this.#glass.state !== "refused") {
      const left = this.#glass.state === "in_force" ? this.#glass.until - now : LOOK_MS;
      this.#cancel = clock.after(Math.min(LOOK_MS, left), () => this.#look());
    }
    const isNews = !this.#isKnown || isOther;
    this.#isKnown = true;
    if (isNews) this.#changed();
  }

  /** Says what holds to the log, and as an event. */
  #say(): void {
    const { clock, log, settings } = this.#context;
    const glass = this.#glass;
    if (glass.state === "whole") return;
    this.#saidAt = clock.now();
    const message =
      glass.state === "refused"
        ? "break-glass is refused: the webhooks stay"
        : "break-glass is in force: the webhooks are withdrawn, and the API server asks about no policy";
    // The API server keeps the program that wrote last, and the time; the account stands in its audit log only.
    const managed = member(member(this.#configMap, "metadata"), "managedFields");
    const [last] = (Array.isArray(managed) ? managed : []).sort((a, b) => (text(a, "time") > text(b, "time") ? -1 : 1));
    log.warn(message, {
      configmap: `${settings.namespace}/${BREAK_GLASS}`,
      ...{ by: glass.by, reason: glass.reason },
      ...(glass.state === "in_force" && { until: timeText(glass.until) }),
      ...{ written: text(last, "time"), written_with: printable(text(last, "manager")).slice(0, MOST_CHARACTERS) },
    });
    this.#tell();
  }

  #tell(): void {
    const glass = this.#glass;
    if (glass.state === "in_force") this.#event("Warning", "BreakGlass", `${this.inForce}: no policy is asked`);
    else if (glass.state === "refused")
      this.#event("Warning", "BreakGlassRefused", `the webhooks stay: ${glass.reason}`);
  }

  /** Has the leader write an event on the ConfigMap. */
  #event(type: "Normal" | "Warning", reason: string, note: string): void {
    const { cluster, clock, settings } = this.#context;
    if (this.#leading === undefined || this.#leading.aborted) return;
    const { namespace, replica } = settings;
    const uid = text(member(this.#configMap, "metadata"), "uid");
    const regarding = { apiVersion: "v1", kind: "ConfigMap", name: BREAK_GLASS, namespace, ...(uid !== "" && { uid }) };
    const facts = { type, action: "BreakGlass", reason, regarding, note };
    const event = eventObject(facts, namespace, replica, clock.wall());
    const { signal } = this.#stopping;
    cluster.http.create(collectionPath(EVENTS, namespace), event, { once: true }, signal).catch((error: unknown) => {
      if (!signal.aborted && isForbidden(error)) this.#warn("events about break-glass cannot be written", error);
    });
  }

  /** Logs a problem once. */
  #warn(message: string, error: unknown): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#context.log.warn(message, { reason: reasonOf(error) });
  }
}
