import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;

it('a server that is busy gets a space for new objects of 4 MiB, and no more', async () => {
  const floodgate = await startFloodgate();
  try {
    const space = async (): Promise<number> => {
      const text = await (await fetch(`${floodgate.url}/metrics`)).text();
      const bytes = (kind: string): number =>
        Number(new RegExp(`^nodejs_heap_space_size_${kind}_bytes{space="new"} (\\d+)$`, 'm').exec(text)?.[1]);
      return bytes('used') + bytes('available');
    };
    const socket = connect(Number(new URL(floodgate.url).port), '127.0.0.1');
    // Requests without an end on one connection, as fast as they are read.
    const requests = Buffer.from('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(1_000));
    const send = (): void => {
      while (socket.write(requests));
    };
    socket.on('drain', send).on('connect', send).resume();
    await until('the space has grown', async () => (await space()) > 3 * MIB);
    for (let i = 0; i < 20; i++) expect(await space()).toBeLessThanOrEqual(4 * MIB);
    socket.destroy();
  } finally {
    await floodgate.stop();
  }
});
