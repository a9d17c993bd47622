//! What a process prints.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use crate::tree::number;

/// `flood [TEXT]`: lines without end.
pub(crate) fn flood(args: &[String]) -> ExitCode {
    let line = format!("{}\n", args.first().map_or("y", String::as_str));
    let block = line.repeat(65_536 / line.len() + 1);
    let mut out = std::io::stdout().lock();
    while out.write_all(block.as_bytes()).is_ok() {}
    ExitCode::FAILURE
}

/// `zeros STDOUT STDERR`: so many zero bytes on each, both at once.
pub(crate) fn zeros(args: &[String]) -> ExitCode {
    fn write(mut out: impl Write, mut left: u64) {
        let block = [0; 65_536];
        while left > 0 {
            let n = left.min(block.len() as u64);
            if out.write_all(&block[..n as usize]).is_err() {
                return;
            }
            left -= n;
        }
        drop(out.flush());
    }
    let (stdout, stderr) = (number(args, 0), number(args, 1));
    let other = std::thread::spawn(move || write(std::io::stderr(), stderr));
    write(std::io::stdout(), stdout);
    drop(other.join());
    ExitCode::SUCCESS
}

/// `numbers COUNT [raw]`: `0000000\n`, `0000001\n`, …; on a terminal `raw` leaves line ends alone.
pub(crate) fn numbers(args: &[String]) -> ExitCode {
    if args.iter().any(|a| a == "raw") {
        crate::terminal::make_raw(std::io::stdout());
    }
    let mut out = std::io::BufWriter::with_capacity(65_536, std::io::stdout().lock());
    for i in 0..number(args, 0) {
        if out.write_all(format!("{i:07}\n").as_bytes()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    drop(out.flush());
    ExitCode::SUCCESS
}

/// `trickle GAP_MS PART…`: each part (hex) in a write of its own, with a pause between (the pause makes
/// separate chunks likely; nothing depends on it).
pub(crate) fn trickle(args: &[String]) -> ExitCode {
    let gap = Duration::from_millis(number(args, 0));
    for part in args.iter().skip(1) {
        let bytes: Vec<u8> = (0..part.len() / 2)
            .filter_map(|i| u8::from_str_radix(part.get(i * 2..i * 2 + 2)?, 16).ok())
            .collect();
        if rustix::io::write(std::io::stdout(), &bytes).is_err() {
            return ExitCode::FAILURE;
        }
        std::thread::sleep(gap);
    }
    ExitCode::SUCCESS
}
