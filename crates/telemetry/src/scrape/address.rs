//! Where the endpoint listens.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrapeAddress {
    /// An IP address and a port; port 0 is any that is free.
    Tcp(SocketAddr),
    /// A unix socket, at this path.
    Unix(PathBuf),
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address: give an IP address and a port such as 127.0.0.1:9464, or unix:PATH")]
pub struct AddressError(String);

/// Why nothing can be served at an address.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// It can be reached from other machines, and nobody said that it may be.
    #[error("{0} can be reached from other machines: add --metrics-allow-remote if that is meant")]
    Remote(SocketAddr),
    /// Something is in the way of the socket, which is not a socket.
    #[error("{} is in the way, and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// The system refused.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// The address.
        address: ScrapeAddress,
        /// Why.
        source: io::Error,
    },
    /// The thread that serves it could not be started.
    #[error("failed to start the thread that serves metrics: {0}")]
    Thread(#[source] io::Error),
}

impl FromStr for ScrapeAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(wrong()),
                path => Ok(Self::Unix(path.into())),
            };
        }
        // The one name that needs no look-up.
        if let Some(port) = text.strip_prefix("localhost:") {
            let port = port.parse().map_err(|_| wrong())?;
            return Ok(Self::Tcp((Ipv4Addr::LOCALHOST, port).into()));
        }
        text.parse().map(Self::Tcp).map_err(|_| wrong())
    }
}

impl fmt::Display for ScrapeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A listener that is bound.
#[derive(Debug)]
pub(crate) enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl ScrapeAddress {
    /// Listens there.
    pub(crate) fn bind(&self, allow_remote: bool) -> Result<Bound, BindError> {
        let failed = |source| BindError::Listen {
            address: self.clone(),
            source,
        };
        match self {
            Self::Tcp(address) if !allow_remote && !is_loopback(address.ip()) => {
                Err(BindError::Remote(*address))
            }
            Self::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Bound::Tcp(listener))
            }
            Self::Unix(path) => {
                remove_abandoned(path)?;
                let listener = UnixListener::bind(path).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Bound::Unix(listener, SocketFile::of(path)))
            }
        }
    }
}

impl Bound {
    /// Where it listens: the port that was free, if any was asked for.
    pub(crate) fn tcp_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address
            .to_ipv4_mapped()
            .map_or(address.is_loopback(), |mapped| mapped.is_loopback()),
    }
}

/// Removes a socket that nobody listens at any more: a daemon that was killed leaves it.
fn remove_abandoned(path: &Path) -> Result<(), BindError> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(BindError::NotASocket(path.to_owned()));
    }
    if let Err(error) = UnixStream::connect(path)
        && error.kind() == io::ErrorKind::ConnectionRefused
    {
        // If it cannot be removed, binding says why.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// The file of a socket; removed when dropped, unless another has taken its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl SocketFile {
    fn of(path: &Path) -> Self {
        Self {
            identity: identity(path),
            path: path.to_owned(),
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_ip_and_port_or_a_path() {
        let tcp = |text: &str| ScrapeAddress::Tcp(text.parse().unwrap());
        for (text, expected) in [
            ("127.0.0.1:9464", Ok(tcp("127.0.0.1:9464"))),
            ("[::1]:0", Ok(tcp("[::1]:0"))),
            ("localhost:80", Ok(tcp("127.0.0.1:80"))),
            ("unix:/run/x", Ok(ScrapeAddress::Unix("/run/x".into()))),
            ("unix:", Err(AddressError("unix:".into()))),
            ("9464", Err(AddressError("9464".into()))),
            (":9464", Err(AddressError(":9464".into()))),
            ("localhost:x", Err(AddressError("localhost:x".into()))),
            ("example.org:80", Err(AddressError("example.org:80".into()))),
        ] {
            assert_eq!(text.parse::<ScrapeAddress>(), expected, "{text}");
        }
    }

    #[test]
    fn what_others_can_reach_must_be_allowed() {
        for (text, refused) in [
            ("0.0.0.0:0", true),
            ("[::]:0", true),
            ("127.0.0.1:0", false),
            ("127.9.9.9:0", false),
        ] {
            let address: ScrapeAddress = text.parse().unwrap();
            let result = address.bind(false);
            assert_eq!(matches!(result, Err(BindError::Remote(_))), refused, "{text}");
        }
        assert!(is_loopback("::ffff:127.0.0.1".parse().unwrap()));
        assert!(!is_loopback("::ffff:10.0.0.1".parse().unwrap()));
        let open: ScrapeAddress = "0.0.0.0:0".parse().unwrap();
        assert!(open.bind(true).is_ok());
    }

    #[test]
    fn a_port_in_use_is_an_error_that_names_it() {
        let holder = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ScrapeAddress::Tcp(holder.local_addr().unwrap());
        let error = address.bind(false).unwrap_err().to_string();
        assert!(error.contains(&address.to_string()), "{error}");
    }

    #[test]
    fn an_abandoned_socket_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let address = ScrapeAddress::Unix(path.clone());
        drop(UnixListener::bind(&path).unwrap());
        let bound = address.bind(false).unwrap();
        assert!(matches!(address.bind(false), Err(BindError::Listen { .. })));
        drop(bound);
        assert!(!path.exists());
        std::fs::write(&path, "precious").unwrap();
        assert!(matches!(address.bind(false), Err(BindError::NotASocket(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }
}
