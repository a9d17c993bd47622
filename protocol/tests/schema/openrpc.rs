//! An OpenRPC 1.3 document of the catalogue.

use exec_protocol::method::{self, Method, Notification, Side, Visitor};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::json_schema::Definitions;
use crate::support::error_kinds;

/// Kinds that any request may be answered with.
const ANY: &[&str] = &["wrongState", "invalidParam", "limitReached", "requestCancelled"];

/// Kinds that a method may be answered with beyond [`ANY`].
fn kinds_of(method: &str) -> &'static [&'static str] {
    match method {
        "initialize" => &["unknownSession"],
        "process/start" => &[
            "processIdInUse",
            "unenforceable",
            "unsupported",
            "spawnNotFound",
            "spawnPermissionDenied",
            "spawnFailed",
            "terminatedWhileStarting",
            "wardenLost",
        ],
        "process/write" => &["stdinBacklogFull"],
        "process/closeStdin" => &["stdinIsTerminal", "stdinNotPiped"],
        "process/resize" => &["unknownProcess", "notTerminal"],
        "process/wait" => &["unknownProcess", "notInBatch"],
        "process/read" => &["unknownProcess"],
        "shellSnapshot/prewarm" => &["unsupported", "snapshotFailed"],
        "shellSnapshot/describe" => &["unsupported"],
        _ => &[],
    }
}

struct Methods {
    definitions: Definitions,
    methods: Vec<Value>,
}

impl Methods {
    /// The members of a params type, as by-name parameters.
    fn params<T: JsonSchema>(&mut self) -> Vec<Value> {
        let schema = self.definitions.0.subschema_for::<T>();
        let name = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.rsplit('/').next())
            .expect("params are a named type");
        let definition = self.definitions.0.definitions()[name].clone();
        let required = definition["required"].as_array().cloned().unwrap_or_default();
        let properties = definition.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| {
                let mut schema = schema.clone();
                let summary = schema
                    .as_object_mut()
                    .and_then(|schema| schema.remove("description"));
                json!({
                    "name": name,
                    "summary": summary.unwrap_or_default(),
                    "required": required.contains(&json!(name)),
                    "schema": schema,
                })
            })
            .collect()
    }
}

impl Visitor for Methods {
    fn method<M: Method>(&mut self) {
        let params = self.params::<M::Params>();
        let result = self.definitions.0.subschema_for::<M::Result>();
        let errors: Vec<Value> = ANY
            .iter()
            .chain(kinds_of(M::NAME))
            .map(|kind| json!({"$ref": format!("#/components/errors/{kind}")}))
            .collect();
        self.methods.push(json!({
            "name": M::NAME,
            "summary": M::SUMMARY,
            "paramStructure": "by-name",
            "params": params,
            "result": {"name": "result", "schema": result},
            "errors": errors,
            "x-direction": "clientToServer",
        }));
    }

    fn notification<N: Notification>(&mut self) {
        let params = self.params::<N::Params>();
        let direction = match N::SENDER {
            Side::Client => "clientToServer",
            Side::Server => "serverToClient",
        };
        self.methods.push(json!({
            "name": N::NAME,
            "summary": N::SUMMARY,
            "paramStructure": "by-name",
            "params": params,
            "x-direction": direction,
            "x-notification": true,
        }));
    }
}

pub(crate) fn document() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut visitor = Methods {
        definitions: Definitions::of_catalogue(settings),
        methods: Vec::new(),
    };
    method::visit(&mut visitor);
    let errors: Map<String, Value> = error_kinds()
        .into_iter()
        .map(|(name, kind)| {
            let error = json!({
                "code": kind.code(),
                "message": name,
                "data": serde_json::to_value(&kind).unwrap(),
            });
            (name.to_owned(), error)
        })
        .collect();
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "exec-server",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "JSON-RPC 2.0, one message a line on stdin and stdout. See docs/protocol.md.",
            "license": {"name": "Apache-2.0"},
        },
        "methods": visitor.methods,
        "components": {
            "schemas": visitor.definitions.0.take_definitions(true),
            "errors": errors,
        },
    })
}
