"""Runs a command through exec-server: client.py [SERVER [COMMAND...]]"""
import base64, json, pathlib, subprocess, sys

server_path = sys.argv[1] if len(sys.argv) > 1 else "exec-server"
command = sys.argv[2:] or ["sh", "-c", "echo hello; exit 3"]
server = subprocess.Popen([server_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()

send(id=1, method="initialize", params={"clientName": "client.py"})
exit_code = None
for line in server.stdout:
    message = json.loads(line)
    params = message.get("params", {})
    if "error" in message:
        sys.exit(f"client.py: {message['error']['message']}")
    elif message.get("id") == 1:  # its result says what the server can do
        send(method="initialized", params={})
        send(id=2, method="process/start", params={
            "processId": "p1", "argv": command, "cwd": pathlib.Path.cwd().as_uri(),
            "env": {}, "envPolicy": {"inherit": "all"}, "tty": False})
    elif message.get("method") == "process/output":
        out = sys.stderr if params["stream"] == "stderr" else sys.stdout
        out.buffer.write(base64.b64decode(params["chunk"]))
        out.flush()
    elif message.get("method") == "process/exited":
        exit_code = params["exitCode"]  # output may still follow
    elif message.get("method") == "process/closed":  # all of its output was seen
        server.stdin.close()  # ends the session, and with it the loop
print("exit code", exit_code)
sys.exit(server.wait())
