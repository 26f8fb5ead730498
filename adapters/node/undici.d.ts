/** The file of undici that holds its client, which the package's types describe under its main name only. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici'

  export default Client
}
