/** A module that does nothing but say in its metadata that it is Kubewarden's CEL module: it can't run. */
export function emptyModule(title: string, more: Readonly<Record<string, string>> = {}): Buffer {
  const name = Buffer.from("io.kubewarden.metadata");
  const annotations = { "io.kubewarden.policy.title": title, ...more };
  const metadata = Buffer.from(JSON.stringify({ rules: [], mutating: false, executionMode: "wasi", annotations }));
  const body = Buffer.concat([Buffer.from([name.length]), name, metadata]);
  const size = [(body.length & 0x7f) | 0x80, body.length >> 7];
  return Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, ...size]), body]);
}
