import com.standardwebhooks.Webhook;
import java.util.List;
import java.util.Map;

/** Verifies the headers of a delivery, and signs the same body. Arguments: secret, id, timestamp, signature, body. */
public final class Signatures {
  public static void main(String[] args) throws Exception {
    Webhook webhook = new Webhook(args[0]);
    String body = args[4];
    Map<String, List<String>> headers = Map.of(
        "webhook-id", List.of(args[1]),
        "webhook-timestamp", List.of(args[2]),
        "webhook-signature", List.of(args[3]));
    webhook.verify(body, headers);
    boolean refused = false;
    try {
      webhook.verify(body + " ", headers);
    } catch (com.standardwebhooks.exceptions.WebhookVerificationException e) {
      refused = true;
    }
    long now = System.currentTimeMillis() / 1000;
    String signature = webhook.sign("msg_theirs", now, body);
    // The body is JSON already.
    System.out.println("{\"verified\":" + body + ",\"refused\":" + refused + ",\"headers\":{\"webhook-id\":\"msg_theirs\","
        + "\"webhook-timestamp\":\"" + now + "\",\"webhook-signature\":\"" + signature + "\"}}");
  }
}
