/** One call of a plugin by Extism's SDK for JavaScript, and the same by this server. */
import { createPlugin } from "@extism/extism";
import { parseCapabilities } from "../../../src/config/capability-patterns.js";
import { parseHostPatterns } from "../../../src/config/host-patterns.js";
import { errorText } from "../../../src/data/error-text.js";
import { WasmLoadError } from "../../../src/wasm/errors.js";
import type { Caller } from "../../../src/wasm/host/host.js";
import { HTTP_CALL } from "../../../src/wasm/host/http/wire.js";
import { createHostCapabilities } from "../../../src/wasm/host/index.js";
import { DEFAULT_GUEST_LIMITS } from "../../../src/wasm/limits.js";
import { ModuleStore } from "../../../src/wasm/module/prepare.js";
import { HOST_MODULE, MEMORY_NAME } from "../../../src/wasm/names.js";
import { NO_ENVIRONMENT, printEnvironment } from "../../../src/wasm/protocols/extism/environment.js";
import { extismRunner } from "../../../src/wasm/protocols/extism/guest.js";
import { rewriteModule } from "../../../src/wasm/rewrite/binary/rewrite.js";
import { meterModule } from "../../../src/wasm/rewrite/meter/meter.js";
import { type Extracted, extractState } from "../../../src/wasm/rewrite/snapshot/extract.js";
import { emptySnapshot } from "../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import { SLICE_UNITS } from "../../../src/wasm/run/guest/budget.js";
import type { GuestModule, HostAnswer, InstanceSource } from "../../../src/wasm/run/guest/call.js";
import type { GuestHost } from "../../../src/wasm/run/guest/guest.js";
import { Places } from "../../../src/wasm/run/guest/instance-pool.js";
import { EgressRules } from "../../../src/world/http/egress-rules.js";
import { GuardedClient } from "../../../src/world/http/guarded-client.js";
import { pluginHttp } from "../../../src/world/http/plugin-http.js";
import { type Line, recordingHost } from "../../wasm/protocols/extism/host.js";
import { asksHttp, loops, type Plugin } from "./plugins.js";

/** A question to a plugin. */
export interface Question {
  readonly operation: string;
  readonly input: string;
  readonly config: Readonly<Record<string, string>>;
  readonly allowedHosts: readonly string[];
}

/** What a call came to: its output as a text of bytes, or why there is none. */
export interface Seen {
  readonly output?: string;
  readonly failure?: string;
  readonly lines: readonly Line[];
}

const MEMORY_PAGES = 4096;
const VARIABLE_BYTES = 1024 * 1024;
/** After so long the SDK ends a plugin that loops. */
const SDK_MS = 2_000;
/** Units of fuel after which a plugin that loops is ended here: about a second. */
const UNITS = 1_000_000_000;
const PLUGIN_ERROR = /^Plugin-originated error: /;
const LEVELS = ["trace", "debug", "info", "warn", "error"] as const;

/** How the SDK answers. Only its threads can send requests and be ended; they take longer to start, so that other plugins run without. */
export async function theirs(plugin: Plugin, question: Question): Promise<Seen> {
  const lines: Line[] = [];
  const { operation, input, config, allowedHosts } = question;
  const logger = Object.fromEntries(LEVELS.map((level) => [level, (text: string) => lines.push([level, text])]));
  let failure: string;
  try {
    const made = await createPlugin(
      { wasm: plugin.modules.map(({ name, bytes }) => ({ data: bytes.slice(), name })) },
      {
        useWasi: true,
        logger: logger as unknown as Console,
        logLevel: "trace",
        config: { ...config },
        ...(allowedHosts.length > 0 && { allowedHosts: [...allowedHosts] }),
        allowHttpResponseHeaders: true,
        memory: { maxVarBytes: VARIABLE_BYTES },
        ...((asksHttp(plugin) || loops(plugin)) && { runInWorker: true, timeoutMs: SDK_MS }),
      },
    );
    try {
      const output = await made.call(operation, input);
      return { output: Buffer.from(output?.bytes() ?? []).toString("latin1"), lines };
    } finally {
      await made.close();
    }
  } catch (error) {
    failure = errorText(error).replace(PLUGIN_ERROR, "");
  }
  return { failure, lines };
}

type Prepared = InstanceSource & Pick<GuestModule, "id" | "importedMemory" | "image">;

/** This server's side: what guests' threads and the main thread do for one call, without threads. */
export class OwnSide {
  readonly #store = new ModuleStore();
  readonly #run = extismRunner();
  readonly #client = new GuardedClient(new EgressRules({ blocklist: [], allowlist: [] }));
  readonly #capabilities = createHostCapabilities({ http: pluginHttp(this.#client), violation() {} });
  #nextId = 1;
  readonly #prepared = new Map<Plugin, Prepared | string>();

  async close(): Promise<void> {
    await this.#client.close();
  }

  /** A call is a function of its input and of the host's answers: it runs again with each of them until it has them all. */
  async ask(plugin: Plugin, question: Question): Promise<Seen> {
    const source = await this.#source(plugin);
    if (typeof source === "string") return { failure: source, lines: [] };
    const answers: HostAnswer[] = [];
    for (;;) {
      let asked: Uint8Array | undefined;
      let given = 0;
      const { host, lines } = hostOf((payload) => {
        const known = answers[given++];
        if (known) return known;
        asked ??= payload.slice();
        throw new Error("not yet");
      });
      const seen = { ...this.#once(source, question, host), lines };
      if (asked === undefined) return seen;
      answers.push(await this.#serve(asked, question));
    }
  }

  #once(source: Prepared, { operation, input, config }: Question, host: GuestHost) {
    try {
      const { id, importedMemory, image } = source;
      const answer = this.#run(
        source,
        {
          operation,
          input: Buffer.from(input),
          data: Buffer.from(printEnvironment({ ...NO_ENVIRONMENT, varBytes: VARIABLE_BYTES, config })),
        },
        host,
        importedMemory && image && new Places().take(id, importedMemory, image),
      );
      return answer.kind === "answer"
        ? { output: Buffer.from(answer.bytes).toString("latin1") }
        : { failure: answer.text };
    } catch (error) {
      return { failure: host.budget.isSpent ? "ended: it has used up its time" : errorText(error) };
    }
  }

  #serve(payload: Uint8Array, { allowedHosts }: Question): Promise<HostAnswer> {
    const caller: Caller = {
      policy: "plugin",
      capabilities: parseCapabilities([]),
      contextAwareResources: [],
      http: { hosts: parseHostPatterns([...allowedHosts]), maxResponseBytes: DEFAULT_GUEST_LIMITS.outputBytes },
    };
    return this.#capabilities.serve({ ...HTTP_CALL, payload }, { caller, signal: new AbortController().signal });
  }

  /** @returns why the plugin is refused at load, when it is; that it is no policy does not count */
  async #source(plugin: Plugin): Promise<Prepared | string> {
    const known = this.#prepared.get(plugin);
    if (known !== undefined) return known;
    const made = await this.#prepare(plugin);
    this.#prepared.set(plugin, made);
    return made;
  }

  async #prepare({ modules: [main, ...others] }: Plugin): Promise<Prepared | string> {
    try {
      await this.#store.prepare(main.bytes, MEMORY_PAGES, "extism", others);
    } catch (error) {
      if (!(error instanceof WasmLoadError) || error.code !== "wasm-exports") return errorText(error);
    }
    const rewritten = rewriteModule(main.bytes, {
      maximumPages: MEMORY_PAGES,
      importMemoryAs: { module: HOST_MODULE, name: MEMORY_NAME },
    });
    const { importedMemory } = rewritten;
    const extracted: Extracted =
      others.length > 0 ? { bytes: rewritten.bytes } : extractState(rewritten.bytes, importedMemory);
    const module = new WebAssembly.Module(meterModule(extracted.bytes, undefined, extracted.own));
    const imports = WebAssembly.Module.imports(module);
    const hasMemory = imports.some((entry) => entry.module === HOST_MODULE && entry.name === MEMORY_NAME);
    const { image } = extracted;
    const linked = others.map(({ name, bytes }) => ({
      name,
      module: new WebAssembly.Module(meterModule(rewriteModule(bytes, { maximumPages: MEMORY_PAGES }).bytes)),
    }));
    return {
      module,
      id: this.#nextId++,
      ...(hasMemory && importedMemory && { importedMemory, image: image ?? emptySnapshot(importedMemory.initial) }),
      ...(linked.length > 0 && { linked }),
    };
  }
}

/** A host with an end: its budget is spent at some time. What plugins print, the SDK drops. */
function hostOf(call: (payload: Uint8Array) => HostAnswer): { readonly host: GuestHost; readonly lines: Line[] } {
  const recording = recordingHost({ memoryPages: MEMORY_PAGES });
  let left = UNITS;
  const budget = {
    refill() {
      left -= SLICE_UNITS;
      return left > 0 ? SLICE_UNITS : 0;
    },
    get isSpent() {
      return left <= 0;
    },
  };
  const host: GuestHost = {
    ...recording,
    budget,
    call: (_binding, _namespace, _operation, payload) => call(payload),
    output() {},
  };
  return { host, lines: recording.lines };
}
