import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import symbols from 'undici/lib/core/symbols.js';
import Pool from 'undici/lib/dispatcher/pool.js';

/** undici's parser of the responses of a connection. It parses nothing while a handler has paused its response. */
interface ResponseParser {
  paused: boolean;
  readonly ptr: number;
  readonly llhttp: { llhttp_resume(ptr: number): void };
  resume(): void;
}

interface ConnectedClient extends Dispatcher {
  readonly [symbols.kSocket]: Socket & { readonly [symbols.kParser]: ResponseParser };
}

/** Returns a pool of HTTP connections to one origin, whose responses may be paused. */
export function createPool(origin: string, options: Pool.Options): Pool {
  const pool = new Pool(origin, options);
  pool.on('connect', (_origin, targets) => {
    finishPausedResponses(targets.at(-1) as ConnectedClient); // the last target is the client of the connection
  });
  return pool;
}

/**
 * Ends a paused response when the server closes its connection. undici 7 would throw an AssertionError that nothing can
 * catch (nodejs/undici#5360). undici 8 has no such fault, but requires Node 22.
 */
function finishPausedResponses({ [symbols.kSocket]: socket }: ConnectedClient): void {
  const { [symbols.kParser]: parser } = socket;
  for (const event of ['end', 'error', 'close'])
    socket.prependListener(event, () => {
      if (!parser.paused) return;
      parser.resume();
      // The end of the connection also ends a response without a length. undici then parses that end.
      if (!parser.paused) return;
      parser.llhttp.llhttp_resume(parser.ptr);
      parser.paused = false;
    });
}
