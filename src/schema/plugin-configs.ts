// The configs of the built-in plugins, as they are written: what a kind fills in by itself may be left out.

/** Config of `basic-auth`: the credentials that a request to the source must bring (RFC 7617). */
export interface BasicAuthConfig {
  /** User name, in UTF-8. */
  readonly username: string
  /** Password, in UTF-8. A secret: sealed and masked where the option `secrets` is set. */
  readonly password: string
}

/** Config of `key-auth`: the key that a request to the source must bring. */
export interface KeyAuthConfig {
  /** Name of the header or of the query parameter that holds the key. At least 1 character. */
  readonly param_name: string
  /** Where the key may stand. At least one place, no place twice. */
  readonly param_locations: readonly ('header' | 'query')[]
  /** The key. At least 1 character. A secret: sealed and masked where the option `secrets` is set. */
  readonly key: string
}

/** Config of `hmac-auth`: the signature that a request to the source must bring, over the raw body. */
export interface HmacAuthConfig {
  /** Hash of the HMAC. Default `sha-256`. */
  readonly hash?: 'md5' | 'sha-1' | 'sha-256' | 'sha-512' | null | undefined
  /** How the header writes the signature. Default `hex`. */
  readonly encoding?: 'hex' | 'base64' | 'base64url' | null | undefined
  /** Name of the header that holds the signature. */
  readonly signature_header: string
  /** Key of the HMAC, in UTF-8. At least 1 character. A secret: sealed and masked where the option `secrets` is set. */
  readonly secret: string
}

/** The config for a sender that signs with a shared secret. */
export interface SignedConfig {
  /** The secret that the sender shows, or that the host chose at the sender. At least 1 character. */
  readonly secret: string
}

/** The config for a sender that signs with a shared secret and a time. */
export interface SignedInTimeConfig extends SignedConfig {
  /** Seconds that a signature stays valid, and may be ahead; 0 takes any age. Default 300. */
  readonly tolerance_window?: number | null | undefined
}

/** What Okta is known by. */
export interface OktaConfig {
  /** Name of the header that holds the secret. */
  readonly authentication_field: string
  /** The secret that the event hook sends. At least 1 character. */
  readonly authentication_secret: string
}

/** What each sender is known by. */
export interface ProviderConfigs {
  /** GitHub: the secret of the webhook. */
  readonly github: SignedConfig
  /** GitLab: the secret token of the webhook. */
  readonly gitlab: SignedConfig
  /** Okta: the header of the event hook. */
  readonly okta: OktaConfig
  /** OpenAI: the `whsec_` secret of the webhook. */
  readonly openai: SignedInTimeConfig
  /** Shopify: the client secret of the app. */
  readonly shopify: SignedConfig
  /** Slack: the signing secret of the app. */
  readonly slack: SignedInTimeConfig
  /** Any sender that follows Standard Webhooks. The secret is the sender's `whsec_` secret. */
  readonly 'standard-webhooks': SignedInTimeConfig
  /** Stripe: the `whsec_` secret of the endpoint. */
  readonly stripe: SignedInTimeConfig
  /** Zendesk: the signing secret of the webhook. */
  readonly zendesk: SignedInTimeConfig
}

/** Config of `connect-auth` for one sender. */
export interface ConnectAuthConfigOf<Provider extends string, Config> {
  /** The sender whose signature a request to the source must bring. */
  readonly provider: Provider
  /** What the sender is recognised by. The secrets in it are sealed and masked where the option `secrets` is set. */
  readonly provider_config: Config
}

/** Config of `connect-auth`: the sender whose signature a request to the source must bring. */
export type ConnectAuthConfig = {
  [Provider in keyof ProviderConfigs]: ConnectAuthConfigOf<Provider, ProviderConfigs[Provider]>
}[keyof ProviderConfigs]

/** A secret that signs until a time. */
export interface EndingSecret {
  /** `whsec_` or `whsk_` followed by base64. */
  readonly secret: string
  /** When the secret ceases to sign, unix milliseconds. Null: never. */
  readonly expires_at?: number | null | undefined
}

/** Config of `standard-webhooks`: the secrets that sign deliveries, as https://www.standardwebhooks.com defines. */
export interface StandardWebhooksConfig {
  /**
   * 1 to 5 secrets; each of them signs. `whsec_` (HMAC-SHA256, 24 to 64 bytes) or `whsk_` (Ed25519) followed by base64.
   * At least one secret has no end. Default: a new `whsec_` secret. Sealed and masked where the option `secrets` is
   * set.
   */
  readonly secrets?: readonly (string | EndingSecret)[] | null | undefined
  /** Whether the body is `{"type","timestamp","data"}` instead of the data alone. Default false. */
  readonly envelope?: boolean | null | undefined
}

/** Config of `webhookx-signature`: the secret that signs deliveries as WebhookX does. */
export interface WebhookxSignatureConfig {
  /**
   * Key of the HMAC-SHA256, in UTF-8. At least 1 character. Default: 32 random letters and digits. A secret: sealed and masked
   * where the option `secrets` is set.
   */
  readonly signing_secret?: string | null | undefined
}

/** The built-in plugins and their configs. */
export interface BuiltInPlugins {
  /** For a source: lets requests pass that bring a user name and a password. */
  readonly 'basic-auth': BasicAuthConfig
  /** For a source: lets requests pass that bring a key. */
  readonly 'key-auth': KeyAuthConfig
  /** For a source: lets requests pass that bring an HMAC of the body. */
  readonly 'hmac-auth': HmacAuthConfig
  /** For a source: lets requests pass that a known sender signed. */
  readonly 'connect-auth': ConnectAuthConfig
  /** For an endpoint: signs deliveries as Standard Webhooks defines. */
  readonly 'standard-webhooks': StandardWebhooksConfig
  /** For an endpoint: signs deliveries as WebhookX does. */
  readonly 'webhookx-signature': WebhookxSignatureConfig
}
