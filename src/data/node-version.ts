/**
 * The versions of Node that this package runs on: loading this file on another one throws, before anything is loaded that needs what an old Node lacks. Node 12 can read it, and
 * src/main.ts: no newer syntax in either.
 */

/** The first versions of Node 20 and 22 that it runs on: 21 and 22.2 lack process.getBuiltinModule; the same as `engines` of package.json. */
const OLDEST = [20, 17];
const OLDEST_OF_22 = [22, 3];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [leastMajor = 0, leastMinor = 0] = major === 22 || major === 21 ? OLDEST_OF_22 : OLDEST;
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  const needed = `Node.js ${OLDEST.join(".")}, or ${OLDEST_OF_22.join(".")} and newer`;
  const error: Error & { code?: string } = new Error(
    `policy-group-gateway needs ${needed}; this is ${process.versions.node} (https://nodejs.org)`,
  );
  error.code = "NODE_VERSION";
  throw error;
}
