//! Verifies the headers of a delivery, and signs the same body.
use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{json, Value};
use standardwebhooks::Webhook;

fn main() {
    let given: Value = serde_json::from_str(&std::env::args().nth(2).unwrap()).unwrap();
    let body = given["body"].as_str().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in given["headers"].as_object().unwrap() {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.insert(name, HeaderValue::from_str(value.as_str().unwrap()).unwrap());
    }
    let webhook = Webhook::new(given["secret"].as_str().unwrap()).unwrap();
    webhook.verify(body.as_bytes(), &headers).unwrap();
    let refused = webhook.verify(format!("{body} ").as_bytes(), &headers).is_err();

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let signature = webhook.sign("msg_theirs", now as i64, body.as_bytes()).unwrap();
    let verified: Value = serde_json::from_str(body).unwrap();
    let theirs = json!({
        "webhook-id": "msg_theirs",
        "webhook-timestamp": now.to_string(),
        "webhook-signature": signature,
    });
    println!("{}", json!({ "verified": verified, "refused": refused, "headers": theirs }));
}
