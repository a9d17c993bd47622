//! The machine the figures were made on: without it they say nothing.

use std::fs;
use std::process::Command;

/// Processor, cores, memory, kernel, date, load: one line each.
pub(crate) fn describe() -> Vec<(&'static str, String)> {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.strip_suffix(" kB")?.trim().parse::<f64>().ok())
        .map_or_else(
            || "unknown".to_owned(),
            |kib| format!("{:.1} GiB", kib / 1024.0 / 1024.0),
        );
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let load = read("/proc/loadavg")
        .split(' ')
        .take(3)
        .collect::<Vec<_>>()
        .join(" ");
    vec![
        (
            "processor",
            format!(
                "{cpu}, {cores} cores{}",
                if virtual_machine() {
                    ", virtual machine"
                } else {
                    ""
                }
            ),
        ),
        ("memory", memory),
        ("kernel", read("/proc/sys/kernel/osrelease").trim().to_owned()),
        ("date", date()),
        ("load before", load),
    ]
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn virtual_machine() -> bool {
    field("/proc/cpuinfo", "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
}

/// The standard library has no calendar.
fn date() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
