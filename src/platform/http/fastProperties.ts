import { createHook } from 'node:async_hooks';
import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { HTTP_CLASSES } from './httpClasses.ts';

/** V8 looks at the first seven objects of a class, and one more to be sure. */
const OBJECTS = 8;
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Objects that node makes for each request: while one of each is there, V8 forgets nothing of how they are laid out. */
let kept: readonly object[] | undefined;

/**
 * Has V8 keep what node makes for each request in its fast form. How many properties find room within an object V8 settles with the
 * first seven of a class, by the layouts (hidden classes) that are in use by then. Where those seven are requests of a probe, seconds
 * apart, and the heap is collected in between because blocks are ingested, next to none do: each later request and response is a
 * dictionary, and takes half as much processor time again for as long as the process runs. Likewise, compiled code gives up on
 * what `process.nextTick` makes once its layout was collected. So the first ones are made here, at once and by node's own server, and one
 * of each stays. To be called before a server listens.
 */
export function keepPropertiesFast(): void {
  if (kept !== undefined) return;
  let made: readonly object[] = [];
  const server = createServer(HTTP_CLASSES, (...exchange) => {
    made = exchange;
    exchange[1].end();
  });
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, written) => written() });
  server.emit('connection', socket);
  // All of them are parsed in one go.
  socket.emit('data', Buffer.from(REQUEST.repeat(OBJECTS)));
  socket.destroy();
  kept = [...made, aTick()];
}

/** What node makes of each function that is to run with the next tick; async hooks alone are shown it. */
function aTick(): object {
  let made: object = {};
  const hook = createHook({
    init(...[, type, , resource]: [id: number, type: string, cause: number, resource: object]) {
      if (type === 'TickObject') made = resource;
    },
  });
  hook.enable();
  process.nextTick(() => undefined);
  hook.disable();
  return made;
}
