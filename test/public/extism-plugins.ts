/**
 * Runs Extism plugins here and by Extism's SDK for JavaScript, and compares what they come to. Not part of `npm test`: the plugins are fetched by whoever
 * wants to know (docs/testing.md).
 *
 *     EXTISM_PLUGINS=FOLDER[:FOLDER…] node dist/test/public/extism-plugins.js [part of a plugin's name…] [--all]
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errorText } from "../../src/data/error-text.js";
import { asksHttp, findPlugins, loops, operationsOf, type Plugin } from "./extism/plugins.js";
import { OwnSide, type Question, type Seen, theirs } from "./extism/sides.js";

const CONFIG = {
  vowels: "xyz",
  thing: "this is a super important thing",
  greeting: "Hi",
  path: "/data/file.txt",
  code: "0",
};
/** Characters of an output that are shown. */
const SHOWN = 160;

/** How two sides may compare, as it is printed. */
const KINDS = {
  answered: "answered, equal in output and log lines",
  sameWords: "failed on both sides with the same words and log lines",
  otherWords: "failed on both sides, in other words",
  lines: "the same, but for the log lines",
  output: "answered on both sides, but not the same",
  here: "failed here only",
  there: "failed there only",
} as const;
type Kind = keyof typeof KINDS;

const parts = process.argv.slice(2).filter((word) => word !== "--all");
const showAll = process.argv.includes("--all");
const folders = (process.env.EXTISM_PLUGINS ?? "").split(":").filter((folder) => folder !== "");
if (folders.length === 0) throw new Error("EXTISM_PLUGINS names no folder with plugins");

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    response.sendDate = false;
    response.writeHead(request.url === "/missing" ? 404 : 200, { "x-test": "a", connection: "close" });
    response.end(`${request.method} ${request.url} ${request.headers["x-asked"] ?? ""} ${Buffer.concat(chunks)}`);
  });
});
await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
const { port } = server.address() as AddressInfo;
const root = `http://localhost:${port}`;

const INPUTS = [
  "hello world",
  "",
  '{"bytes":100000}',
  '{"a":1,"b":2}',
  '{"duration_ms":30}',
  JSON.stringify({ url: `${root}/there`, headers: { "x-asked": "yes" } }),
  JSON.stringify({ url: `${root}/missing`, method: "POST" }),
  JSON.stringify({ url: `${root}/there`, data: "some text" }),
];
/** Allowed hosts are for plugins that send requests. */
const SETTINGS = [
  { config: {}, allowedHosts: [] },
  { config: CONFIG, allowedHosts: [] },
  { config: {}, allowedHosts: ["localhost"] },
  { config: CONFIG, allowedHosts: ["*.example.com", "loc*"] },
];

const own = new OwnSide();
const counts = new Map<Kind, number>();
const shown = new Map<string, number>();
const plugins = findPlugins(folders).filter(
  ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
let operations = 0;
let calls = 0;
for (const plugin of plugins) await compare(plugin);
await own.close();
server.close();
for (const [line, times] of shown) console.log(times > 1 ? `${line} (${times} times)` : line);
console.log(`\n${plugins.length} plugins, ${operations} exports, ${calls} calls on both sides`);
for (const kind of Object.keys(KINDS) as Kind[])
  console.log(`${String(counts.get(kind) ?? 0).padStart(6)} ${KINDS[kind]}`);

async function compare(plugin: Plugin): Promise<void> {
  let names: readonly string[];
  try {
    names = operationsOf(plugin.modules[0].bytes);
  } catch (error) {
    console.log(`${plugin.name}: not compared, the engine does not take it: ${errorText(error)}`);
    return;
  }
  if (names.length === 0) console.log(`${plugin.name}: not compared, it exports nothing to call`);
  operations += names.length;
  const settings = SETTINGS.filter(({ allowedHosts }) => allowedHosts.length === 0 || asksHttp(plugin));
  const inputs = loops(plugin) ? INPUTS.slice(0, 1) : INPUTS;
  for (const operation of names)
    for (const setting of settings)
      for (const input of inputs) {
        const question: Question = { operation, input, ...setting };
        const [here, there] = [await own.ask(plugin, question), await theirs(plugin, question)];
        const kind = compared(here, there);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        calls++;
        if (showAll || kind !== "answered") show(`${plugin.name} ${operation}`, kind, here, there);
      }
}

function compared(here: Seen, there: Seen): Kind {
  const failed = here.failure !== undefined && there.failure !== undefined;
  if (failed && here.failure !== there.failure) return "otherWords";
  if (!failed && here.failure !== undefined) return "here";
  if (!failed && there.failure !== undefined) return "there";
  if (here.output !== there.output) return "output";
  if (JSON.stringify(here.lines) !== JSON.stringify(there.lines)) return "lines";
  return failed ? "sameWords" : "answered";
}

/** Told once with the number of times: most inputs fail for the same reason. */
function show(what: string, kind: Kind, here: Seen, there: Seen): void {
  const text = ({ failure, output, lines }: Seen) =>
    `${failure ?? JSON.stringify(output)}${kind === "lines" || showAll ? ` ${JSON.stringify(lines)}` : ""}`.slice(
      0,
      SHOWN,
    );
  const both = kind === "sameWords" ? text(here) : `here: ${text(here)}; there: ${text(there)}`;
  const line = `${what}: ${KINDS[kind]}: ${both}`.replaceAll(root, "ROOT");
  shown.set(line, (shown.get(line) ?? 0) + 1);
}
