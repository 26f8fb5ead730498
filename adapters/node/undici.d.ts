/**
 * The file of undici that holds the client. The types of the package describe the client only under the package's main
 * name.
 */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici'

  export default Client
}
