// Runs a command through exec-server: client.mjs [SERVER [COMMAND...]]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [serverPath = "exec-server", ...words] = process.argv.slice(2);
const command = words.length > 0 ? words : ["sh", "-c", "echo hello; exit 3"];
const server = spawn(serverPath, { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

let exitCode;
send({ id: 1, method: "initialize", params: { clientName: "client.mjs" } });
for await (const line of createInterface({ input: server.stdout })) {
  const { id, method, params, error } = JSON.parse(line);
  if (error) {
    console.error(`client.mjs: ${error.message}`);
    process.exit(1);
  } else if (id === 1) { // its result says what the server can do
    send({ method: "initialized", params: {} });
    send({ id: 2, method: "process/start", params: {
      processId: "p1", argv: command, cwd: pathToFileURL(process.cwd()).href,
      env: {}, envPolicy: { inherit: "all" }, tty: false } });
  } else if (method === "process/output") {
    const out = params.stream === "stderr" ? process.stderr : process.stdout;
    out.write(Buffer.from(params.chunk, "base64"));
  } else if (method === "process/exited") {
    exitCode = params.exitCode; // output may still follow
  } else if (method === "process/closed") { // all of its output was seen
    server.stdin.end(); // ends the session, and with it the loop
  }
}
console.log("exit code", exitCode);
