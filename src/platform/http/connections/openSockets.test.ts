import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../../test/support/certificate.ts';
import { temporaryFolder } from '../../../../test/support/smallFileSystem.ts';
import { until } from '../../../../test/support/until.ts';
import { Connections, connectionOf } from '../connection.ts';
import { OpenSockets } from './openSockets.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

async function open(usesTls: boolean) {
  const responses: ServerResponse[] = [];
  const onRequest: RequestListener = (request, response) => {
    connectionOf(request.socket)?.arrived(response);
    responses.push(response);
  };
  const server = usesTls ? createSecureServer(certificate(), onRequest) : createServer(onRequest);
  const open = new OpenSockets(server);
  new Connections(new Registry()).watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    open.closeAll();
    await new Promise((closed) => server.close(closed));
  });
  const tcp = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(server, 'connection');
    return socket;
  };
  const ready = async (): Promise<Socket> => {
    if (!usesTls) return tcp();
    const accepted = once(server, 'secureConnection');
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await Promise.all([once(socket, 'secureConnect'), accepted]);
    return socket.on('error', () => undefined);
  };
  const count = (): Promise<number> =>
    new Promise((resolve) => server.getConnections((_error, connections) => resolve(connections)));
  return { open, tcp, ready, count, responses };
}

function certificate() {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, 'cert'), join(folder, 'key')];
  makeCertificate({ cert, key });
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

describe.each([
  ['without TLS', false],
  [`with TLS${withOpenssl}`, true],
])('the open sockets of a server %s', (_, usesTls) => {
  it.skipIf(usesTls && !hasOpenssl)(
    'are closed as idle unless a complete request is unanswered',
    async () => {
      const { open: sockets, tcp, ready, count, responses } = await open(usesTls);
      const idle = [await tcp(), await ready(), await ready()];
      idle[2]?.write(REQUEST.slice(0, -1));
      const busy = await ready();
      busy.write(REQUEST);
      const response = await until('the request', () => responses[0]);
      const closed = Promise.all(idle.map((socket) => once(socket.resume(), 'close')));
      sockets.closeIdle();
      await closed;
      expect(await count()).toBe(1);
      const answered = Promise.all([once(busy, 'data'), once(response, 'finish')]);
      response.end('answered');
      const [[answer]] = await answered;
      expect(String(answer)).toContain('answered');
      connectionOf(response.req.socket)?.answered(response);
      sockets.closeIdle();
      await until('the last connection to close', async () => (await count()) === 0);
    },
  );

  it.skipIf(usesTls && !hasOpenssl)('are all closed at the deadline', async () => {
    const { open: sockets, tcp, ready, count, responses } = await open(usesTls);
    await tcp();
    (await ready()).write(REQUEST);
    await until('the request', () => responses[0]);
    sockets.closeAll();
    await until('all connections to close', async () => (await count()) === 0);
  });
});
