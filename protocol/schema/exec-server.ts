// The wire types of exec-server. Generated from the Rust types: do not edit.

/**
 * What is allowed at a path and below.
 */
export type Access = "read" | "write" | "deny";

/**
 * Bytes that are a base64 string on the wire. Decoding is strict: standard alphabet, padded, no white space.
 */
export type Base64 = string;

/**
 * Params of `$/cancelRequest`.
 */
export type CancelParams = { 
/**
 * The request's id.
 */
id: string | number | null, };

/**
 * Result of `fs/canonicalize`.
 */
export type CanonicalizeResponse = { 
/**
 * The path without symbolic links, `.` and `..`.
 */
path: PathUri, };

/**
 * A name that the client chose for a handle or a watch: a string or an integer, given back as it came.
 */
export type ClientId = number | string;

/**
 * Params of `fs/close`.
 */
export type CloseParams = { 
/**
 * Which handle.
 */
handleId: ClientId, };

/**
 * Params of `process/closeStdin`.
 */
export type CloseStdinParams = { 
/**
 * Whose stdin.
 */
processId: ProcessId, };

/**
 * `process/closed`: all output streams are at end; the last numbered notification of a process.
 */
export type ClosedNotification = { 
/**
 * Whose.
 */
processId: ProcessId, 
/**
 * See [`OutputNotification::seq`].
 */
seq: number, 
/**
 * Bytes read from the process, all streams.
 */
outputBytes?: number | null, 
/**
 * Bytes read from it and never sent. This server sends all that it reads: 0.
 */
droppedBytes?: number | null, 
/**
 * Whether anything it started is left.
 */
tree?: Tree | null, };

/**
 * Configuration, lowest layer first.
 */
export type ConfigLayers = { 
/**
 * The layers, not interpreted.
 */
layers?: Array<JsonValue> | null, 
/**
 * Where a layer from the network would go.
 */
cloudInsertionIndex: number, };

/**
 * Params of `fs/copy`.
 */
export type CopyParams = { 
/**
 * What.
 */
sourcePath: PathUri, 
/**
 * Where to.
 */
destinationPath: PathUri, 
/**
 * A directory with what is in it.
 */
recursive: boolean, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * Params of `fs/createDirectory`.
 */
export type CreateDirectoryParams = { 
/**
 * Which directory.
 */
path: PathUri, 
/**
 * Its parents too, and fine if it exists; default true.
 */
recursive?: boolean | null, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * Result of `shellSnapshot/describe`. Names that are not UTF-8 have U+FFFD where they are not.
 */
export type DescribeSnapshotResponse = { 
/**
 * What a command would find now.
 */
availability: SnapshotAvailability, 
/**
 * The failure that is remembered.
 */
failure?: SnapshotFailure | null, 
/**
 * The snapshot that is there.
 */
snapshot?: SnapshotContents | null, 
/**
 * Files whose change ends it: the shell, its startup files, and those they source by a literal path.
 */
watchedFiles: Array<WatchedFile>, };

/**
 * One entry of a directory.
 */
export type DirectoryEntry = { 
/**
 * Its name; bytes that are not UTF-8 are replaced.
 */
fileName: string, 
/**
 * A directory.
 */
isDirectory: boolean, 
/**
 * A regular file.
 */
isFile: boolean, };

/**
 * Params or a result that says nothing: `{}`.
 */
export type Empty = Record<symbol, never>;

/**
 * What holds a limit.
 */
export type Enforcement = "cgroup" | "rlimit";

/**
 * For each limit, what holds it; null: nothing can.
 */
export type Enforces = { 
/**
 * Of `memoryBytes`.
 */
memoryBytes?: Enforcement | null, 
/**
 * Of `cpuSeconds`.
 */
cpuSeconds?: Enforcement | null, 
/**
 * Of `processes`.
 */
processes?: Enforcement | null, 
/**
 * Of `openFiles`.
 */
openFiles?: Enforcement | null, };

/**
 * The paths of an entry.
 */
export type EntryPath = { "type": "path", 
/**
 * Absolute.
 */
path: PathUri, } | { "type": "glob_pattern", 
/**
 * A native path with `*`, `**`, `?`, `[…]`; may be relative or begin with `~/`.
 */
pattern: string, } | { "type": "special", 
/**
 * Which.
 */
value: SpecialPath, };

/**
 * `process/start.envPolicy`. Applied in this order: `inherit`, default excludes, `exclude`, `set`,
 * `includeOnly`; the request's `env` is laid over the result and never filtered.
 */
export type EnvPolicy = { 
/**
 * Where to start from.
 */
inherit?: Inherit | null, 
/**
 * True keeps names that match `*KEY*`, `*SECRET*` or `*TOKEN*`.
 */
ignoreDefaultExcludes?: boolean | null, 
/**
 * Whole-name globs (`*`, `?`), case-insensitive: names that match are dropped.
 */
exclude?: Array<string> | null, 
/**
 * Laid over what is left.
 */
set?: { [key in string]: string } | null, 
/**
 * If not empty, only names that match one of these globs stay, those of `set` included.
 */
includeOnly?: Array<string> | null, };

/**
 * Result of `environment/info`, and part of `initialize`'s.
 */
export type EnvironmentInfo = { 
/**
 * The user's shell.
 */
shell: Shell, 
/**
 * This server's version.
 */
executorVersion: string, 
/**
 * Says which kind of server this is: `sha256:…`.
 */
providerId: string, 
/**
 * The daemon's working directory.
 */
cwd: PathUri, 
/**
 * The user's home.
 */
userHomeDir: PathUri, 
/**
 * `linux`.
 */
platformOs: string, 
/**
 * Directories a client should put in front of PATH.
 */
prependPathDirs?: Array<PathUri> | null, 
/**
 * More directories for temporary files.
 */
temporaryDirectories?: Array<PathUri> | null, 
/**
 * Where temporary files go.
 */
tempDir?: PathUri | null, 
/**
 * What works; absent is false.
 */
capabilities?: { [key in string]: boolean } | null, 
/**
 * Discovery of this protocol's additions.
 */
protocol?: ProtocolInfo | null, };

/**
 * Result of `environment/status`.
 */
export type EnvironmentStatus = { 
/**
 * `ready`.
 */
status: string, };

/**
 * The machine-readable cause of an error: `error.data.kind` and the members beside it.
 */
export type ErrorKind = { "kind": "unknownProcess" } | { "kind": "processIdInUse" } | { "kind": "unknownSession" } | { "kind": "wrongState", 
/**
 * The state: `uninitialized`, `initializing`, `ready` or `ending`.
 */
state: string, } | { "kind": "stdinIsTerminal" } | { "kind": "notTerminal" } | { "kind": "stdinNotPiped" } | { "kind": "stdinBacklogFull", 
/**
 * Bytes that wait.
 */
queuedBytes: number, 
/**
 * The limit they reached.
 */
limitBytes: number, } | { "kind": "limitReached", 
/**
 * Its name in `limits`.
 */
limit: string, 
/**
 * Its value.
 */
value: number, } | { "kind": "lineTooLong", 
/**
 * The cap.
 */
limitBytes: number, } | { "kind": "notInBatch" } | { "kind": "invalidParam", 
/**
 * Its path: `argv[0]`, `size.rows`.
 */
member: string, 
/**
 * What is wrong, and what would be right.
 */
reason: string, } | { "kind": "unenforceable", 
/**
 * Its path: `limits.memoryBytes`.
 */
member: string, } | { "kind": "unsupported", 
/**
 * Its path: `sandbox`.
 */
member: string, } | { "kind": "spawnNotFound", 
/**
 * Which of the paths.
 */
subject: SpawnSubject, 
/**
 * The path.
 */
path: PathUri, } | { "kind": "spawnPermissionDenied", 
/**
 * Which of the paths.
 */
subject: SpawnSubject, 
/**
 * The path.
 */
path: PathUri, } | { "kind": "spawnFailed", 
/**
 * The step, in words: `fork`, `pipe`, `exec`.
 */
step: string, 
/**
 * The error's name: `EMFILE`.
 */
errno: string, } | { "kind": "terminatedWhileStarting" } | { "kind": "wardenLost" } | { "kind": "snapshotFailed", 
/**
 * Why.
 */
reason: SnapshotFailure, } | { "kind": "requestCancelled" };

/**
 * `process/start.metadata`.
 */
export type ExecMetadata = { 
/**
 * Exported as CODEX_THREAD_ID.
 */
threadId?: string | null, 
/**
 * Exported as CODEX_TOOL_CALL_ID.
 */
toolCallId?: string | null, };

/**
 * Params of `process/start`.
 */
export type ExecParams = { 
/**
 * Names the process in every later message.
 */
processId: ProcessId, 
/**
 * Program and arguments; not empty. A program without a slash is looked up on the child's own PATH.
 */
argv: Array<string>, 
/**
 * Working directory; must exist.
 */
cwd: PathUri, 
/**
 * Laid over what `envPolicy` gives; without one it is the whole environment.
 */
env: { [key in string]: string }, 
/**
 * Which variables of the daemon's environment the child sees.
 */
envPolicy?: EnvPolicy | null, 
/**
 * True: a PTY as controlling terminal. False: pipes.
 */
tty: boolean, 
/**
 * Keep a pipe's stdin open for `process/write`.
 */
pipeStdin?: boolean | null, 
/**
 * `argv[0]` as the process sees it.
 */
arg0?: string | null, 
/**
 * What the process may touch.
 */
sandbox?: SandboxRequest | null, 
/**
 * True: refuse to start without a managed network.
 */
enforceManagedNetwork?: boolean | null, 
/**
 * The managed network, not interpreted yet.
 */
managedNetwork?: JsonValue | null, 
/**
 * Exported as CODEX_THREAD_ID and CODEX_TOOL_CALL_ID, over everything else.
 */
metadata?: ExecMetadata | null, 
/**
 * The shell state to start from.
 */
shellSnapshot?: ShellSnapshotRequest | null, 
/**
 * Initial window of a PTY; 24 × 80 without.
 */
size?: TerminalSize | null, 
/**
 * Written to stdin first; end of file follows unless `pipeStdin` or `tty`.
 */
stdin?: Base64 | null, 
/**
 * Time limit from exec, milliseconds, ≥ 1.
 */
timeoutMs?: number | null, 
/**
 * Limit of time without a byte in or out, milliseconds, ≥ 1.
 */
idleTimeoutMs?: number | null, 
/**
 * SIGTERM to SIGKILL for both time limits, milliseconds.
 */
graceMs?: number | null, 
/**
 * Resource limits of the tree; what cannot be enforced is refused.
 */
limits?: ResourceLimits | null, 
/**
 * The same id and `startId` again: the same result, nothing started.
 */
startId?: string | null, };

/**
 * Result of `process/start`.
 */
export type ExecResponse = { 
/**
 * As given.
 */
processId: ProcessId, 
/**
 * What was applied.
 */
sandboxType: SandboxType, 
/**
 * The leader's process id.
 */
pid?: number | null, 
/**
 * What holds each limit that was asked for; null when none was.
 */
limits?: Enforces | null, };

/**
 * Why a process ended: the first that acted.
 */
export type ExitCause = "exited" | "signaled" | "terminated" | "deadline" | "idle" | "clientGone" | "outOfMemory" | "wardenLost";

/**
 * `process/exited`: the leader ended; output may still follow.
 */
export type ExitedNotification = { 
/**
 * Whose.
 */
processId: ProcessId, 
/**
 * See [`OutputNotification::seq`].
 */
seq: number, 
/**
 * The leader's own exit code, or 128 + signal; 137 when the warden was lost.
 */
exitCode: number, 
/**
 * True when a sandbox refused something.
 */
sandboxDenied?: boolean | null, 
/**
 * The signal that killed it (`SIGKILL`), if one did.
 */
signal?: string | null, 
/**
 * Why it ended.
 */
cause?: ExitCause | null, 
/**
 * True for the causes deadline and idle.
 */
timedOut?: boolean | null, 
/**
 * From exec to exit, milliseconds.
 */
durationMs?: number | null, 
/**
 * Resource use, where known.
 */
usage?: Usage | null, };

/**
 * One rule.
 */
export type FileSystemEntry = { 
/**
 * For which paths.
 */
path: EntryPath, 
/**
 * What is allowed there.
 */
access: Access, 
/**
 * What to do when the path is missing; null: what the access demands.
 */
missing_path_behavior?: MissingPathBehavior | null, };

/**
 * Which files a command reaches.
 */
export type FileSystemPermissions = { "type": "unrestricted" } | { "type": "restricted", 
/**
 * What may be touched, and how.
 */
entries: Array<FileSystemEntry>, 
/**
 * How deep directories are searched for matches of a glob.
 */
glob_scan_max_depth: number | null, };

/**
 * Where the environment starts from.
 */
export type Inherit = "all" | "core" | "none";

/**
 * Params of `initialize`, once per connection.
 */
export type InitializeParams = { 
/**
 * The client's name, for logs.
 */
clientName: string, 
/**
 * A session to resume; stdio has none, so anything but null is refused.
 */
resumeSessionId?: string | null, 
/**
 * True: send `process/treeEnded`.
 */
notifyTreeEnded?: boolean | null, };

/**
 * Result of `initialize`.
 */
export type InitializeResponse = { 
/**
 * A UUID.
 */
sessionId: string, 
/**
 * Where commands will run.
 */
environmentInfo: EnvironmentInfo, };

/**
 * Params of the notification `initialized`.
 */
export type InitializedParams = Record<symbol, never>;

/**
 * Params of `shellSnapshot/invalidate`.
 */
export type InvalidateSnapshotParams = { 
/**
 * Whose snapshots; all without.
 */
scopeId?: string | null, };

/**
 * Result of `shellSnapshot/invalidate`.
 */
export type InvalidateSnapshotResponse = { 
/**
 * How many snapshots and remembered failures were dropped.
 */
dropped: number, };

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * Something that a snapshot does not hold.
 */
export type LeftOut = { 
/**
 * Its name, with its kind: `trap EXIT`.
 */
what: string, 
/**
 * Why, for people.
 */
why: string, };

/**
 * Result of `process/list`.
 */
export type ListResponse = { 
/**
 * Every known process, by start.
 */
processes: Array<ProcessInfo>, };

/**
 * Result of `fs/getMetadata`. A symbolic link's target is described.
 */
export type Metadata = { 
/**
 * A directory.
 */
isDirectory: boolean, 
/**
 * A regular file.
 */
isFile: boolean, 
/**
 * The path itself is a symbolic link.
 */
isSymlink: boolean, 
/**
 * Bytes.
 */
size: number, 
/**
 * When it was made, Unix milliseconds; 0 where the file system does not say.
 */
createdAtMs: number, 
/**
 * When its contents last changed, Unix milliseconds.
 */
modifiedAtMs: number, };

/**
 * `fs/missingChanged`: a missing path came into being, or the present one went. Sent once.
 */
export type MissingChangedNotification = { 
/**
 * Which watch.
 */
watchId: ClientId, };

/**
 * What becomes of an entry whose path is missing.
 */
export type MissingPathBehavior = "skip";

/**
 * Which network a command reaches.
 */
export type NetworkAccess = "restricted" | "enabled";

/**
 * What a file is opened for.
 */
export type OpenMode = "read" | "replace";

/**
 * Params of `fs/open`.
 */
export type OpenParams = { 
/**
 * Names the handle in later messages.
 */
handleId: ClientId, 
/**
 * Which file.
 */
path: PathUri, 
/**
 * What for; default read.
 */
mode?: OpenMode | null, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * Result of `fs/open`.
 */
export type OpenResponse = { 
/**
 * As given.
 */
handleId: ClientId, };

/**
 * Where a pattern was found.
 */
export type OutputMatch = { 
/**
 * In which stream.
 */
stream: Stream, 
/**
 * Offset of the first byte in its stream.
 */
offset: number, 
/**
 * Length in bytes.
 */
length: number, };

/**
 * `process/output`: bytes a process printed.
 */
export type OutputNotification = { 
/**
 * Whose.
 */
processId: ProcessId, 
/**
 * One counter for all notifications of a process, from 1, without gaps.
 */
seq: number, 
/**
 * Where from.
 */
stream: Stream, 
/**
 * Offset of the first byte in its stream.
 */
offset?: number | null, 
/**
 * The bytes.
 */
chunk: Base64, };

/**
 * Params of `fs/getMetadata`, `fs/readFile`, `fs/readDirectory` and `fs/canonicalize`.
 */
export type PathParams = { 
/**
 * Of what.
 */
path: PathUri, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * An absolute path, a `file://` URI on the wire. Bytes that are not UTF-8 survive.
 */
export type PathUri = string;

/**
 * What is permitted.
 */
export type Permissions = { "type": "managed", 
/**
 * Files.
 */
file_system: FileSystemPermissions, 
/**
 * Network.
 */
network: NetworkAccess, } | { "type": "disabled" } | { "type": "external", 
/**
 * Network.
 */
network: NetworkAccess, };

/**
 * Result of `shellSnapshot/prewarm`.
 */
export type PrewarmResponse = { 
/**
 * How long the capture took.
 */
durationMs: number, 
/**
 * Its state.
 */
stateBytes: number, 
/**
 * What it changes in the environment.
 */
environmentBytes: number, 
/**
 * How many functions it holds.
 */
functions: number, 
/**
 * How many aliases.
 */
aliases: number, 
/**
 * How many variables, those exported among them.
 */
variables: number, };

/**
 * A process's name, chosen by the client; unique in the session while the process is known.
 */
export type ProcessId = string;

/**
 * One process of a `process/list` result. No argv and no environment.
 */
export type ProcessInfo = { 
/**
 * Its name.
 */
processId: ProcessId, 
/**
 * The leader's process id; null while starting.
 */
pid?: number | null, 
/**
 * Where in its life it is.
 */
state: ProcessState, 
/**
 * On a terminal.
 */
tty: boolean, 
/**
 * When it was started, Unix milliseconds.
 */
startedAtMs: number, 
/**
 * Once exited.
 */
exitCode?: number | null, 
/**
 * Once exited.
 */
cause?: ExitCause | null, 
/**
 * The next seq to be made.
 */
nextSeq: number, 
/**
 * Bytes read from it so far.
 */
outputBytes: number, 
/**
 * Whether anything it started is left.
 */
tree: Tree, };

/**
 * Where in its life a process is.
 */
export type ProcessState = "starting" | "running" | "exited" | "closed";

/**
 * `environmentInfo.protocol`.
 */
export type ProtocolInfo = { 
/**
 * 1.
 */
version: number, 
/**
 * Every method the server answers: what it serves of the catalogue ([`crate::method::METHODS`]).
 */
methods: Array<string>, 
/**
 * The caps a client can run into.
 */
limits: WireLimits, 
/**
 * What holds which resource limit.
 */
enforces: Enforces, 
/**
 * How a command's descendants are known.
 */
treeTracking: TreeTracking, };

/**
 * Params of `fs/readBlock`.
 */
export type ReadBlockParams = { 
/**
 * Of which file.
 */
handleId: ClientId, 
/**
 * Where to begin, bytes.
 */
offset: number, 
/**
 * How much at most, bytes.
 */
len: number, };

/**
 * Result of `fs/readBlock`.
 */
export type ReadBlockResponse = { 
/**
 * What was there.
 */
chunk: Base64, 
/**
 * Nothing follows it.
 */
eof: boolean, };

/**
 * One chunk of a `process/read` result.
 */
export type ReadChunk = { 
/**
 * Its number.
 */
seq: number, 
/**
 * Where from.
 */
stream: Stream, 
/**
 * Its bytes.
 */
chunk: Base64, };

/**
 * Params of `environmentConfig/read`.
 */
export type ReadConfigParams = { 
/**
 * Whose project's configuration.
 */
cwd: PathUri, 
/**
 * Which members of the configuration, each a path of keys.
 */
configPaths?: Array<Array<string>> | null, 
/**
 * Which members of the requirements, each a path of keys.
 */
requirementsPaths?: Array<Array<string>> | null, };

/**
 * Result of `environmentConfig/read`.
 */
export type ReadConfigResponse = { 
/**
 * The user's home.
 */
userHomeDir: PathUri, 
/**
 * Where a client of this dialect keeps its own files.
 */
codexHomeDir: PathUri, 
/**
 * This machine's name.
 */
hostname: string, 
/**
 * Empty: this server keeps no such configuration.
 */
config: ConfigLayers, 
/**
 * Empty: this server keeps no such requirements.
 */
requirements: ConfigLayers, };

/**
 * Result of `fs/readDirectory`.
 */
export type ReadDirectoryResponse = { 
/**
 * What is in it, `.` and `..` left out.
 */
entries: Array<DirectoryEntry>, };

/**
 * Result of `fs/readFile`.
 */
export type ReadFileResponse = { 
/**
 * Its contents.
 */
dataBase64: Base64, };

/**
 * Params of `process/read`.
 */
export type ReadParams = { 
/**
 * Whose output.
 */
processId: ProcessId, 
/**
 * Only chunks after this one; default 0.
 */
afterSeq?: number | null, 
/**
 * Stop when this many bytes are gathered, ≥ 1; always at least one chunk. Default 1 MiB.
 */
maxBytes?: number | null, 
/**
 * How long to wait for an event after `afterSeq`, milliseconds; default 0.
 */
waitMs?: number | null, };

/**
 * Result of `process/read`.
 */
export type ReadResponse = { 
/**
 * Chunks after `afterSeq`, in order.
 */
chunks: Array<ReadChunk>, 
/**
 * Last returned seq + 1, or the next seq to be made.
 */
nextSeq: number, 
/**
 * The leader ended.
 */
exited: boolean, 
/**
 * Its exit code, once exited.
 */
exitCode?: number | null, 
/**
 * All streams are at end.
 */
closed: boolean, 
/**
 * What went wrong with the process's output, if something did.
 */
failure?: string | null, 
/**
 * A sandbox refused something.
 */
sandboxDenied?: boolean | null, 
/**
 * The first chunk still retained; null when none is.
 */
firstSeq?: number | null, 
/**
 * Bytes no longer retained.
 */
evictedBytes?: number | null, 
/**
 * Why it ended, once exited.
 */
cause?: ExitCause | null, 
/**
 * The signal that killed it.
 */
signal?: string | null, };

/**
 * Params of `fs/remove`.
 */
export type RemoveParams = { 
/**
 * What.
 */
path: PathUri, 
/**
 * A directory with what is in it; default true.
 */
recursive?: boolean | null, 
/**
 * Fine if it is missing; default true.
 */
force?: boolean | null, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * Params of `process/resize`.
 */
export type ResizeParams = { 
/**
 * Whose terminal.
 */
processId: ProcessId, 
/**
 * Lines, 1–65535.
 */
rows: number, 
/**
 * Columns, 1–65535.
 */
cols: number, };

/**
 * Limits of a command's whole tree, each ≥ 1 (`openFiles`: of each process).
 */
export type ResourceLimits = { 
/**
 * Memory, bytes.
 */
memoryBytes?: number | null, 
/**
 * CPU time, seconds.
 */
cpuSeconds?: number | null, 
/**
 * Processes at once.
 */
processes?: number | null, 
/**
 * Open descriptors of each process.
 */
openFiles?: number | null, };

/**
 * A JSON-RPC error object.
 */
export type RpcError = { 
/**
 * One of the codes of this module.
 */
code: number, 
/**
 * For people: what was wrong, and what would be right.
 */
message: string, 
/**
 * For programs: `{kind, …}`, see [`ErrorKind`].
 */
data?: JsonValue | null, };

/**
 * `process/start.sandbox` and `fs/*.sandbox`; null or absent means none. Members that mean something on
 * another platform only (`windowsSandboxLevel`, `useLegacyLandlock`, …) are ignored as unknown ones are.
 */
export type SandboxRequest = { 
/**
 * What is permitted.
 */
permissions: Permissions, 
/**
 * Base of relative globs, and of project roots where `workspaceRoots` is empty.
 */
cwd?: PathUri | null, 
/**
 * Each entry for the project roots stands for one entry per root.
 */
workspaceRoots?: Array<PathUri> | null, 
/**
 * What `~/` in globs means.
 */
userHomeDir?: PathUri | null, 
/**
 * More directories that `tmpdir` stands for.
 */
temporaryDirectories?: Array<PathUri> | null, };

/**
 * Which sandbox was applied.
 */
export type SandboxType = "none" | "linuxSeccomp" | "macosSeatbelt";

/**
 * A shell by name and path.
 */
export type Shell = { 
/**
 * `bash`, `zsh`, `sh` or `fish`.
 */
name: string, 
/**
 * Native path of the program (not a URI), or a `file://` URI of it.
 */
path: string, };

/**
 * `process/start.shellSnapshot`. Ignored while `capabilities.shellSnapshotV2` is false.
 */
export type ShellSnapshotRequest = { 
/**
 * What the snapshot is shared within: a conversation and an environment, say. 1 to 256 bytes.
 */
scopeId: string, 
/**
 * The user's shell.
 */
shell: Shell, };

/**
 * Params of `process/signal`.
 */
export type SignalParams = { 
/**
 * Whose process group.
 */
processId: ProcessId, 
/**
 * `interrupt`, a POSIX name (`SIGTERM`) or `SIGRTMIN+n`.
 */
signal: string, };

/**
 * How a command finds its snapshot.
 */
export type SnapshotAvailability = "prewarm_ready" | "prewarm_pending" | "cache_hit" | "capture_pending" | "on_demand" | "unavailable";

/**
 * What a snapshot holds: names and sizes, never a value.
 */
export type SnapshotContents = { 
/**
 * Since its capture.
 */
ageMs: number, 
/**
 * How long the capture took.
 */
durationMs: number, 
/**
 * Its state.
 */
stateBytes: number, 
/**
 * What it changes in the environment.
 */
environmentBytes: number, 
/**
 * How it gets to a command.
 */
replay: SnapshotReplay, 
/**
 * Whether startup was interactive, as at a terminal. If not, only a startup that is not came to its end, and what
 * the files of interactive shells make is missing.
 */
interactive: boolean, 
/**
 * Functions, autoloaded ones too.
 */
functions: Array<string>, 
/**
 * Aliases of every kind.
 */
aliases: Array<string>, 
/**
 * Variables that startup files exported or changed.
 */
exported: Array<string>, 
/**
 * Variables that startup files took out of the environment.
 */
unset: Array<string>, 
/**
 * Variables that are not exported.
 */
variables: Array<string>, 
/**
 * Options that are not as in a bare shell.
 */
options: Array<string>, 
/**
 * What startup files made and the snapshot does not hold.
 */
leftOut: Array<LeftOut>, };

/**
 * Why a capture failed.
 */
export type SnapshotFailure = "unsupported_shell" | "missing_command" | "spawn_failed" | "missing_output" | "read_failed" | "capture_too_large" | "wait_failed" | "nonzero_exit" | "timeout" | "invalid_capture" | "environment_too_large" | "state_too_large";

/**
 * Params of `shellSnapshot/prewarm` and `shellSnapshot/describe`: those of the commands that are to have it.
 */
export type SnapshotParams = { 
/**
 * As in `process/start.shellSnapshot`.
 */
scopeId: string, 
/**
 * As in `process/start.shellSnapshot`.
 */
shell: Shell, 
/**
 * As in `process/start`.
 */
cwd: PathUri, 
/**
 * As in `process/start`.
 */
env: { [key in string]: string }, 
/**
 * As in `process/start`.
 */
envPolicy?: EnvPolicy | null, 
/**
 * As in `process/start`.
 */
sandbox?: SandboxRequest | null, };

/**
 * How the state gets to a command.
 */
export type SnapshotReplay = "file" | "environment";

/**
 * Which path a spawn failed on.
 */
export type SpawnSubject = "program" | "cwd" | "interpreter";

/**
 * A path that has a meaning.
 */
export type SpecialPath = { "kind": "root" } | { "kind": "minimal" } | { "kind": "current_working_directory" } | { "kind": "project_roots", 
/**
 * A relative path below each.
 */
subpath: string | null, } | { "kind": "tmpdir" } | { "kind": "slash_tmp" } | { "kind": "unknown", 
/**
 * What the client calls it.
 */
path: string | null, };

/**
 * Where a chunk came from, or goes to.
 */
export type Stream = "stdout" | "stderr" | "pty";

/**
 * Rows and columns of a terminal, 1–65535 each.
 */
export type TerminalSize = { 
/**
 * Lines.
 */
rows: number, 
/**
 * Columns.
 */
cols: number, };

/**
 * Params of `process/terminate`.
 */
export type TerminateParams = { 
/**
 * What to end, with everything it started.
 */
processId: ProcessId, 
/**
 * SIGTERM to SIGKILL, milliseconds; 0 at once.
 */
graceMs?: number | null, };

/**
 * Result of `process/terminate`.
 */
export type TerminateResponse = { 
/**
 * The leader had not yet exited.
 */
running: boolean, };

/**
 * W3C trace context of a message.
 */
export type Trace = { 
/**
 * `traceparent` header value.
 */
traceparent?: string | null, 
/**
 * `tracestate` header value.
 */
tracestate?: string | null, };

/**
 * What is known of the processes a command started.
 */
export type Tree = "ended" | "running" | "unknown";

/**
 * `process/treeEnded`: the last descendant of a closed process is gone. Outside `seq`; sent once, to clients
 * that gave `notifyTreeEnded`.
 */
export type TreeEndedNotification = { 
/**
 * Whose.
 */
processId: ProcessId, };

/**
 * How a command's descendants are known.
 */
export type TreeTracking = "cgroup" | "subreaper";

/**
 * Resource use of the leader and of what it waited for (`getrusage(2)`).
 */
export type Usage = { 
/**
 * CPU time in user mode, milliseconds.
 */
userMs?: number | null, 
/**
 * CPU time in the kernel, milliseconds.
 */
systemMs?: number | null, 
/**
 * Largest resident set of any single process of it, bytes.
 */
maxRssBytes?: number | null, };

/**
 * Params of `process/wait`.
 */
export type WaitParams = { 
/**
 * What to wait for.
 */
processId: ProcessId, 
/**
 * The condition; one that holds already answers at once.
 */
until: WaitUntil, 
/**
 * Milliseconds; absent: no limit.
 */
timeoutMs?: number | null, };

/**
 * Why a `process/wait` answered.
 */
export type WaitReason = "exit" | "output" | "quiet" | "bytes" | "treeEnded" | "closed" | "timeout" | "sessionEnding";

/**
 * Result of `process/wait`.
 */
export type WaitResponse = { 
/**
 * Why it answered.
 */
reason: WaitReason, 
/**
 * The next seq to be made.
 */
nextSeq: number, 
/**
 * Once exited.
 */
exitCode?: number | null, 
/**
 * The signal that killed it.
 */
signal?: string | null, 
/**
 * Once exited.
 */
cause?: ExitCause | null, 
/**
 * For the reason output.
 */
match?: OutputMatch | null, };

/**
 * The condition of a `process/wait`.
 */
export type WaitUntil = { "type": "exit" } | { "type": "treeEnded" } | { "type": "output", 
/**
 * Text to find.
 */
literal: string | null, 
/**
 * Regular expression (Rust syntax, over bytes).
 */
regex: string | null, 
/**
 * Only in this stream; default: any.
 */
stream: Stream | null, 
/**
 * Offset in the stream to search from; default 0.
 */
fromOffset: number | null, } | { "type": "quiet", 
/**
 * Milliseconds.
 */
ms: number, 
/**
 * Only this stream; default: all.
 */
stream: Stream | null, } | { "type": "bytes", 
/**
 * How many.
 */
count: number, 
/**
 * Only this stream; default: all together.
 */
stream: Stream | null, };

/**
 * One find of a walk.
 */
export type WalkEntry = { 
/**
 * Where.
 */
path: PathUri, 
/**
 * What.
 */
kind: WalkEntryKind, };

/**
 * What a walk found.
 */
export type WalkEntryKind = "file" | "directory";

/**
 * What a walk could not read.
 */
export type WalkError = { 
/**
 * Where.
 */
path: PathUri, 
/**
 * Why.
 */
message: string, };

/**
 * How far a walk goes.
 */
export type WalkOptions = { 
/**
 * Levels below the start.
 */
maxDepth: number, 
/**
 * Directories opened.
 */
maxDirectories: number, 
/**
 * Entries returned.
 */
maxEntries: number, 
/**
 * Enter directories behind symbolic links; default false.
 */
followDirectorySymlinks?: boolean | null, 
/**
 * Leave out directories whose name begins with a dot; default false.
 */
pruneHiddenDirectories?: boolean | null, };

/**
 * Params of `fs/walk`.
 */
export type WalkParams = { 
/**
 * Where to begin.
 */
path: PathUri, 
/**
 * How far to go.
 */
options: WalkOptions, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * Result of `fs/walk`.
 */
export type WalkResponse = { 
/**
 * What was found.
 */
entries: Array<WalkEntry>, 
/**
 * What could not be read.
 */
errors: Array<WalkError>, 
/**
 * True when an option ended the walk early.
 */
truncated: boolean, };

/**
 * Params of `fs/watchMissing`.
 */
export type WatchMissingParams = { 
/**
 * Names the watch in its notification.
 */
watchId: ClientId, 
/**
 * Paths that are missing.
 */
missing?: Array<PathUri> | null, 
/**
 * A path that is there.
 */
present?: PathUri | null, };

/**
 * Result of `fs/watchMissing`.
 */
export type WatchMissingResponse = { 
/**
 * True.
 */
watching: boolean, };

/**
 * A file that is looked at whenever a command asks.
 */
export type WatchedFile = { 
/**
 * Where it is looked for.
 */
path: PathUri, 
/**
 * Whether it was there before the capture.
 */
present: boolean, };

/**
 * The caps a client can run into; see [`crate::limits`].
 */
export type WireLimits = { 
/**
 * Longest line.
 */
maxLineBytes: number, 
/**
 * Processes at once.
 */
maxProcesses: number, 
/**
 * Requests in work at once.
 */
maxPendingRequests: number, 
/**
 * Output kept readable per process.
 */
retainedBytes: number, 
/**
 * How long a closed process stays readable.
 */
retentionMs: number, 
/**
 * Bytes that may wait for a process's stdin.
 */
stdinBacklogBytes: number, 
/**
 * Longest `waitMs`.
 */
maxWaitMs: number, 
/**
 * SIGTERM to SIGKILL by default.
 */
defaultGraceMs: number, 
/**
 * The same at the end of the session.
 */
sessionEndGraceMs: number, };

/**
 * Params of `fs/writeBlock`.
 */
export type WriteBlockParams = { 
/**
 * Of which file.
 */
handleId: ClientId, 
/**
 * Where to begin, bytes.
 */
offset: number, 
/**
 * What to put there.
 */
chunk: Base64, };

/**
 * Params of `fs/writeFile`.
 */
export type WriteFileParams = { 
/**
 * Which file.
 */
path: PathUri, 
/**
 * Its new contents.
 */
dataBase64: Base64, 
/**
 * What may be touched; null: everything.
 */
sandbox?: SandboxRequest | null, };

/**
 * Params of `process/write`.
 */
export type WriteParams = { 
/**
 * Whose stdin.
 */
processId: ProcessId, 
/**
 * The bytes.
 */
chunk: Base64, 
/**
 * The same `writeId` again is accepted and not written twice.
 */
writeId?: string | null, 
/**
 * End of file after the chunk.
 */
closeStdin?: boolean | null, };

/**
 * Result of `process/write`.
 */
export type WriteResponse = { 
/**
 * What became of it.
 */
status: WriteStatus, };

/**
 * What became of a write or of closing stdin.
 */
export type WriteStatus = "accepted" | "unknownProcess" | "stdinClosed" | "starting";

/** Requests from client to server, by name. */
export interface Methods {
  /** Begins the session; the first request of a connection, and sent once. */
  "initialize": { params: InitializeParams, result: InitializeResponse },
  /** Says where commands run, and what this server can do. */
  "environment/info": { params: Empty, result: EnvironmentInfo },
  /** Says whether commands can run. */
  "environment/status": { params: Empty, result: EnvironmentStatus },
  /** Reads layered configuration of the environment. */
  "environmentConfig/read": { params: ReadConfigParams, result: ReadConfigResponse },
  /** Starts a process. */
  "process/start": { params: ExecParams, result: ExecResponse },
  /** Reads retained output, or waits for more. */
  "process/read": { params: ReadParams, result: ReadResponse },
  /** Queues bytes for stdin. */
  "process/write": { params: WriteParams, result: WriteResponse },
  /** Ends stdin after what is queued. */
  "process/closeStdin": { params: CloseStdinParams, result: WriteResponse },
  /** Changes a terminal's window. */
  "process/resize": { params: ResizeParams, result: Empty },
  /** Sends a signal to a process group. */
  "process/signal": { params: SignalParams, result: Empty },
  /** Ends a process with everything it started. */
  "process/terminate": { params: TerminateParams, result: TerminateResponse },
  /** Lists every known process. */
  "process/list": { params: Empty, result: ListResponse },
  /** Waits for a condition, and answers once. */
  "process/wait": { params: WaitParams, result: WaitResponse },
  /** Captures a shell's state ahead of the commands that start from it. */
  "shellSnapshot/prewarm": { params: SnapshotParams, result: PrewarmResponse },
  /** Says what is cached of a shell's state: names and sizes, never a value. */
  "shellSnapshot/describe": { params: SnapshotParams, result: DescribeSnapshotResponse },
  /** Drops cached shell state, and remembered failures. */
  "shellSnapshot/invalidate": { params: InvalidateSnapshotParams, result: InvalidateSnapshotResponse },
  /** Describes a file or directory. */
  "fs/getMetadata": { params: PathParams, result: Metadata },
  /** Reads a whole file. */
  "fs/readFile": { params: PathParams, result: ReadFileResponse },
  /** Writes a whole file. */
  "fs/writeFile": { params: WriteFileParams, result: Empty },
  /** Makes a directory. */
  "fs/createDirectory": { params: CreateDirectoryParams, result: Empty },
  /** Lists a directory. */
  "fs/readDirectory": { params: PathParams, result: ReadDirectoryResponse },
  /** Resolves symbolic links. */
  "fs/canonicalize": { params: PathParams, result: CanonicalizeResponse },
  /** Lists what is below a directory. */
  "fs/walk": { params: WalkParams, result: WalkResponse },
  /** Removes a file or directory. */
  "fs/remove": { params: RemoveParams, result: Empty },
  /** Copies a file or directory. */
  "fs/copy": { params: CopyParams, result: Empty },
  /** Opens a file for reading or writing in blocks. */
  "fs/open": { params: OpenParams, result: OpenResponse },
  /** Reads a block of an open file. */
  "fs/readBlock": { params: ReadBlockParams, result: ReadBlockResponse },
  /** Writes a block of an open file. */
  "fs/writeBlock": { params: WriteBlockParams, result: Empty },
  /** Closes an open file. */
  "fs/close": { params: CloseParams, result: Empty },
  /** Watches for missing paths to come into being. */
  "fs/watchMissing": { params: WatchMissingParams, result: WatchMissingResponse },
}

/** Notifications from client to server, by name. */
export interface ClientNotifications {
  /** Ends the handshake. */
  "initialized": InitializedParams,
  /** Cancels a pending request. */
  "$/cancelRequest": CancelParams,
}

/** Notifications from server to client, by name. */
export interface ServerNotifications {
  /** Brings bytes that a process printed. */
  "process/output": OutputNotification,
  /** Says that the leader ended; output may still follow. */
  "process/exited": ExitedNotification,
  /** Says that all output streams are at end. */
  "process/closed": ClosedNotification,
  /** Says that the last descendant of a closed process is gone. */
  "process/treeEnded": TreeEndedNotification,
  /** Says that a watched path changed. */
  "fs/missingChanged": MissingChangedNotification,
}
