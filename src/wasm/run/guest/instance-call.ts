/**
 * The common part of several protocols' host functions: the current call, one at a time, and the memory of its instance. Host functions are made once
 * for each worker, so they look up the current call each time.
 */

import { HOST_MODULE, MEMORY_NAME, REFILL_NAME } from "../../names.js";
import type { HostAnswer, InstanceSource } from "./call.js";
import { type GuestHost, NAME_BYTES } from "./guest.js";
import { HostAccess } from "./host-access.js";
import type { InstancePlace } from "./place.js";
import { newInstance } from "./start-functions.js";
import { InputQueue, type WasiCall } from "./wasi-preview1.js";

/** Parameters of the function for host calls: address and length of each part, unsigned 32 bits in a signed number. */
export type HostCallParameters = [
  bindingAt: number,
  bindingLength: number,
  namespaceAt: number,
  namespaceLength: number,
  operationAt: number,
  operationLength: number,
  payloadAt: number,
  payloadLength: number,
];

/** One call of an instance. The guest's output is logged. */
export abstract class InstanceCall extends HostAccess implements WasiCall {
  abstract readonly args: readonly Uint8Array[];
  readonly stdin = new InputQueue();
  /** The instance; unset in start functions, which may already make host calls. */
  instance: WebAssembly.Instance | undefined;
  /** The error for a module that has no memory. */
  protected readonly noMemory: string = "the module does not export its memory";

  /** @param place the place of the memory that the module imports, if any */
  constructor(
    readonly host: GuestHost,
    place: InstancePlace | undefined,
  ) {
    super(place);
  }

  /** The instance's memory, imported or its own. */
  get memory(): WebAssembly.Memory {
    const found = this.place?.memory ?? this.instance?.exports.memory;
    if (!(found instanceof WebAssembly.Memory)) throw new Error(this.noMemory);
    return found;
  }

  stdout(bytes: Uint8Array): void {
    this.host.output(bytes);
  }

  stderr(bytes: Uint8Array): void {
    this.stdout(bytes);
  }

  /** Makes the guest's host call. */
  askHost(...[bindingAt, b, namespaceAt, n, operationAt, o, payloadAt, p]: HostCallParameters): HostAnswer {
    const decoder = new TextDecoder();
    const name = (at: number, length: number) => decoder.decode(this.read(at, Math.min(length >>> 0, NAME_BYTES)));
    return this.host.call(name(bindingAt, b), name(namespaceAt, n), name(operationAt, o), this.read(payloadAt, p));
  }

  /**
   * Makes the instance, with the memory of its place, or takes the existing one.
   * @param beside imports of this instance beside the others, or in their place
   * @returns its exports
   */
  instantiate(
    source: InstanceSource,
    imports: InstanceImports,
    beside?: WebAssembly.Imports,
  ): WebAssembly.Instance["exports"] {
    const all = imports.withMemory(this.place?.memory);
    this.instance = newInstance(source, beside ? { ...all, ...beside } : all, this.place);
    return this.instance.exports;
  }
}

/** An import object for one instance after the other: a new one for each would take longer than the instance. */
export class InstanceImports {
  readonly #all: WebAssembly.Imports;
  readonly #own: WebAssembly.ModuleImports;

  /**
   * @param imports imports of all instances
   * @param host the host of the running call
   */
  constructor(imports: WebAssembly.Imports, host: () => GuestHost) {
    this.#own = { [REFILL_NAME]: () => host().budget.refill() };
    this.#all = { ...imports, [HOST_MODULE]: this.#own };
  }

  /** The imports of the next instance; always the same object. */
  withMemory(memory: WebAssembly.Memory | undefined): WebAssembly.Imports {
    if (memory === undefined) delete this.#own[MEMORY_NAME];
    else this.#own[MEMORY_NAME] = memory;
    return this.#all;
  }
}

/** The running call, for host functions. */
export class CurrentCall<T> {
  #call: T | undefined;

  /** The running call; there is one whenever a guest runs. */
  readonly get = (): T => {
    if (!this.#call) throw new Error("no call is under way");
    return this.#call;
  };

  /** Makes this call the running one while `run` runs. */
  during<R>(call: T, run: () => R): R {
    this.#call = call;
    try {
      return run();
    } finally {
      this.#call = undefined;
    }
  }
}
