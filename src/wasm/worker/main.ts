/**
 * A worker thread: waits for a call, runs it in a fresh instance, posts the result. It is killed from outside when a guest takes too long;
 * nothing here watches the clock.
 */
import { readlinkSync } from "node:fs";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { ControlBlock } from "./control-block.js";
import { type GuestAnswer, GuestLimitError, GuestStartError, type RunGuest } from "./guest.js";
import { WorkerHost } from "./host.js";
import { Memories } from "./memories.js";
import type {
  ExecutionMode,
  FromWorker,
  GuestModule,
  GuestResult,
  RunMessage,
  ToWorker,
  WorkerStart,
} from "./messages.js";

if (!parentPort) throw new Error("worker/main.js runs as a worker thread only");
const port = parentPort;
const start = workerData as WorkerStart;
const control = new ControlBlock(start.control);
const modules = new Map<number, GuestModule>();
const memories = new Memories();

/** Each protocol's code is loaded with its first guest. */
const loaders: Record<ExecutionMode, () => Promise<RunGuest>> = {
  extism: async () => (await import("../extism/guest.js")).extismRunner(),
  "kubewarden-wapc": async () => (await import("../wapc/guest.js")).runWapc,
  wasi: async () => (await import("../wasi/guest.js")).runWasi,
  opa: async () => (await import("../opa/guest.js")).runRego,
  gatekeeper: async () => (await import("../opa/guest.js")).runRego,
};
const runners = new Map<ExecutionMode, RunGuest>();

async function loadRunner(mode: ExecutionMode): Promise<RunGuest> {
  const runner = await loaders[mode]();
  runners.set(mode, runner);
  return runner;
}

function post(message: FromWorker): void {
  port.postMessage(message);
}

async function run(message: RunMessage): Promise<void> {
  if (message.module) modules.set(message.moduleId, message.module);
  const module = modules.get(message.moduleId);
  if (!module) throw new Error("the worker was not given the module");
  const runner = runners.get(message.mode) ?? (await loadRunner(message.mode));
  const host = new WorkerHost(post, () => receiveMessageOnPort(port)?.message, control, message.limits);
  const { importedMemory: shape } = module;
  const memory = shape && memories.take(message.moduleId, shape);
  const encoder = new TextEncoder();
  const { operation, input, data } = message.call;
  const call = { operation, input: encoder.encode(input), ...(data !== undefined && { data: encoder.encode(data) }) };
  let result: GuestResult;
  try {
    result = resultOf(await runner(module.module, call, host, memory));
  } catch (error) {
    result = failure(error);
  }
  host.finish();
  post({ type: "result", result });
  // Behind the answer, so that nobody waits for the wiping. After anything but an answer the memory is not used again.
  if (memory && result.kind === "answer") memories.give(message.moduleId, memory, shape);
}

function resultOf(answer: GuestAnswer): GuestResult {
  return answer.kind === "answer" ? { kind: "answer", text: new TextDecoder().decode(answer.bytes) } : answer;
}

/** Turns what a guest threw into a result. Engine texts are kept short: the first line, no stack. */
function failure(error: unknown): GuestResult {
  if (error instanceof GuestLimitError) return { kind: "limit", text: error.message };
  const text = firstLine(error instanceof Error ? error.message : thrownText(error));
  if (error instanceof GuestStartError) return { kind: "start-failed", text };
  if (error instanceof WebAssembly.LinkError || error instanceof WebAssembly.CompileError)
    return { kind: "start-failed", text };
  return { kind: "trap", text, memory: /could not allocate|out of memory|Out of memory/.test(text) };
}

/** What a guest throws of its own is no Error and has no text that could be read. */
function thrownText(thrown: unknown): string {
  return thrown instanceof WebAssembly.Exception ? "an exception that the policy did not catch" : String(thrown);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

port.on("message", (message: ToWorker) => {
  if (message.type === "forget") {
    modules.delete(message.moduleId);
    return;
  }
  void run(message);
});

/** Linux names the calling thread in procfs; the number at the end is its id. */
function taskId(): number | undefined {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1)) || undefined;
  } catch {
    return undefined;
  }
}

await Promise.all(start.modes.map(loadRunner));
const id = taskId();
post({ type: "ready", ...(id !== undefined && { taskId: id }) });
