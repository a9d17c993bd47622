//! One TypeScript file: every type, and maps from method names to them.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use exec_protocol::envelope::Trace;
use exec_protocol::method::{self, Method, Notification, Side, Visitor};
use exec_protocol::{ErrorKind, RpcError};
use ts_rs::{Config, TS, TypeVisitor};

struct Types {
    config: Config,
    seen: HashSet<TypeId>,
    /// Name → declaration with its documentation.
    declarations: BTreeMap<String, String>,
    methods: String,
    client_notifications: String,
    server_notifications: String,
}

impl Types {
    /// Adds a type and what it refers to; says its name.
    fn add<T: TS + 'static + ?Sized>(&mut self) -> String {
        let name = T::name(&self.config);
        if self.seen.insert(TypeId::of::<T>()) {
            // Types without a place of their own are TypeScript's.
            if T::output_path().is_some() {
                let docs = T::docs().unwrap_or_default();
                let declaration = format!("{docs}export {}\n", T::decl(&self.config));
                self.declarations.insert(name.clone(), declaration);
            }
            T::visit_dependencies(self);
            T::visit_generics(self);
        }
        name
    }
}

impl TypeVisitor for Types {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.add::<T>();
    }
}

impl Visitor for Types {
    fn method<M: Method>(&mut self) {
        let (params, result) = (self.add::<M::Params>(), self.add::<M::Result>());
        let (name, summary) = (M::NAME, M::SUMMARY);
        writeln!(
            self.methods,
            "  /** {summary} */\n  \"{name}\": {{ params: {params}, result: {result} }},"
        )
        .unwrap();
    }

    fn notification<N: Notification>(&mut self) {
        let params = self.add::<N::Params>();
        let list = match N::SENDER {
            Side::Client => &mut self.client_notifications,
            Side::Server => &mut self.server_notifications,
        };
        writeln!(list, "  /** {} */\n  \"{}\": {params},", N::SUMMARY, N::NAME).unwrap();
    }
}

pub(crate) fn document() -> String {
    let mut types = Types {
        // JSON.parse makes numbers of them; no counter of this protocol comes near 2^53.
        config: Config::new().with_large_int("number"),
        seen: HashSet::new(),
        declarations: BTreeMap::new(),
        methods: String::new(),
        client_notifications: String::new(),
        server_notifications: String::new(),
    };
    method::visit(&mut types);
    types.add::<RpcError>();
    types.add::<ErrorKind>();
    types.add::<Trace>();
    let mut out =
        String::from("// The wire types of exec-server. Generated from the Rust types: do not edit.\n");
    for declaration in types.declarations.values() {
        out.push('\n');
        out.push_str(declaration);
    }
    for (name, docs, members) in [
        (
            "Methods",
            "Requests from client to server, by name.",
            &types.methods,
        ),
        (
            "ClientNotifications",
            "Notifications from client to server, by name.",
            &types.client_notifications,
        ),
        (
            "ServerNotifications",
            "Notifications from server to client, by name.",
            &types.server_notifications,
        ),
    ] {
        write!(out, "\n/** {docs} */\nexport interface {name} {{\n{members}}}\n").unwrap();
    }
    out
}
