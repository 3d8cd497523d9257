import { expect, it } from 'vitest';
import type { ResponseSink, ResponseStream } from '../client/responseStream.ts';
import { readLargeResponse } from './readLargeResponse.ts';
import { ResponseMemory } from './responseMemory.ts';

it('nothing more is read of a large response that is not JSON', async () => {
  const taken: boolean[] = [];
  let aborts = 0;
  const stream = {
    host: 'node:1',
    pipe(sink: ResponseSink) {
      for (const chunk of ['[1', ',}', '2', ']']) taken.push(sink.write(Buffer.from(chunk)));
      sink.end();
    },
    abort: () => void aborts++,
  } as unknown as ResponseStream; // the members that are used
  await expect(readLargeResponse(stream, new ResponseMemory(1_000, 'a test'))).rejects.toThrow(
    /node:1 answered with something that is not JSON/,
  );
  expect([taken, aborts]).toEqual([[true, false, false, false], 1]);
});
