import type { Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import { OversizedResponseError } from './requestFault.ts';
import { ResponseStream } from './responseStream.ts';

it('a response stream counts the bytes that arrived before it, and ends when a response exceeds the maximum', () => {
  const aborted: Error[] = [];
  const controller = {
    pause: () => {},
    resume: () => {},
    abort: (error: Error) => void aborted.push(error),
  } as unknown as Dispatcher.DispatchController;
  const start = [Buffer.alloc(4), Buffer.alloc(2)];
  const stream = new ResponseStream(start, controller, { host: 'node.example', maxBytes: 10 });
  let passed = 0;
  const write = ({ length }: Uint8Array) => {
    passed += length;
    return true;
  };
  stream.pipe({ write, end: () => {}, fail: () => {} });
  stream.receive(Buffer.alloc(4));
  expect([passed, aborted]).toEqual([10, []]);
  stream.receive(Buffer.alloc(1));
  expect([passed, aborted]).toEqual([10, [new OversizedResponseError('node.example', 10)]]);
  stream.end();
});
