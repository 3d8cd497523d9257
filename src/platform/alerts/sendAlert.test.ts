import type { lookup } from 'node:dns';
import { afterEach, describe, expect, it } from 'vitest';
import { type AlertReceiver, isSigned, startAlertReceiver } from '../../../test/support/alertReceiver.ts';
import { sendAlert } from './sendAlert.ts';
import { webhookOf } from './webhook.ts';

const SECRET = 'a-secret-of-alerts-0123456789';
const receivers: AlertReceiver[] = [];
afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.stop())));

const receiverOf = async (...respond: Parameters<typeof startAlertReceiver>): Promise<AlertReceiver> => {
  const receiver = await startAlertReceiver(...respond);
  receivers.push(receiver);
  return receiver;
};
const webhook = (url: string) => ({ url: webhookOf(url, 'webhook-1')?.url ?? new URL('none:') });
const options = { allowPrivate: true, secret: SECRET };

/** A resolver that returns the given answers in order, and repeats the last one. */
function resolver(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = (name: string, _options: unknown, callback: (...found: unknown[]) => void): void => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(name);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { asked, resolve: resolve as typeof lookup };
}

describe('sendAlert', () => {
  it('signs body and time', async () => {
    const receiver = await receiverOf();
    const body = '{"text":"ünïcode"}';
    expect(await sendAlert(webhook(`${receiver.url}/hook?key=k`), body, options)).toBeUndefined();
    const [request] = receiver.requests;
    expect(request).toMatchObject({ body, path: '/hook?key=k' });
    expect(request && isSigned(request, SECRET)).toBe(true);
    expect(request && isSigned({ ...request, body: `${body} ` }, SECRET)).toBe(false);
    expect(request && isSigned(request, `${SECRET}x`)).toBe(false);
    expect(request && isSigned(request, SECRET, Date.now() + 600_000)).toBe(false);
    const header = String(request?.headers['x-floodgate-signature']);
    const later = { 'x-floodgate-signature': header.replace(/t=(\d+)/, (_, t) => `t=${Number(t) + 60}`) };
    expect(request && isSigned({ ...request, headers: later }, SECRET)).toBe(false);
    await sendAlert(webhook(receiver.url), body, { allowPrivate: true });
    expect(receiver.requests[1]?.headers['x-floodgate-signature']).toBeUndefined();
  });

  it('sends user and password of the URL without logging them', async () => {
    const receiver = await receiverOf((response) => response.writeHead(500).end());
    const failure = await sendAlert(webhook(receiver.url.replace('//', '//me:p%40ss@')), '{}', options);
    expect(receiver.requests[0]?.headers.authorization).toBe(`Basic ${btoa('me:p@ss')}`);
    expect(failure).toEqual({ reason: 'HTTP status 500', isRefused: false });
  });

  it('follows no redirect', async () => {
    const target = await receiverOf();
    const receiver = await receiverOf((response) => response.writeHead(307, { location: target.url }).end());
    const failure = await sendAlert(webhook(receiver.url), '{}', options);
    expect(failure?.reason).toMatch(/307: redirects are not followed/);
    expect(target.requests).toEqual([]);
  });

  it('fails if the webhook hangs, disconnects or sends endless headers', async () => {
    const hangs = await receiverOf(() => undefined);
    expect(await sendAlert(webhook(hangs.url), '{}', { ...options, timeoutMs: 50 })).toEqual({
      reason: 'no response within 50 ms',
      isRefused: false,
    });
    const breaksOff = await receiverOf((response) => response.destroy());
    expect((await sendAlert(webhook(breaksOff.url), '{}', options))?.reason).toBe('ECONNRESET');
    const headers = await receiverOf((response) => response.writeHead(200, { x: 'x'.repeat(64_000) }).end());
    expect((await sendAlert(webhook(headers.url), '{}', options))?.reason).toBe('HPE_HEADER_OVERFLOW');
    const stop = new AbortController();
    const sent = sendAlert(webhook(hangs.url), '{}', { ...options, signal: stop.signal });
    stop.abort();
    expect((await sent)?.reason).toBe('aborted');
  });

  it('distinguishes permanent from temporary rejections by status', async () => {
    const statuses: Array<[number, boolean | undefined]> = [
      [200, undefined],
      [202, undefined],
      [404, true],
      [408, false],
      [429, false],
      [503, false],
    ];
    for (const [status, isRefused] of statuses) {
      const receiver = await receiverOf((response) => response.writeHead(status).end());
      expect((await sendAlert(webhook(receiver.url), '{}', options))?.isRefused, `${status}`).toBe(isRefused);
    }
  });

  it('connects to no private address in any notation', async () => {
    const receiver = await receiverOf();
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '0'])
      expect(
        (await sendAlert(webhook(`http://${host}:${port}/`), '{}', { allowPrivate: false }))?.reason,
      ).toMatch(/not in the public Internet/);
    expect(receiver.requests).toEqual([]);
  });

  it('resolves a name once and connects only to checked addresses', async () => {
    const receiver = await receiverOf();
    const { port } = new URL(receiver.url);
    const to = webhook(`http://hook.example.com:${port}/`);
    const mixed = resolver(['8.8.8.8', '127.0.0.1']);
    const refused = await sendAlert(to, '{}', { allowPrivate: false, resolve: mixed.resolve });
    expect(refused?.reason).toMatch(/not in the public Internet/);
    expect(mixed.asked).toEqual(['hook.example.com']);
    expect(receiver.requests).toEqual([]);
    // A second lookup would lead to an address without a listener.
    const rebinding = resolver(['127.0.0.1'], ['127.0.0.2']);
    expect(await sendAlert(to, '{}', { ...options, resolve: rebinding.resolve })).toBeUndefined();
    expect(rebinding.asked).toEqual(['hook.example.com']);
    expect(receiver.requests[0]?.headers.host).toBe(`hook.example.com:${port}`);
  });
});
