//! A server, and a blocking client that reads of each line only what it must.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::Error;
use crate::lines::Lines;
use crate::messages::{
    Descriptors, NOTHING, Reply, expect_result, is_about, is_echo, is_failure, request_line, start_params,
};
use crate::own_processes::{Descendants, OwnProcesses};
use crate::watchdog::Watchdog;

/// How long a server may take to go when its stdin ended: it has some thousand processes to end.
const GOES_WITHIN: Duration = Duration::from_secs(15);
/// How long all that is asked of a server may take; one that hangs is killed and its figure not measured.
const ANSWERS_WITHIN: Duration = Duration::from_secs(180);
/// The end of the handshake.
const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}\n";

/// A running server with a client.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<ChildStdout>,
    last_id: u64,
    watchdog: Option<Watchdog>,
}

impl Server {
    /// Starts it, without a handshake; says when.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn spawn(command: &[String]) -> Result<(Self, Instant), Error> {
        let (program, arguments) = command.split_first().ok_or("an empty command")?;
        let mut command = Command::new(program);
        command.args(arguments);
        Self::spawn_command(command)
    }

    fn spawn_command(mut command: Command) -> Result<(Self, Instant), Error> {
        let watchdog = Watchdog::start(ANSWERS_WITHIN);
        let begun = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        watchdog.watch(child.id());
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let server = Self {
            child,
            stdin,
            lines: Lines::new(stdout),
            last_id: 0,
            watchdog: Some(watchdog),
        };
        Ok((server, begun))
    }

    /// Starts it and shakes hands; says how long it took until `initialize` was answered.
    ///
    /// # Errors
    /// It cannot be started, or does not answer.
    pub(crate) fn open(command: &[String]) -> Result<(Self, Duration), Error> {
        let (mut server, begun) = Self::spawn(command)?;
        server.initialize()?;
        let answered = begun.elapsed();
        server.send(INITIALIZED)?;
        Ok((server, answered))
    }

    /// Starts it for a user with this home, and shakes hands.
    ///
    /// # Errors
    /// It cannot be started, or does not answer.
    pub(crate) fn open_at(command: &[String], home: &Path) -> Result<Self, Error> {
        Self::open_in(command, |command| command.env("HOME", home))
    }

    /// Starts it with these variables, and shakes hands.
    ///
    /// # Errors
    /// It cannot be started, or does not answer.
    pub(crate) fn open_with(command: &[String], variables: &[(&str, &str)]) -> Result<Self, Error> {
        Self::open_in(command, |command| command.envs(variables.iter().copied()))
    }

    fn open_in(
        command: &[String],
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<Self, Error> {
        let (program, arguments) = command.split_first().ok_or("an empty command")?;
        let mut command = Command::new(program);
        prepare(command.args(arguments));
        let (mut server, _) = Self::spawn_command(command)?;
        server.initialize()?;
        server.send(INITIALIZED)?;
        Ok(server)
    }

    fn initialize(&mut self) -> Result<(), Error> {
        self.call("initialize", r#"{"clientName":"bench"}"#)
    }

    /// The processes that are the server: the daemon and its helpers.
    pub(crate) fn own_processes(&self) -> OwnProcesses {
        OwnProcesses::of(self.child.id())
    }

    /// Writes whole lines.
    ///
    /// # Errors
    /// The pipe's.
    pub(crate) fn send(&mut self, lines: &[u8]) -> io::Result<()> {
        self.stdin
            .as_mut()
            .ok_or(io::ErrorKind::BrokenPipe)?
            .write_all(lines)
    }

    /// Sends a request; its id.
    ///
    /// # Errors
    /// The pipe's.
    pub(crate) fn request(&mut self, method: &str, params: &str) -> io::Result<u64> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(request_line(id, method, params).as_bytes())?;
        Ok(id)
    }

    /// Sends a request and waits for its answer, passing over everything else.
    ///
    /// # Errors
    /// The answer is an error, or none comes.
    pub(crate) fn call(&mut self, method: &str, params: &str) -> Result<(), Error> {
        let id = self.request(method, params)?;
        let reply = Reply::to(id);
        loop {
            let line = self.lines.next()?;
            if reply.is(line) {
                return expect_result(line);
            }
        }
    }

    /// The same: how long it took.
    ///
    /// # Errors
    /// The answer is an error, or none comes.
    pub(crate) fn timed_call(&mut self, method: &str, params: &str) -> Result<Duration, Error> {
        let begun = Instant::now();
        self.call(method, params)?;
        Ok(begun.elapsed())
    }

    /// Starts a process and waits for the answer.
    ///
    /// # Errors
    /// It did not start.
    pub(crate) fn start(&mut self, id: &str, argv: &[&str], stdio: Descriptors) -> Result<(), Error> {
        self.call("process/start", &start_params(id, argv, stdio))
    }

    /// Runs a process: the time from sending its start until `process/closed` arrived.
    ///
    /// # Errors
    /// It did not start.
    pub(crate) fn run(&mut self, id: &str, argv: &[&str], stdio: Descriptors) -> Result<Duration, Error> {
        self.run_params(&start_params(id, argv, stdio))
    }

    /// The same for params of `process/start`.
    ///
    /// # Errors
    /// It did not start.
    pub(crate) fn run_params(&mut self, params: &str) -> Result<Duration, Error> {
        let begun = Instant::now();
        let reply = Reply::to(self.request("process/start", params)?);
        loop {
            let line = self.lines.next()?;
            if is_about(line, "process/closed") {
                return Ok(begun.elapsed());
            }
            if reply.is(line) {
                expect_result(line)?;
            }
        }
    }

    /// Runs a process to its end.
    ///
    /// # Errors
    /// It did not start, or ended with another status than 0.
    pub(crate) fn expect_success(&mut self, params: &str) -> Result<(), Error> {
        let reply = Reply::to(self.request("process/start", params)?);
        let mut failed = false;
        loop {
            let line = self.lines.next()?;
            failed |= is_failure(line);
            if is_about(line, "process/closed") {
                break;
            }
            if reply.is(line) {
                expect_result(line)?;
            }
        }
        if failed {
            return Err("the command did not have the state: it ended with another status than 0".into());
        }
        Ok(())
    }

    /// Runs a process and counts the bytes it prints, without decoding them.
    ///
    /// # Errors
    /// It did not start.
    pub(crate) fn run_and_count(&mut self, id: &str, argv: &[&str]) -> Result<(Duration, u64), Error> {
        let params = start_params(id, argv, Descriptors::Pipes);
        let begun = Instant::now();
        let reply = Reply::to(self.request("process/start", &params)?);
        self.count_until_closed(begun, Some(&reply))
    }

    /// Counts output until a process closes; `begun` is when it was asked for.
    ///
    /// # Errors
    /// It did not start.
    pub(crate) fn count_until_closed(
        &mut self,
        begun: Instant,
        reply: Option<&Reply>,
    ) -> Result<(Duration, u64), Error> {
        let chunk = memmem::Finder::new(b"\"chunk\":\"");
        let mut bytes = 0;
        loop {
            let line = self.lines.next()?;
            if is_about(line, "process/closed") {
                return Ok((begun.elapsed(), bytes));
            }
            if reply.is_some_and(|reply| reply.is(line)) {
                expect_result(line)?;
            }
            if let Some(at) = chunk.find(line) {
                let text = &line[at + chunk.needle().len()..];
                let text = &text[..memchr::memchr(b'"', text).ok_or("a chunk without an end")?];
                let padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
                bytes += (text.len() / 4 * 3 - padding) as u64;
            }
        }
    }

    /// One request that does nothing, and its answer.
    ///
    /// # Errors
    /// None comes.
    pub(crate) fn round_trip(&mut self) -> Result<Duration, Error> {
        let begun = Instant::now();
        self.call("process/terminate", NOTHING)?;
        Ok(begun.elapsed())
    }

    /// Sends `count` requests without waiting, reading the answers meanwhile: requests a second.
    ///
    /// # Errors
    /// An answer is an error, or one is missing.
    pub(crate) fn pipelined(&mut self, count: usize) -> Result<f64, Error> {
        let mut requests = String::with_capacity(count * 100);
        for id in 0..count {
            requests.push_str(&request_line(1_000_000 + id as u64, "process/terminate", NOTHING));
        }
        let Self { stdin, lines, .. } = self;
        let stdin = stdin.as_mut().ok_or("stdin is closed")?;
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || stdin.write_all(requests.as_bytes()));
            let error = memmem::Finder::new(b"\"error\":");
            for _ in 0..count {
                let line = lines.next()?;
                if error.find(line).is_some() {
                    return Err(String::from_utf8_lossy(line).into_owned().into());
                }
            }
            writer.join().map_err(|_| "the writer died")??;
            Ok(count as f64 / begun.elapsed().as_secs_f64())
        })
    }

    /// Starts a terminal that gives back what is written to it, and waits until it does.
    ///
    /// # Errors
    /// It did not start.
    pub(crate) fn start_echo(&mut self) -> Result<(), Error> {
        self.start(
            "echo",
            &["/bin/sh", "-c", "stty raw -echo; echo up; exec cat"],
            Descriptors::Terminal,
        )?;
        loop {
            if is_echo(self.lines.next()?) {
                return Ok(());
            }
        }
    }

    /// Writes a few bytes to that terminal: the time until they came back.
    ///
    /// # Errors
    /// They do not.
    pub(crate) fn echo(&mut self, number: usize) -> Result<Duration, Error> {
        let bytes = base64_simd::STANDARD.encode_to_string(format!("k{number:05}"));
        let params = format!(r#"{{"processId":"echo","chunk":"{bytes}","writeId":"w{number}"}}"#);
        let begun = Instant::now();
        let reply = Reply::to(self.request("process/write", &params)?);
        let mut seen = None;
        let mut replied = false;
        loop {
            let line = self.lines.next()?;
            if is_echo(line) {
                seen = Some(begun.elapsed());
            } else if reply.is(line) {
                expect_result(line)?;
                replied = true;
            }
            if let (Some(seen), true) = (seen, replied) {
                return Ok(seen);
            }
        }
    }

    /// Bytes the server has written so far.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.lines.read_bytes()
    }

    /// Reads on until the server has written `bytes` more.
    ///
    /// # Errors
    /// The connection ended.
    pub(crate) fn read_on(&mut self, bytes: u64) -> Result<(), Error> {
        let enough = self.read_bytes() + bytes;
        while self.read_bytes() < enough {
            self.lines.next()?;
        }
        Ok(())
    }
}

impl Drop for Server {
    /// Ends the session, and whatever the server left behind.
    fn drop(&mut self) {
        // Before the child is reaped and its pid another's.
        self.watchdog = None;
        let descendants = Descendants::of(self.child.id());
        self.stdin = None;
        let Self { child, lines, .. } = self;
        std::thread::scope(|scope| {
            // Its output must go on being read, or a server that flushes first never goes.
            scope.spawn(move || while lines.next().is_ok() {});
            let deadline = Instant::now() + GOES_WITHIN;
            while let Ok(None) = child.try_wait() {
                if Instant::now() > deadline {
                    let _ = child.kill();
                    let _ = child.wait();
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        descendants.kill();
    }
}
