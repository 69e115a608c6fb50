/** Host calls of guests: the checks of spec kubewarden.md 7.1, in their order, and the capabilities that answer. */

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

/** Longest part of a name that is logged: longer ones would only fill the log. Kubernetes' names have at most 253 characters. */
const LOGGED_NAME_LENGTH = 256;

/** A guest's host call. */
export interface HostCall {
  readonly binding: string;
  readonly namespace: string;
  readonly operation: string;
  /** JSON text in UTF-8. */
  readonly payload: Uint8Array;
}

/** The answer, for the guest: bytes, or a text with the reason why not. */
export type HostAnswer =
  | {
      readonly ok: true;
      readonly payload: Uint8Array;
      /** Used instead of a long payload: joined in the guest's thread. */
      readonly pieces?: TextPieces;
    }
  | { readonly ok: false; readonly error: string };

/** The calling policy, with its permissions. */
export interface Caller {
  /** The policy's id, for the log. */
  readonly policy: string;
  readonly capabilities: CapabilityGrants;
  readonly contextAwareResources: readonly ResourceKind[];
  /** The only namespace whose objects it may read; absent: all namespaces, and cluster-scoped objects. */
  readonly namespace?: string;
  /** Most bytes of its memory, into which an answer must fit; absent: no limit. */
  readonly memoryBytes?: number;
  /** An Extism plugin's HTTP permissions; absent: none. */
  readonly http?: HttpGrant;
}

/** Context of one execution. */
export interface CapabilityContext {
  readonly caller: Caller;
  /** Aborted when the guest has been stopped, or its client has gone: the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Receives the full reason of a failed call, for the log: the guest, which may publish it, gets a general text. */
  readonly failed?: (reason: string) => void;
}

/** An answer that is already JSON, in UTF-8, perhaps in memory that threads share. */
export class JsonBytes {
  constructor(readonly bytes: Uint8Array) {}
}

/** An answer that is already JSON, to be joined by the receiving thread. */
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
   * @throws when the payload has the wrong shape; the message goes to the guest
   */
  readonly resource?: (payload: unknown) => ResourceKind;
  /**
   * The reason why this caller may not call it; `undefined` when it may. It reports violations itself.
   * @throws as `resource`
   */
  readonly gate?: (payload: unknown, caller: Caller) => string | undefined;
  /**
   * Executes the operation.
   * @returns the answer, a JSON value, {@link JsonBytes} or {@link JsonPieces}
   * @throws anything; its public text (`data/public-text`) goes to the guest behind `Callback evaluation failure: `
   */
  run(payload: unknown, context: CapabilityContext): Promise<unknown>;
}

/** A capability: the operations of one namespace, by name (such as `v1/dns_lookup_host`). */
export interface Capability {
  readonly namespace: string;
  readonly operations: Readonly<Record<string, Operation>>;
}

/** Receives calls for which a policy has no permission. */
export type ViolationSink = (message: string, fields: Readonly<Record<string, string>>) => void;

const KUBEWARDEN = "kubewarden";
const STOPPED = "the caller no longer waits for the answer";
/** The guest's message for a failure without a public text. */
export const FAILED = "the host could not answer";

const execute: Executor = (_, run) => run();

/** The capabilities of a server. */
export class HostCapabilities {
  /** Capabilities by binding and namespace. */
  readonly #bindings: ReadonlyMap<string, ReadonlyMap<string, Capability>>;
  readonly #onViolation: ViolationSink;
  readonly #executor: Executor;

  /** @param http answers HTTP requests of Extism plugins; default: none */
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
   * All resources of some kinds, for policies that get them with each call instead of host calls.
   * @throws errors of the reader, or of a session without the question
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

/** A guest's name as a field of a log line. */
export function forLog(name: string): string {
  return name.length > LOGGED_NAME_LENGTH ? `${name.slice(0, LOGGED_NAME_LENGTH)}…` : name;
}

function refuse(error: string): HostAnswer {
  return { ok: false, error };
}

/** The public text of the cause; "" without one. */
const shownCause = (error: unknown): string => (error instanceof Error ? shownText(error.cause, "") : "");
