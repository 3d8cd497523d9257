import { describe, expect, it } from 'vitest';
import { type Result, type ResultStream, RpcError } from '../../jsonrpc/index.ts';
import { streamWhileAllowed, whileAllowed } from './whileAllowed.ts';

const ENDED = new RpcError('unauthorized', 'the key ended');

/** A key that can end. `watches` is the number of calls that wait for its end. */
function key() {
  const waiting = new Set<(error: RpcError) => void>();
  return {
    watch(ended: (error: RpcError) => void) {
      waiting.add(ended);
      return () => void waiting.delete(ended);
    },
    end: () => {
      for (const ended of waiting) ended(ENDED);
    },
    get watches() {
      return waiting.size;
    },
  };
}

describe('a call while its key is watched', () => {
  it('returns its result or its error, and ends the watch', async () => {
    const watched = key();
    const bytes = Buffer.from('1');
    expect(await whileAllowed(Promise.resolve(bytes), watched.watch)).toBe(bytes);
    await expect(whileAllowed(Promise.reject(new Error('fault')), watched.watch)).rejects.toThrow('fault');
    expect(watched.watches).toBe(0);
  });

  it('rejects when the key ends, and releases a result that arrives later', async () => {
    const watched = key();
    let released = 0;
    const pooled = {
      bytes: Buffer.from('1'),
      freeBytesBefore: 0,
      freeBytesAfter: 0,
      release: () => void released++,
    };
    let resolve: (result: Result) => void = () => {};
    const result = new Promise<Result>((known) => {
      resolve = known;
    });
    const call = whileAllowed(result, watched.watch);
    watched.end();
    await expect(call).rejects.toBe(ENDED);
    resolve(pooled);
    await expect.poll(() => released).toBe(1);
    expect(watched.watches).toBe(0);
  });
});

describe('a stream while its key is watched', () => {
  const run = () => {
    const watched = key();
    const events: string[] = [];
    let inner: Parameters<ResultStream['pipe']>[0] | undefined;
    const stream: ResultStream = {
      pipe(sink) {
        inner = sink;
      },
      resume: () => void events.push('resumed'),
      abort: () => void events.push('aborted'),
    };
    const wrapped = streamWhileAllowed(stream, watched.watch);
    wrapped.pipe({
      write: (piece) => events.push(String(piece)) > 0,
      end: () => void events.push('end'),
      fail: ({ message }) => void events.push(message),
    });
    if (inner === undefined) throw new Error('the stream was not read');
    return { watched, events, inner, wrapped };
  };

  it('passes pieces and its end on, and ends the watch', () => {
    const { watched, events, inner, wrapped } = run();
    inner.write(Buffer.from('piece'));
    wrapped.resume();
    expect(watched.watches).toBe(1);
    inner.end();
    expect([events, watched.watches]).toEqual([['piece', 'resumed', 'end'], 0]);
  });

  it('ends the watch when it fails or is aborted', () => {
    const failed = run();
    failed.inner.fail(new Error('fault'));
    expect([failed.events, failed.watched.watches]).toEqual([['fault'], 0]);
    const aborted = run();
    aborted.wrapped.abort();
    expect([aborted.events, aborted.watched.watches]).toEqual([['aborted'], 0]);
  });

  it('is aborted and fails when the key ends', () => {
    const { watched, events } = run();
    watched.end();
    expect([events, watched.watches]).toEqual([['aborted', 'the key ended'], 0]);
  });
});
