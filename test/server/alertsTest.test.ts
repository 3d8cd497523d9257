import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AlertReceiver, isSigned, startAlertReceiver } from '../support/alertReceiver.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { PROGRAM } from '../support/program.ts';

const SECRET = 'a-secret-of-alerts-0123456789';

const run = (env: Record<string, string>): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [PROGRAM, 'alerts', 'test'],
      { env: cleanEnvironment(env) },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), text: stdout + stderr }),
    );
  });

describe('floodgate alerts test', () => {
  let receiver: AlertReceiver;
  beforeAll(async () => {
    receiver = await startAlertReceiver((response, count) =>
      response.writeHead(count === 3 ? 500 : 200).end(),
    );
  });
  afterAll(() => receiver?.stop());

  it('sends one alert to each webhook, and prints the results', async () => {
    const urls = [`${receiver.url}/hush`, `slack+${receiver.url}/hush`, `${receiver.url}/other-hush`];
    const { code, text } = await run({
      FLOODGATE_ALERTS_WEBHOOKS: urls.join(','),
      FLOODGATE_ALERTS_SECRET: SECRET,
      FLOODGATE_ALERTS_ALLOW_PRIVATE: 'true',
    });
    const { host } = new URL(receiver.url);
    expect(text.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^webhook-1 \\(${host}, json\\): delivered in \\d+ ms$`)),
      expect.stringMatching(new RegExp(`^webhook-2 \\(${host}, slack\\): delivered in`)),
      `webhook-3 (${host}, json): HTTP status 500`,
      '',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(receiver.requests[0]?.body ?? '')).toMatchObject({ kind: 'test', state: 'firing' });
    for (const request of receiver.requests) expect(isSigned(request, SECRET)).toBe(true);
  });

  it('sends nothing to a private address, and fails without a webhook', async () => {
    const before = receiver.requests.length;
    const refused = await run({ FLOODGATE_ALERTS_WEBHOOKS: `${receiver.url}/hush` });
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('alerts.allowPrivate') });
    expect(refused.text).toContain('Alerts are not signed');
    expect(refused.text).not.toContain('hush');
    expect(receiver.requests.length).toBe(before);
    expect(await run({})).toMatchObject({
      code: 64,
      text: expect.stringContaining('FLOODGATE_ALERTS_WEBHOOKS'),
    });
  });
});
