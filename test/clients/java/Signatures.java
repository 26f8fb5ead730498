import java.util.List;
import java.util.Map;

/** Verifies the headers of a delivery, and signs the same body. Arguments: library, secret, id, timestamp, signature, body. */
public final class Signatures {
  /** What both libraries do. */
  interface Library {
    void verify(String body, Map<String, List<String>> headers) throws Exception;

    String sign(String id, long seconds, String body) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    Library webhook = args[0].equals("svix") ? svix(args[1]) : standardWebhooks(args[1]);
    String body = args[5];
    Map<String, List<String>> headers = Map.of(
        "webhook-id", List.of(args[2]),
        "webhook-timestamp", List.of(args[3]),
        "webhook-signature", List.of(args[4]));
    webhook.verify(body, headers);
    boolean refused = false;
    try {
      webhook.verify(body + " ", headers);
    } catch (com.standardwebhooks.exceptions.WebhookVerificationException
        | com.svix.exceptions.WebhookVerificationException e) {
      refused = true;
    }
    long now = System.currentTimeMillis() / 1000;
    String signature = webhook.sign("msg_theirs", now, body);
    // The body is JSON already.
    System.out.println("{\"verified\":" + body + ",\"refused\":" + refused + ",\"headers\":{\"webhook-id\":\"msg_theirs\","
        + "\"webhook-timestamp\":\"" + now + "\",\"webhook-signature\":\"" + signature + "\"}}");
  }

  private static Library standardWebhooks(String secret) throws Exception {
    com.standardwebhooks.Webhook webhook = new com.standardwebhooks.Webhook(secret);
    return new Library() {
      public void verify(String body, Map<String, List<String>> headers) throws Exception {
        webhook.verify(body, headers);
      }

      public String sign(String id, long seconds, String body) throws Exception {
        return webhook.sign(id, seconds, body);
      }
    };
  }

  private static Library svix(String secret) throws Exception {
    com.svix.Webhook webhook = new com.svix.Webhook(secret);
    return new Library() {
      public void verify(String body, Map<String, List<String>> headers) throws Exception {
        webhook.verify(body, headers);
      }

      public String sign(String id, long seconds, String body) throws Exception {
        return webhook.sign(id, seconds, body);
      }
    };
  }
}
