/**
 * JSON as text, published as it stands: `events.create(ws, { event_type, data: new JsonText('{"n":12345678901234567890}') })`
 * delivers those very bytes, where a parsed value would have lost digits.
 */
export class JsonText {
  /** The JSON, as it was given. */
  readonly text: string

  /** @throws SyntaxError when the text is not JSON. */
  constructor(json: string) {
    JSON.parse(json)
    this.text = json
  }

  /** The parsed value, for `JSON.stringify` of what holds this. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
