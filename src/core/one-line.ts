/** A text as one line without control characters and marks that change how other text is shown: fit for a log. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
}
