/** A page for the browser, built (`test/support/pages.ts` does it): one script, one style sheet. */
declare module '*?page' {
  const page: { readonly script: string; readonly style: string }
  export default page
}
