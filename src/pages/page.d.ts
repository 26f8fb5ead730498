/** A page for the browser, built (`test/support/pages.ts` does it): a script and a style sheet. */
declare module '*?page' {
  const page: { readonly script: string; readonly style: string }
  export default page
}
