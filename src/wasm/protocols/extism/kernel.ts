/**
 * JavaScript's part of the kernel (kernel.wat): the host's side of the memory that an Extism plugin shares with it, and the services that the kernel
 * can't provide: log lines, variables, host calls.
 */

import { readFileSync } from "node:fs";
import { errorText } from "../../../data/error-text.js";
import { parseJson, stringifyJson } from "../../../data/json.js";
import { isJsonObject } from "../../../data/same-value.js";
import { HTTP_CALL, type HttpAnswer } from "../../host/http/wire.js";
import { EXTISM_FUNCTIONS, EXTISM_MODULE, HOST_CALL_MODULE, HOST_CALL_NAME } from "../../names.js";
import { HOST_CALL_UNITS } from "../../run/guest/budget.js";
import type { GuestLogLevel } from "../../run/guest/call.js";
import { guardedImports } from "../../run/guest/guarded-imports.js";
import { type GuestHost, NAME_BYTES } from "../../run/guest/guest.js";
import { wholeAnswer } from "../../run/guest/whole-answer.js";
import { LOG_LEVELS, NO_ENVIRONMENT, type PluginEnvironment } from "./environment.js";

// HTTP for Extism plugins, on the guest's thread: requests go to the main thread like host calls, and the call waits.

/** Units of fuel for a byte of JSON that is read and printed again. */
const READ_UNITS = 16;

/** The result of a request: an answer, or the reason why it has no body. */
type PluginAnswer = { readonly body: Uint8Array } | { readonly problem: string };

/** The requests of one call. */
class PluginHttp {
  /** Status of the last answer; 0: none. */
  status = 0;
  /** Headers of the last answer, as JSON, with names in lower case; empty before there is one. */
  headers = "";

  /**
   * Sends a request and waits for its answer.
   * @param request JSON: `url`, and `method` and `headers` if they are given
   * @throws Error for an invalid request, a forbidden one, and one without an answer; as in Extism, that ends the call
   */
  request(host: GuestHost, request: Uint8Array, body: Uint8Array | undefined): PluginAnswer {
    this.status = 0;
    this.headers = "";
    const { hostCallBytes } = host.limits;
    // Checked before the bytes are decoded.
    if (request.length + (body?.length ?? 0) > hostCallBytes)
      throw host.limitPassed(`the policy asked the host with more than ${hostCallBytes} bytes`);
    host.work(READ_UNITS * request.length + (body?.length ?? 0));
    const { binding, namespace, operation } = HTTP_CALL;
    const answer = host.call(binding, namespace, operation, Buffer.from(stringifyJson(questionOf(request, body))));
    if (!answer.ok) throw new Error(answer.error);
    const { status, headers, ...rest } = parseJson(new TextDecoder().decode(answer.payload)) as HttpAnswer;
    this.status = status;
    this.headers = stringifyJson(headers);
    return "body" in rest ? { body: Buffer.from(rest.body, "base64") } : rest;
  }
}

/** `header` is another name of `headers`: some kits write it so. Members are checked where they are used. */
function questionOf(request: Uint8Array, body: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  let read: unknown;
  try {
    read = parseJson(new TextDecoder().decode(request));
  } catch (error) {
    throw new Error(`the HTTP request is not JSON: ${errorText(error)}`, { cause: error });
  }
  if (!isJsonObject(read)) throw new Error("the HTTP request is not a JSON object");
  const { url, method, headers, header } = read;
  return {
    ...(url !== undefined && { url }),
    ...(method !== undefined && { method }),
    ...((headers ?? header) !== undefined && { headers: headers ?? header }),
    ...(body !== undefined && { body: Buffer.from(body).toString("base64") }),
  };
}

/** Bytes of a variable beside its name and value, as Extism's own runtime counts them. */
const OVERHEAD_BYTES = 48;

/** The variables of an Extism plugin. They live as long as a call: the next one does not see them. */
class Variables {
  readonly #values = new Map<string, Uint8Array>();
  readonly #limit: number;
  #bytes = 0;

  /** @param limit most bytes of all variables */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  get(name: string): Uint8Array | undefined {
    return this.#values.get(name);
  }

  /** @returns the reason why the variable could not be set */
  set(name: string, value: Uint8Array): string | undefined {
    const known = this.#values.get(name);
    const bytes = this.#bytes + cost(name, value) - (known ? cost(name, known) : 0);
    if (bytes > this.#limit) return `var memory limit exceeded: ${bytes} bytes requested, ${this.#limit} allowed`;
    this.#bytes = bytes;
    this.#values.set(name, value);
    return undefined;
  }

  delete(name: string): void {
    const known = this.#values.get(name);
    if (!known) return;
    this.#values.delete(name);
    this.#bytes -= cost(name, known);
  }
}

function cost(name: string, value: Uint8Array): number {
  return name.length + value.length + OVERHEAD_BYTES;
}

const PAGE_BYTES = 64 * 1024;
/** Most bytes in use of a kernel that is kept: the next call, perhaps of another policy, waits for the wiping, 0.05 ms per MiB. */
const KEPT_BYTES = 8 * 1024 * 1024;
const LEVELS: readonly GuestLogLevel[] = ["trace", "debug", "info", "warn", "error"];
/** Most bytes of a UTF-16 code unit in UTF-8, rounded up: enough for a log line that is then cut by its length. */
const UNIT_BYTES = 4;
const NOTHING = new Uint8Array();

/** Exports of the kernel for its host; all numbers have 32 bits, an address may be negative. */
interface KernelExports {
  readonly memory: WebAssembly.Memory;
  reset(pages: number): void;
  input_set(length: number): number;
  reserve(length: number): number;
  used(): number;
  output_offset(): number;
  output_length(): number;
  error_offset(): number;
  error_length(): number;
  fail(block: number): void;
}

/** Compiles the kernel, which the build puts beside this file. */
export function compileKernel(): WebAssembly.Module {
  return new WebAssembly.Module(new Uint8Array(readFileSync(new URL("./kernel.wasm", import.meta.url))));
}

/** A kernel for one call after the other. */
export class Kernel {
  /** Functions for plugins, by import module. */
  readonly imports: WebAssembly.Imports;
  readonly #exports: KernelExports;
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  #environment = NO_ENVIRONMENT;
  #variables = new Variables(NO_ENVIRONMENT.varBytes);
  #http = new PluginHttp();
  /** Bytes in use without a block of the plugin. */
  #unused = 0;
  #host: GuestHost;

  constructor(module: WebAssembly.Module, host: GuestHost) {
    this.#host = host;
    const instance = new WebAssembly.Instance(module, { services: guardedImports(this.#services(), () => this.#host) });
    const functions = instance.exports as WebAssembly.ModuleImports;
    this.#exports = instance.exports as unknown as KernelExports;
    const environment: WebAssembly.ModuleImports = {};
    for (const name of EXTISM_FUNCTIONS) if (functions[name]) environment[name] = functions[name];
    const user: WebAssembly.ModuleImports = {};
    if (functions[HOST_CALL_NAME]) user[HOST_CALL_NAME] = functions[HOST_CALL_NAME];
    this.imports = { [EXTISM_MODULE]: environment, [HOST_CALL_MODULE]: user };
  }

  /** Begins a call for this host; blocks of the last call become invalid. */
  begin(host: GuestHost, environment: PluginEnvironment = NO_ENVIRONMENT): void {
    this.#host = host;
    this.#environment = environment;
    this.#variables = new Variables(environment.varBytes);
    this.#http = new PluginHttp();
    this.#exports.reset(host.limits.memoryPages);
    this.#unused = this.#exports.used();
  }

  /** Gives the plugin its input. */
  input(bytes: Uint8Array): void {
    const address = this.#exports.input_set(bytes.length);
    this.#bytes(address, bytes.length).set(bytes);
  }

  /** The plugin's output, in the kernel's memory. @throws GuestLimitError */
  output(): Uint8Array {
    const length = this.#exports.output_length() >>> 0;
    const { outputBytes } = this.#host.limits;
    if (length > outputBytes) throw this.#host.limitPassed(`the policy's answer is longer than ${outputBytes} bytes`);
    return this.#bytes(this.#exports.output_offset(), length);
  }

  /** The error that the plugin has reported. */
  error(): string | undefined {
    const address = this.#exports.error_offset();
    return address === 0 ? undefined : this.#line(address, this.#exports.error_length());
  }

  /** Whether the plugin has left nothing here: addresses that it remembers are invalid in another kernel. */
  get isUntouched(): boolean {
    return this.#exports.used() === this.#unused && this.#exports.error_offset() === 0 && this.#variables.isEmpty;
  }

  /** Whether reusing this kernel pays. */
  get reusable(): boolean {
    return this.#exports.used() >>> 0 <= KEPT_BYTES;
  }

  #services() {
    return {
      passed_limit: () => {
        const bytes = this.#host.limits.memoryPages * PAGE_BYTES;
        throw this.#host.limitPassed(`the policy allocated more than ${bytes} bytes from the host`);
      },
      bad_output: () => {
        throw new Error("the output lies outside of the blocks that the policy has allocated");
      },
      bad_error: () => {
        throw new Error("the error is not a block that the policy has allocated");
      },
      bad_variable: () => this.#host.log("error", "a variable's name or value is not a block", "policy"),
      log: (level: number, address: number, length: number) => {
        const named = LEVELS[level] ?? "error";
        if (address !== 0 && level < this.#logLevel()) return;
        if (address === 0) this.#host.log("error", `failed to log(${named}): the line is not a block`, "policy");
        else this.#host.log(named, this.#line(address, length), "policy");
      },
      log_level: () => this.#logLevel(),
      config_get: (address: number, length: number) => {
        this.#host.work(HOST_CALL_UNITS + (length >>> 0));
        const { config } = this.#environment;
        const name = this.#text(address, length);
        if (!Object.hasOwn(config, name)) return 0;
        const value = this.#encoder.encode(config[name]);
        this.#host.work(value.length);
        return this.#store(value);
      },
      http_request: this.#httpRequest.bind(this),
      http_status: () => this.#http.status,
      http_headers: () => this.#storeText(this.#http.headers),
      variable_get: (address: number, length: number) => {
        this.#host.work(length >>> 0);
        const value = this.#variables.get(this.#text(address, length));
        if (value === undefined) return 0;
        this.#host.work(HOST_CALL_UNITS + value.length);
        return this.#store(value);
      },
      variable_set: (address: number, length: number, value: number, valueLength: number) => {
        this.#host.work(HOST_CALL_UNITS + (length >>> 0) + (valueLength >>> 0));
        if (this.#environment.varBytes === 0) throw new Error("Vars are disabled by this host");
        const name = this.#text(address, length);
        if (value === 0) this.#variables.delete(name);
        else this.#setVariable(name, this.#bytes(value, valueLength).slice());
      },
      host_call: this.#hostCall.bind(this),
    };
  }

  /**
   * `host_call(namespace, operation, payload) -> block`: the host capabilities of spec kubewarden.md 7 for Extism guests. The returned block is one
   * byte, 1 for an answer and 0 for an error, followed by the answer or the error's text.
   */
  #hostCall(na: number, nl: number, oa: number, ol: number, pa: number, pl: number): number {
    const name = (address: number, length: number) => this.#text(address, Math.min(length >>> 0, NAME_BYTES));
    const answer = this.#host.call("kubewarden", name(na, nl), name(oa, ol), this.#bytes(pa, pl));
    const body = answer.ok ? wholeAnswer(answer) : this.#encoder.encode(answer.error);
    const address = this.#exports.reserve(body.length + 1);
    const block = this.#bytes(address, body.length + 1);
    block[0] = answer.ok ? 1 : 0;
    block.set(body, 1);
    return address;
  }

  #logLevel(): number {
    return LOG_LEVELS[this.#environment.logLevel];
  }

  /** An answer that is too large counts as none, with a log line; any other failure ends the call. */
  #httpRequest(at: number, length: number, bodyAt: number, bodyLength: number): number {
    const body = bodyAt === 0 ? undefined : this.#bytes(bodyAt, bodyLength);
    const answer = this.#http.request(this.#host, this.#bytes(at, length), body);
    if ("body" in answer) {
      this.#host.work(answer.body.length);
      return this.#store(answer.body);
    }
    this.#host.log("error", answer.problem, "policy");
    return 0;
  }

  /** A variable that finds no room is an error of the plugin. */
  #setVariable(name: string, value: Uint8Array): void {
    const problem = this.#variables.set(name, value);
    if (problem === undefined) return;
    this.#host.log("error", problem, "policy");
    this.#exports.fail(this.#store(this.#encoder.encode(problem)));
  }

  #storeText(text: string): number {
    this.#host.work(HOST_CALL_UNITS + text.length);
    return this.#store(this.#encoder.encode(text));
  }

  /** The block of these bytes; 0 for empty bytes, which have no block. */
  #store(bytes: Uint8Array): number {
    const address = this.#exports.reserve(bytes.length);
    this.#bytes(address, bytes.length).set(bytes);
    return address;
  }

  /** A part of the kernel's memory; made at every use, because the memory may have grown since. An empty part may have any address. */
  #bytes(address: number, length: number): Uint8Array {
    return length === 0 ? NOTHING : new Uint8Array(this.#exports.memory.buffer, address >>> 0, length >>> 0);
  }

  #text(address: number, length: number): string {
    return this.#decoder.decode(this.#bytes(address, length));
  }

  /** As much of a text as a log line may have, or a little more. */
  #line(address: number, length: number): string {
    const most = Math.min(length >>> 0, this.#host.limits.logLineBytes * UNIT_BYTES);
    this.#host.work(most);
    return this.#text(address, most);
  }
}
