/**
 * Code that verifies a delivery, by language: the libraries of Standard Webhooks, and openssl for languages without
 * such a library.
 */
export const snippets: Readonly<Record<string, string>> = {
  TypeScript: `import { verifyWebhook } from 'posthorn/verify'

const { data } = await verifyWebhook(request, process.env.WEBHOOK_SECRET)`,
  Python: `from standardwebhooks.webhooks import Webhook

payload = Webhook(os.environ["WEBHOOK_SECRET"]).verify(request.body, request.headers)`,
  Go: `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

wh, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
err = wh.Verify(body, request.Header)`,
  PHP: `$wh = new \\StandardWebhooks\\Webhook(getenv('WEBHOOK_SECRET'));
$payload = $wh->verify($body, $headers);`,
  Ruby: `require "standardwebhooks"

payload = StandardWebhooks::Webhook.new(ENV["WEBHOOK_SECRET"]).verify(request.body.read, headers)`,
  Java: `import com.standardwebhooks.Webhook;

new Webhook(System.getenv("WEBHOOK_SECRET")).verify(body, headers);`,
  'C#': `using System.Security.Cryptography;
using System.Text;

var key = Convert.FromBase64String(secret["whsec_".Length..]);
var text = $"{headers["webhook-id"]}.{headers["webhook-timestamp"]}.{body}";
var expected = "v1," + Convert.ToBase64String(HMACSHA256.HashData(key, Encoding.UTF8.GetBytes(text)));
var holds = headers["webhook-signature"].ToString().Split(' ').Any(given =>
    CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(given), Encoding.UTF8.GetBytes(expected)));`,
  Shell: `key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | xxd -p -c 256)
printf '%s.%s.%s' "$webhook_id" "$webhook_timestamp" "$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64`,
}
