"""Verifies the headers of a delivery with the library named, and signs the same body with it."""

import json
import sys
from datetime import datetime, timezone

from standardwebhooks.webhooks import Webhook as Standard
from svix.webhooks import Webhook as Svix

library, given = {"standardwebhooks": Standard, "svix": Svix}[sys.argv[1]], json.loads(sys.argv[2])
webhook = library(given["secret"])
webhook.verify(given["body"], given["headers"])  # raises when the signature is wrong

try:
    webhook.verify(given["body"] + " ", given["headers"])
    refused = False
except Exception:
    refused = True

now = datetime.now(tz=timezone.utc)
signature = webhook.sign("msg_theirs", now, given["body"])
headers = {
    "webhook-id": "msg_theirs",
    "webhook-timestamp": str(int(now.timestamp())),
    "webhook-signature": signature,
}
print(json.dumps({"verified": json.loads(given["body"]), "refused": refused, "headers": headers}))
