//! Verifies the headers of a delivery, and signs the same body.
use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{json, Value};

/// What both libraries do.
trait Library: Sized {
    fn of(secret: &str) -> Self;
    fn verifies(&self, body: &str, headers: &HeaderMap) -> bool;
    fn signature(&self, id: &str, seconds: i64, body: &str) -> String;
}

macro_rules! library {
    ($webhook:ty) => {
        impl Library for $webhook {
            fn of(secret: &str) -> Self {
                <$webhook>::new(secret).unwrap()
            }
            fn verifies(&self, body: &str, headers: &HeaderMap) -> bool {
                self.verify(body.as_bytes(), headers).is_ok()
            }
            fn signature(&self, id: &str, seconds: i64, body: &str) -> String {
                self.sign(id, seconds, body.as_bytes()).unwrap()
            }
        }
    };
}
library!(standardwebhooks::Webhook);
library!(svix::webhooks::Webhook);

fn main() {
    let given: Value = serde_json::from_str(&std::env::args().nth(2).unwrap()).unwrap();
    match std::env::args().nth(1).unwrap().as_str() {
        "svix" => exchange::<svix::webhooks::Webhook>(&given),
        _ => exchange::<standardwebhooks::Webhook>(&given),
    }
}

fn exchange<Webhook: Library>(given: &Value) {
    let body = given["body"].as_str().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in given["headers"].as_object().unwrap() {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.insert(name, HeaderValue::from_str(value.as_str().unwrap()).unwrap());
    }
    let webhook = Webhook::of(given["secret"].as_str().unwrap());
    assert!(webhook.verifies(body, &headers));
    let refused = !webhook.verifies(&format!("{body} "), &headers);

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let signature = webhook.signature("msg_theirs", now as i64, body);
    let verified: Value = serde_json::from_str(body).unwrap();
    let theirs = json!({
        "webhook-id": "msg_theirs",
        "webhook-timestamp": now.to_string(),
        "webhook-signature": signature,
    });
    println!("{}", json!({ "verified": verified, "refused": refused, "headers": theirs }));
}
