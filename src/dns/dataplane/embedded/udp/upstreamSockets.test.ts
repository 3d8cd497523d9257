import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../../test/support/until.ts';
import { SOCKETS, type UpstreamSocket, UpstreamSockets } from './upstreamSockets.ts';

it('UpstreamSockets reuses the tables of closed sockets, empty, for new sockets', async () => {
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => new Promise((closed) => server.close(closed)));
  await once(server, 'listening');
  const sockets = new UpstreamSockets(
    { address: { host: '127.0.0.1', port: server.address().port }, lingerMs: 1 },
    { onMessage: () => undefined, onRefused: () => undefined },
  );
  onTestFinished(() => sockets.close());
  await sockets.opened();
  const used = new Set<UpstreamSocket>();
  const closed = new Set<UpstreamSocket>();
  const useAll = (): void => {
    for (let i = 0; i <= SOCKETS; i++) {
      const next = sockets.next();
      if (next === undefined || used.has(next)) continue;
      expect(next.tickets.every((ticket) => ticket === 0)).toBe(true);
      next.tickets.fill(1);
      next.socket.once('close', () => closed.add(next));
      used.add(next);
    }
  };
  useAll();
  for (let replaced = 1; replaced <= SOCKETS; replaced++) {
    sockets.tick();
    await until('a socket to be replaced and closed', () => {
      useAll();
      return used.size === SOCKETS + replaced && closed.size === replaced;
    });
  }
  expect(new Set([...used].map(({ tickets }) => tickets)).size).toBe(SOCKETS + 1);
});
