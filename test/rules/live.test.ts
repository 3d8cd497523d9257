import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { call, send } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { newRule, rulesPath, zonesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

let server: RulesServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const livePath = (account: string) => rulesPath(account).replace(/rules$/, 'live');
const token = async (...flags: string[]) =>
  JSON.parse(
    (
      await floodgate(['token', 'create', '--json', ...flags], {
        env: { FLOODGATE_DATA_DIR: server.dataDir },
      })
    ).stdout,
  ) as { id: string; token: string };

interface Message {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  readonly data: any;
}

/** Opens the live stream of an account and collects its messages. */
async function listen(
  account: string,
  { secret = TOKEN, lastEventId }: { secret?: string; lastEventId?: string } = {},
  at: Pick<RulesServer, 'baseUrl'> = server,
) {
  const messages: Message[] = [];
  let isEnded = false;
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request(at.baseUrl + livePath(account), {
      agent: false,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    })
      .once('response', resolve)
      .once('error', reject)
      .end(),
  );
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const [id = '', data = ''] = text.slice(0, end).split('\n');
      messages.push({ id: id.replace('id: ', ''), data: JSON.parse(data.replace('data: ', '')) });
      text = text.slice(end + 2);
    }
  });
  response.on('close', () => {
    isEnded = true;
  });
  const next = (what: string): Promise<Message> => {
    const before = messages.length;
    return until(what, () => messages.length > before && messages.at(-1));
  };
  const changes = () => messages.flatMap(({ data }) => data.changes);
  return { response, messages, changes, next, isEnded: () => isEnded, stop: () => response.destroy() };
}

const create = async (account: string) =>
  (await call(server, { method: 'POST', path: rulesPath(account), body: newRule })).json.result;

describe('GET …/live', () => {
  it('sends the changes of this account with their audit entries, and the ETag of its rules', async () => {
    await create('a');
    const listener = await listen('a');
    expect(listener.response.statusCode).toBe(200);
    expect(listener.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    });
    const first = await until('the first message', () => listener.messages[0]);
    expect(first.data).toEqual({
      at: expect.any(String),
      rules_etag: (await call(server, { path: rulesPath('a') })).headers['etag'],
      zones_etag: (await call(server, { path: zonesPath('a') })).headers['etag'],
      changes: [],
    });
    await create('b');
    const rule = await create('a');
    const path = `${rulesPath('a')}/${rule.id}`;
    await call(server, { method: 'PATCH', path, body: { mode: 'disabled' } });
    await call(server, { method: 'DELETE', path });
    await call(server, { method: 'POST', path: zonesPath('a'), body: { zone: 'example.com' } });
    await until('four changes', () => listener.changes().length >= 4);
    expect(listener.changes()).toEqual(
      (await call(server, { path: livePath('a').replace(/live$/, 'audit') })).json.result
        .slice(0, 4)
        .reverse(),
    );
    expect(listener.messages.at(-1)?.data.rules_etag).toBe(
      (await call(server, { path: rulesPath('a') })).headers['etag'],
    );
    expect(listener.messages.at(-1)?.data.zones_etag).toBe(
      (await call(server, { path: zonesPath('a') })).headers['etag'],
    );
    listener.stop();
  });

  it('resumes after Last-Event-ID with the missed changes, at most 100 of them', async () => {
    const listener = await listen('c');
    const { id } = await until('the first message', () => listener.messages[0]);
    listener.stop();
    const missed = await create('c');
    const back = await listen('c', { lastEventId: id });
    await until('a second message', () => back.messages.length > 1);
    expect(back.changes().map(({ rule }: { rule: string }) => rule)).toEqual([missed.id]);
    back.stop();
    const path = `${rulesPath('c')}/${missed.id}`;
    for (let i = 0; i < 101; i++)
      await call(server, { method: 'PATCH', path, body: { mode: i % 2 === 0 ? 'disabled' : 'enabled' } });
    const late = await listen('c', { lastEventId: id });
    const { data } = await until('the first message', () => late.messages[0]);
    expect(data.changes).toHaveLength(100);
    expect(data.changes_cut).toBe(true);
    late.stop();
  });

  it('requires the read permission, contains changes only with the audit permission, and ends when the token is revoked', async () => {
    const reader = await token('--account', 'd', '--permission', 'read');
    const listener = await listen('d', { secret: reader.token });
    const { data } = await until('the first message', () => listener.messages[0]);
    expect(data).not.toHaveProperty('changes');
    await floodgate(['token', 'revoke', reader.id], { env: { FLOODGATE_DATA_DIR: server.dataDir } });
    await until('the end of the stream', listener.isEnded);
    const path = livePath('d');
    const statusOf = async (secret: string | null) => (await send(server, { path, token: secret })).status;
    expect(await statusOf(null)).toBe(401);
    expect(await statusOf(reader.token)).toBe(401);
    expect(await statusOf((await token('--account', 'd', '--permission', 'audit')).token)).toBe(403);
    expect(await statusOf((await token('--account', 'e')).token)).toBe(403);
  });

  it('rejects an invalid Last-Event-ID and other methods, and opens no stream for HEAD', async () => {
    const path = livePath('a');
    const refused = await send(server, { path, headers: { 'last-event-id': 'yesterday' } });
    expect(refused.status).toBe(400);
    expect(refused.json.errors[0].message).toContain('Last-Event-ID must be the id of a message');
    expect((await send(server, { path, method: 'DELETE' })).headers).toMatchObject({ allow: 'GET, HEAD' });
    expect(await send(server, { path, method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it('allows 8 streams per token, and another one after they have ended', async () => {
    const { token: secret } = await token('--account', 'f');
    const listeners = await Promise.all(Array.from({ length: 8 }, () => listen('f', { secret })));
    const refused = await send(server, { path: livePath('f'), token: secret });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
    expect(refused.json.errors[0].message).toBe('Limit of live streams reached: 8 per token');
    for (const listener of listeners) listener.stop();
    await until('a free stream', async () => {
      const again = await listen('f', { secret });
      again.stop();
      return again.response.statusCode === 200;
    });
  });

  it.each([
    ['with its request', (socket: Socket, text: string) => void socket.end(text)],
    [
      'after the first message',
      (socket: Socket, text: string) => {
        socket.write(text);
        socket.once('data', () => socket.end());
      },
    ],
  ])('ends when the client closes its side of the connection %s', async (_when, ask) => {
    const { port, hostname } = new URL(server.baseUrl);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    ask(
      socket,
      `GET ${new URL(server.baseUrl).pathname}${livePath('g')} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    socket.resume();
    await once(socket, 'close');
  });

  it('does not delay the stop of the server', async () => {
    const other = await startServer();
    const listener = await listen('a', {}, other);
    await until('the first message', () => listener.messages[0]);
    await other.stop();
    await until('the end of the stream', listener.isEnded);
  });
});
