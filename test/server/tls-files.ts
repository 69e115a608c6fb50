/** Certificates in files, as a server under test finds them, and a client that looks at what it is shown. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import https from "node:https";
import os from "node:os";
import path from "node:path";
import { type Certificate, newCertificate } from "../fetch/certificates.js";

/** Which files a server is started with. */
export interface TlsFolder {
  readonly folder: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly authority: Certificate;
  /** A certificate of the authority for 127.0.0.1 (or a client of this name). */
  issue(name: string): Certificate;
  /** Puts a pair in place as Kubernetes does it: a new folder, and a link swapped in one step. */
  install(pair: Certificate, key?: Certificate): void;
}

/** A folder with an authority and a first pair. */
export function tlsFolder(): TlsFolder {
  const folder = mkdtempSync(path.join(os.tmpdir(), "tls-"));
  const authority = newCertificate({ name: "test authority", authority: true });
  const caFile = path.join(folder, "ca.pem");
  writeFileSync(caFile, authority.pem);
  let version = 0;
  const self: TlsFolder = {
    folder,
    certFile: path.join(folder, "tls.crt"),
    keyFile: path.join(folder, "tls.key"),
    caFile,
    authority,
    issue: (name) => newCertificate({ name, issuer: authority, hosts: ["localhost"] }),
    install: (pair, key = pair) => {
      version += 1;
      const target = path.join(folder, `..v${version}`);
      mkdirSync(target);
      writeFileSync(path.join(target, "tls.crt"), pair.pem);
      writeFileSync(path.join(target, "tls.key"), key.keyPem);
      const link = path.join(folder, "..data");
      symlinkSync(`..v${version}`, `${link}.new`);
      renameSync(`${link}.new`, link);
    },
  };
  symlinkSync("..data/tls.crt", self.certFile);
  symlinkSync("..data/tls.key", self.keyFile);
  self.install(self.issue("server one"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return self;
}

/** What a request over TLS came to. */
export interface TlsAnswer {
  readonly status: number;
  readonly body: string;
  /** The common name of the server's certificate. */
  readonly server: string;
}

/** Asks over a connection of its own. Rejects when the server won't have it. */
export function ask(
  port: number,
  folder: TlsFolder,
  requestPath: string,
  body: string,
  client?: Certificate,
): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: "localhost",
        family: 4,
        port,
        path: requestPath,
        method: "POST",
        agent: false,
        ca: folder.authority.pem,
        headers: { "Content-Type": "application/json" },
        ...(client && { cert: client.pem, key: client.keyPem }),
      },
      (response) => {
        const socket = response.socket as import("node:tls").TLSSocket;
        const server = String(socket.getPeerCertificate().subject?.CN);
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, server }));
        response.on("error", reject);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}
