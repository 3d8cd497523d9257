import type { IncomingMessage } from 'node:http';

/** How reading a body ended: whole, over the limit, or the client went away. */
export type RequestBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'tooLarge'; readonly bytes: number }
  | { readonly kind: 'aborted' };

/** Reads a body of at most `maxBytes`, and calls back once. A length that is told is believed before a byte is read. */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: RequestBody) => void,
): void {
  const told = Number(request.headers['content-length'] ?? 0);
  if (told > maxBytes) return done({ kind: 'tooLarge', bytes: told });
  if (request.complete) {
    // It was parsed before its turn came: what there is of it is there, and costs no events.
    const bytes: Buffer = request.read() ?? EMPTY;
    return done(
      bytes.length > maxBytes ? { kind: 'tooLarge', bytes: bytes.length } : { kind: 'whole', bytes },
    );
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  let ended = false;
  const end = (body: RequestBody): void => {
    if (ended) return;
    ended = true;
    done(body);
  };
  request.on('data', (chunk: Buffer) => {
    if (ended) return;
    length += chunk.length;
    if (length > maxBytes) return end({ kind: 'tooLarge', bytes: length });
    if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on('end', () =>
    end({ kind: 'whole', bytes: more === undefined ? (first ?? EMPTY) : Buffer.concat(more, length) }),
  );
  request.on('close', () => end({ kind: 'aborted' }));
}

const EMPTY = Buffer.alloc(0);
