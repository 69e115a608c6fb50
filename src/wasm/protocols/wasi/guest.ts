/** Runs calls of WASI commands, spec kubewarden.md 6.4. */

import type { InstanceSource } from "../../run/guest/call.js";
import { guardedImports } from "../../run/guest/guarded-imports.js";
import {
  type GuestAnswer,
  type GuestHost,
  type GuestInput,
  GuestLimitError,
  GuestStartError,
  type RunGuest,
  startGuest,
} from "../../run/guest/guest.js";
import { CurrentCall, type HostCallParameters, InstanceCall, InstanceImports } from "../../run/guest/instance-call.js";
import type { InstancePlace } from "../../run/guest/place.js";
import { ExitStatus, wasiArguments, wasiImports } from "../../run/guest/wasi-preview1.js";
import { wholeAnswer } from "../../run/guest/whole-answer.js";

const SUCCESS = 0;
const FAILURE = 1;
const NOTHING = new Uint8Array();

/** Arguments of operations, in bytes for guests. */
const ARGUMENTS: ReadonlyMap<string, readonly Uint8Array[]> = new Map(
  ["validate", "validate-settings"].map((name) => [name, wasiArguments("policy.wasm", name)]),
);

class CommandCall extends InstanceCall {
  readonly args: readonly Uint8Array[];
  protected override readonly noMemory = "cannot find 'mem' export";
  readonly #written: Uint8Array[] = [];
  #size = 0;

  constructor({ operation, input }: GuestInput, host: GuestHost, place: InstancePlace | undefined) {
    super(host, place);
    this.args = ARGUMENTS.get(operation) ?? wasiArguments("policy.wasm", operation);
    this.stdin.push(input);
  }

  override stdout(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const { outputBytes } = this.host.limits;
    if (this.#size > outputBytes)
      throw this.host.limitPassed(`the policy's answer is longer than ${outputBytes} bytes`);
    this.#written.push(bytes.slice());
  }

  override stderr(bytes: Uint8Array): void {
    this.host.stderr(bytes);
  }

  /** The whole standard output. */
  output(): Uint8Array {
    const [first = NOTHING, ...others] = this.#written;
    return others.length === 0 ? first : Buffer.concat(this.#written);
  }
}

/** Makes a {@link RunGuest} for WASI commands. Its import object serves all calls: a new one for each would cost more than the instance. */
export function wasiRunner(): RunGuest {
  const current = new CurrentCall<CommandCall>();
  const host = guardedImports({ call: hostCall(current.get) }, () => current.get().host);
  const imports = new InstanceImports(
    {
      wasi_snapshot_preview1: wasiImports(current.get),
      host,
      "kubewarden:javy/host": host,
    },
    () => current.get().host,
  );
  return (source, input, guestHost, place) => {
    const call = new CommandCall(input, guestHost, place);
    return current.during(call, () => run(source, call, input.operation, imports));
  };
}

/** The answer, or the error's text, is appended to standard input; note that 0 means success here, 1 in waPC. */
function hostCall(call: () => CommandCall) {
  const encoder = new TextEncoder();
  return (...parameters: HostCallParameters): number => {
    const result = call().askHost(...parameters);
    call().stdin.push(result.ok ? wholeAnswer(result) : encoder.encode(result.error));
    return result.ok ? SUCCESS : FAILURE;
  };
}

function run(source: InstanceSource, call: CommandCall, operation: string, imports: InstanceImports): GuestAnswer {
  const { host } = call;
  const start = startGuest(() => call.instantiate(source, imports))._start;
  if (typeof start !== "function") throw new GuestStartError("cannot find `_start` function inside of module");
  host.enterCall();
  try {
    start();
  } catch (error) {
    if (error instanceof GuestLimitError) throw error;
    // After a trap, as after an exit code, standard error is the only explanation for the user.
    if (!(error instanceof ExitStatus) || error.code !== 0)
      return { kind: "guest-error", text: host.stderrText().trim() };
  }
  const stderr = host.stderrText().trim();
  if (stderr) host.log("warn", `${operation}: ${stderr}`, "output");
  return { kind: "answer", bytes: call.output() };
}
