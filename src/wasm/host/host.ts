/** What a guest may ask of the host: the checks of spec kubewarden.md 7.1, in their order, and the way to the capability that answers. */

import type { CapabilityGrants } from "../../config/capability-patterns.js";
import { errorText } from "../../data/error-text.js";
import { parseJson, stringifyJson } from "../../data/json.js";
import { orAborted } from "../../data/or-aborted.js";
import { shownText, wholeText } from "../../data/public-text.js";
import { type TextPieces, wholeOf } from "../../kubernetes/client/text-pieces.js";
import type { KubernetesReader, ResourceKind, ResourceSnapshot } from "../../kubernetes/reader.js";
import type { Executor } from "./executor.js";
import type { HttpGrant } from "./http/grant.js";
import { HTTP_CALL } from "./http/wire.js";
import { askSnapshots, readSnapshots, type SnapshotQuery } from "./kubernetes/snapshots.js";
import { PayloadError } from "./payload.js";

export type { ResourceKind } from "../../kubernetes/reader.js";

/** Longest part of a name that is logged: longer ones come from guests that mean to fill the log. Kubernetes' own end at 253. */
const LOGGED_NAME_LENGTH = 256;

/** What a guest asks. */
export interface HostCall {
  readonly binding: string;
  readonly namespace: string;
  readonly operation: string;
  /** JSON text in UTF-8. */
  readonly payload: Uint8Array;
}

/** The answer, for the guest: bytes, or a text that says why not. */
export type HostAnswer =
  | {
      readonly ok: true;
      readonly payload: Uint8Array;
      /** In the place of the payload, where that is long: put together where the guest gets it. */
      readonly pieces?: TextPieces;
    }
  | { readonly ok: false; readonly error: string };

/** The policy that asks, and what it was granted. */
export interface Caller {
  /** The policy's id, for the log. */
  readonly policy: string;
  readonly capabilities: CapabilityGrants;
  readonly contextAwareResources: readonly ResourceKind[];
  /** The only namespace whose objects it may see; absent: it may see those of all, and what is in none. */
  readonly namespace?: string;
  /** Most bytes of its memory, which an answer has to fit into; absent: as many as it takes. */
  readonly memoryBytes?: number;
  /** What an Extism plugin may ask by HTTP; absent: nothing. */
  readonly http?: HttpGrant;
}

/** Circumstances of one execution. */
export interface CapabilityContext {
  readonly caller: Caller;
  /** Aborted when the guest has been stopped, or its client has gone: the answer is not wanted any more. */
  readonly signal: AbortSignal;
  /** Told the whole reason of a call that failed, for the log: the guest, which may tell everybody, gets general words. */
  readonly failed?: (reason: string) => void;
}

/** An answer that is JSON already, in UTF-8; perhaps in memory that threads share. */
export class JsonBytes {
  constructor(readonly bytes: Uint8Array) {}
}

/** An answer that is JSON already, to be put together by the thread that wants it. */
export class JsonPieces {
  constructor(readonly pieces: TextPieces) {}
}

/** An operation's answer as JSON. */
export function jsonOf(answer: unknown): string {
  if (answer instanceof JsonPieces) return Buffer.from(wholeOf(answer.pieces)).toString("utf8");
  return answer instanceof JsonBytes ? Buffer.from(answer.bytes).toString("utf8") : stringifyJson(answer);
}

function payloadOf(answer: unknown): Pick<Extract<HostAnswer, { ok: true }>, "payload" | "pieces"> {
  if (answer instanceof JsonPieces) return { payload: NOTHING, pieces: answer.pieces };
  return { payload: answer instanceof JsonBytes ? answer.bytes : new TextEncoder().encode(stringifyJson(answer)) };
}

const NOTHING = new Uint8Array();

/** One operation of a capability. */
export interface Operation {
  /**
   * The Kubernetes kind that the payload asks for, when the list `contextAwareResources` must name it.
   * @throws when the payload has not the right shape; the message goes to the guest
   */
  readonly resource?: (payload: unknown) => ResourceKind;
  /**
   * Why this caller may not ask this; `undefined` when it may. It has reported what is worth it.
   * @throws as `resource`
   */
  readonly gate?: (payload: unknown, caller: Caller) => string | undefined;
  /**
   * Executes.
   * @returns the answer, a JSON value, {@link JsonBytes} or {@link JsonPieces}
   * @throws anything; what it has to show (`data/public-text`) goes to the guest behind `Callback evaluation failure: `
   */
  run(payload: unknown, context: CapabilityContext): Promise<unknown>;
}

/** A capability: the operations of one namespace, by name (such as `v1/dns_lookup_host`). */
export interface Capability {
  readonly namespace: string;
  readonly operations: Readonly<Record<string, Operation>>;
}

/** Told when a policy asks for what it was not granted. */
export type ViolationSink = (message: string, fields: Readonly<Record<string, string>>) => void;

const KUBEWARDEN = "kubewarden";
const STOPPED = "the caller no longer waits for the answer";
/** What a guest is told of a failure that has no words for it. */
export const FAILED = "the host could not answer";

const execute: Executor = (_, run) => run();

/** All capabilities of a server. */
export class HostCapabilities {
  /** By binding and namespace. */
  readonly #bindings: ReadonlyMap<string, ReadonlyMap<string, Capability>>;
  readonly #onViolation: ViolationSink;
  readonly #executor: Executor;

  /** @param http answers HTTP requests of Extism plugins; default: none are answered */
  constructor(
    capabilities: readonly Capability[],
    onViolation: ViolationSink,
    executor: Executor = execute,
    http?: Capability,
  ) {
    this.#onViolation = onViolation;
    this.#executor = executor;
    this.#bindings = new Map([
      [KUBEWARDEN, byNamespace(capabilities)],
      [HTTP_CALL.binding, byNamespace(http === undefined ? [] : [http])],
    ]);
  }

  /** Answers one call; never rejects, whatever the capability does. Logging (`tracing`) does not come this way. */
  async serve(call: HostCall, context: CapabilityContext): Promise<HostAnswer> {
    const { binding, namespace, operation } = call;
    const { caller, signal } = context;
    if (signal.aborted) return refuse(STOPPED);
    const namespaces = this.#bindings.get(binding);
    if (namespaces === undefined) return refuse(`unknown binding: ${binding}`);
    const path = `${namespace}/${operation}`;
    if (binding === KUBEWARDEN && namespace !== "tracing" && !caller.capabilities.allows(path)) {
      this.#onViolation("Policy tried to use a host capability it doesn't have access to", {
        policy: caller.policy,
        capability: forLog(path),
      });
      return refuse(
        `Policy has not been granted access to the '${path}' host capability. The violation has been reported.`,
      );
    }
    const operations = namespaces.get(namespace)?.operations;
    // The only operation of `tracing` is served where the guest runs.
    if (!operations && namespace !== "tracing") return refuse(`unknown namespace: ${namespace}`);
    const serving = operations && Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (!serving) return refuse(`unknown operation: ${operation}`);
    let payload: unknown;
    try {
      payload = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(call.payload));
      const resource = serving.resource?.(payload);
      if (resource && !granted(caller, resource)) return this.#refuseResource(caller, resource);
      const refusal = serving.gate?.(payload, caller);
      if (refusal !== undefined) return refuse(refusal);
    } catch (error) {
      return refuse(errorText(error));
    }
    try {
      const execution = this.#executor({ namespace, operation, payload }, () => serving.run(payload, context));
      const answer = await orAborted(execution, signal, STOPPED);
      return { ok: true, ...payloadOf(answer) };
    } catch (error) {
      if (error instanceof PayloadError) return refuse(error.message);
      const [shown, because, whole] = [shownText(error, FAILED), shownCause(error), wholeText(error)];
      if (whole !== shown && whole !== `${shown}: ${because}`) context.failed?.(`${path}: ${whole}`);
      if (binding !== KUBEWARDEN) return refuse(shown);
      // A cause follows after a blank line (spec kubewarden.md 7.1, row 6).
      const caused = because === "" ? "" : `\n\nCaused by:\n    ${because}`;
      return refuse(`Callback evaluation failure: ${shown}${caused}`);
    }
  }

  /**
   * All resources of some kinds, for policies that get them with each call instead of asking.
   * @throws what the reader throws, or a session that does not know the question
   */
  snapshots(reader: KubernetesReader, query: SnapshotQuery): Promise<ResourceSnapshot[]> {
    return this.#executor === execute ? readSnapshots(reader, query) : askSnapshots(reader, query, this.#executor);
  }

  #refuseResource(caller: Caller, { apiVersion, kind }: ResourceKind): HostAnswer {
    this.#onViolation("Policy tried to access a Kubernetes resource it doesn't have access to", {
      policy: caller.policy,
      apiVersion: forLog(apiVersion),
      kind: forLog(kind),
    });
    return refuse(
      `Policy has not been granted access to Kubernetes ${apiVersion}/${kind} resources. The violation has been reported.`,
    );
  }
}

const byNamespace = (capabilities: readonly Capability[]): ReadonlyMap<string, Capability> =>
  new Map(capabilities.map((capability) => [capability.namespace, capability]));

/** Whether the policy may read this kind. */
export function granted(caller: Caller, wanted: ResourceKind): boolean {
  return caller.contextAwareResources.some(
    ({ apiVersion, kind }) => apiVersion === wanted.apiVersion && kind === wanted.kind,
  );
}

/** What a guest named, as a field of a log line. */
export function forLog(name: string): string {
  return name.length > LOGGED_NAME_LENGTH ? `${name.slice(0, LOGGED_NAME_LENGTH)}…` : name;
}

function refuse(error: string): HostAnswer {
  return { ok: false, error };
}

/** What a guest may know of the cause; "" for nothing. */
const shownCause = (error: unknown): string => (error instanceof Error ? shownText(error.cause, "") : "");
