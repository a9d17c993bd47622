//! One JSON Schema document with every type under `$defs`.

use exec_protocol::envelope::Trace;
use exec_protocol::method::{self, Method, Notification, Visitor};
use exec_protocol::{ErrorKind, RpcError};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Gathers the definitions of every type in the catalogue.
pub(crate) struct Definitions(pub(crate) SchemaGenerator);

impl Definitions {
    pub(crate) fn of_catalogue(settings: SchemaSettings) -> Self {
        let mut definitions = Self(settings.into_generator());
        method::visit(&mut definitions);
        definitions.0.subschema_for::<RpcError>();
        definitions.0.subschema_for::<ErrorKind>();
        definitions.0.subschema_for::<Trace>();
        definitions
    }
}

impl Visitor for Definitions {
    fn method<M: Method>(&mut self) {
        self.0.subschema_for::<M::Params>();
        self.0.subschema_for::<M::Result>();
    }
    fn notification<N: Notification>(&mut self) {
        self.0.subschema_for::<N::Params>();
    }
}

pub(crate) fn document() -> Value {
    let mut definitions = Definitions::of_catalogue(SchemaSettings::draft2020_12()).0;
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "exec-server protocol",
        "description": "Every type on the wire. Which method takes and gives which is in openrpc.json.",
        "$defs": definitions.take_definitions(true),
    })
}
