/**
 * The most bytes, or characters, of an event's data with which an engine is as quick as with others. What is larger is stored,
 * put aside and loaded apart, so that nobody else waits for it.
 */
export const maxUsualData = 65_536
