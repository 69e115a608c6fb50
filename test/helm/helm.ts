/** Helm, built from the Go module that test/helm/go.mod pins. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../test/helm/", import.meta.url));
const PROGRAM = "helm.sh/helm/v4/cmd/helm";

/** The path of the program. The first time it is built, which needs Go and takes minutes. */
export function helmProgram(): string {
  const version = /\shelm\.sh\/helm\/v4 (v[0-9.]+)/.exec(readFileSync(`${FOLDER}go.mod`, "utf8"))?.[1];
  const program = `${FOLDER}bin/${version}/helm`;
  if (existsSync(program)) return program;
  console.error(`building helm ${version} (the first time only)`);
  const arguments_ = ["build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", program, PROGRAM];
  const { status, error } = spawnSync("go", arguments_, { cwd: FOLDER, stdio: "inherit" });
  if (error) throw new Error(`Go could not be started, which builds Helm: ${error.message}`);
  if (status !== 0) throw new Error(`helm ${version} could not be built`);
  return program;
}
