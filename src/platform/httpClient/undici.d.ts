/** undici's Pool alone. undici's index also loads fetch, mocks and WebSockets: a tenth of the CPU time of a start. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}

/** Keys of the internal properties that `createPool` uses. */
declare module 'undici/lib/core/symbols.js' {
  export const kSocket: unique symbol;
  export const kParser: unique symbol;
}
