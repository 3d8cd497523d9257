import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { LogWriter } from './logWriter.ts';

it('LogWriter buffers lines for a slow reader up to a limit and reports dropped lines once', async () => {
  const pipe = new PassThrough({ highWaterMark: 10 });
  const writer = new LogWriter(pipe, 100);
  const reported: number[] = [];
  writer.onDropped((lines) => {
    reported.push(lines);
    writer.write(`dropped ${lines}\n`);
  });
  for (let index = 0; index < 1000; index++) writer.write(`line ${String(index).padStart(3, '0')}\n`);
  expect(pipe.writableLength).toBeLessThan(120);
  const kept = 1000 - writer.dropped;
  expect(kept).toBeGreaterThan(5);
  expect(reported).toEqual([]);

  let read = '';
  pipe.on('data', (chunk) => {
    read += chunk;
  });
  await new Promise((resolve) => pipe.once('drain', () => setImmediate(resolve)));
  expect(reported).toEqual([writer.dropped]);
  writer.write('after\n');
  await new Promise(setImmediate);
  expect(read.split('\n').slice(kept)).toEqual([`dropped ${writer.dropped}`, 'after', '']);
});

it('LogWriter survives a closed pipe', () => {
  const pipe = new PassThrough();
  const writer = new LogWriter(pipe);
  pipe.destroy(new Error('EPIPE'));
  for (let index = 0; index < 3; index++) writer.write('line\n');
  expect(writer.dropped).toBe(3);
});
