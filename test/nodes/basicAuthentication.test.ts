import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import {
  type AuthenticatedNode,
  PASSWORD,
  startAuthenticatedNode,
  USER,
} from '../support/authenticatedNode.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** User, password and the Basic credentials, in every encoding in which they could be printed. */
const SECRETS = [USER, PASSWORD].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
]);
SECRETS.push(Buffer.from(`${USER}:${PASSWORD}`).toString('base64'));

function expectNoSecret(text: string): void {
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
}

describe('a node that requires a user and password', () => {
  let anvil: Anvil;
  let node: AuthenticatedNode;
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-guarded-'));

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: 11 })).run({ steps: 5 });
    node = await startAuthenticatedNode(anvil.url);
  });
  afterAll(async () => {
    await Promise.all([node.stop(), anvil.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('is used with the credentials of its URL, which appear in no output', async () => {
    const server = await startFloodgate({ upstream: node.urlWithPassword });
    try {
      const { json: traces } = await call(server.gatewayUrl, 'trace_filter', { fromBlock: '0x0' });
      expect(traces.result.length).toBeGreaterThan(5);
      const { json, headers } = await call(server.gatewayUrl, 'eth_chainId');
      expect(json.result).toBe('0x7a69');
      expect(node.refused()).toBe(0);
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expectNoSecret(server.output() + metrics + JSON.stringify(headers));
    } finally {
      await server.stop();
    }
    const doctor = await run(['doctor', '--upstream', node.urlWithPassword]);
    expect(doctor).toMatchObject({ status: 0, stdout: expect.stringContaining('can be indexed from') });
    expectNoSecret(doctor.stdout + doctor.stderr);
  });

  test('is reported if it rejects the credentials, which appear in no log, error, metric or report', async () => {
    const url = node.urlWithPassword.replace('@127', 'x@127');
    const doctor = await run(['doctor', '--upstream', url]);
    expect(doctor).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/HTTP status 401: it requires a user and password, or other ones/),
    });
    const index = await run(['index', '--from', '0', '--upstream', url, '--data-dir', folder]);
    const server = await startFloodgate({ upstream: url, whenListening: true });
    try {
      const ready = await until('the reason in /readyz', async () => {
        const text = await (await fetch(`${server.url}/readyz`)).text();
        return text.includes('HTTP status 401') && text;
      });
      const { text } = await call(server.gatewayUrl, 'eth_chainId');
      const { text: traces } = await call(server.gatewayUrl, 'trace_filter', {});
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      for (const written of [doctor, index]) expectNoSecret(written.stdout + written.stderr);
      expectNoSecret(ready + text + traces + metrics + server.output());
    } finally {
      await server.stop();
    }
  });

  test('is rejected at start if its URL is invalid, and the URL is not printed', async () => {
    const refused = [
      ['start', 'http://ops:hid/den@'],
      ['index', 'http://ops:hidden@a b:1', '--from', '0'],
      ['doctor', 'ftp://ops:hidden@node'],
    ].map(async ([command = '', url = '', ...flags]) => {
      const { status, stdout, stderr } = await run([command, '--upstream', url, ...flags]);
      expect({ status, stdout }).toEqual({ status: 64, stdout: '' });
      expect(stderr).toMatch(/upstream/);
      expect(stderr).not.toMatch(/hid/);
    });
    await Promise.all(refused);
  });
});
