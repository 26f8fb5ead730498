/** The text of a module with all that it imports: an expression that is the default export of the module (`test/support/texts.ts` makes it). */
declare module '*?text' {
  const text: string
  export default text
}
