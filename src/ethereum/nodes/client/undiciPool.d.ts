/** undici's Pool alone. undici's index also loads fetch, mocks and WebSockets: a tenth of the CPU time of a start. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}
