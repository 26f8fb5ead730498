/**
 * How long the rest of an answer may take once its status has arrived, milliseconds. The status decides what becomes of an
 * attempt; the body is only recorded. A receiver that never ends its body would otherwise hold a slot until the timeout of
 * each delivery. No less than a second: an answer through a slow network still ends in that time.
 */
export const restOfAnswerMs = 1000
