/** undici's pool alone. Its index loads fetch, mocks, caches and WebSockets, too: a tenth of the processor time of a start. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}
