/** The floor: node:http alone, parsing the same body and sending an answer of the same size. `node bare-server.js <port>`. */
import { createServer } from "node:http";

const answer = JSON.stringify({
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  response: { uid: "705ab4f5-6393-11e8-b7cc-42010a800002", allowed: true, auditAnnotations: null, warnings: null },
});

createServer((request, response) => {
  // Somebody who wants to know whether it serves.
  if (request.method === "GET") {
    response.end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": answer.length });
    response.end(answer);
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
