import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../test/support/certificate.ts';
import { ConfigError, loadConfig } from '../../config/index.ts';
import type { Health } from '../../ethereum/nodes/index.ts';
import type { Hash, TraceFailure, UnavailableBlock } from '../../ethereum/traces/index.ts';
import type { Token } from '../../rules/index.ts';
import { expiringCertificates, expiringTokens } from './expiring.ts';
import { faultConditions, faultResolvedText } from './serverFaults.ts';
import { webhooksOf } from './webhooks.ts';

const DAY_MS = 24 * 3_600_000;
const HASH = `0x${'ab'.repeat(32)}` as Hash; // 32 bytes
const folder = mkdtempSync(join(tmpdir(), 'floodgate-alerts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const configOf = (environment: Record<string, string>) => loadConfig({ environment, flags: {} });

describe('an alert about a fault', () => {
  const node = (health: Health, reason?: string) => ({
    name: 'node-1',
    client: { host: 'node.example:8545' } as never, // only the host of a client is read
    health,
    lastFailure: reason === undefined ? undefined : { reason, atMs: 0 },
  });
  const of = (health: Health, reason?: string) =>
    faultConditions({
      networks: new Map([
        ['mainnet', { nodes: [node(health, reason)], notReady: undefined, unavailable: [] }],
      ]),
      storeProblem: undefined,
    });

  it('fires for each unused node, unless an operator drained it', () => {
    expect(of('healthy', 'it was once')).toEqual([]);
    expect(of('drained')).toEqual([]);
    for (const health of ['unknown', 'failing', 'busy', 'quarantined', 'wrongChain'] as const)
      expect(of(health)).toMatchObject([{ kind: 'node_unhealthy', details: { health } }]);
    const [reported] = of('failing', 'ECONNREFUSED');
    expect(reported).toMatchObject({
      subject: 'mainnet/node-1',
      text: 'The node node-1 (node.example:8545) of mainnet fails to answer correctly: ECONNREFUSED.',
    });
    expect(faultResolvedText(reported?.key ?? '')).toMatch(/^The node mainnet\/node-1 is healthy again/);
  });

  it('fires for blocks that no node can trace', () => {
    const block = (number: number, unavailable: TraceFailure): UnavailableBlock => ({
      number,
      unavailable,
      hash: HASH,
      parentHash: HASH,
      timestamp: 1,
      traceCount: 0,
    });
    const of = (...unavailable: UnavailableBlock[]) =>
      faultConditions({
        networks: new Map([['mainnet', { nodes: [], notReady: undefined, unavailable }]]),
        storeProblem: undefined,
      });
    expect(of(block(17, 'oversized'))).toEqual([
      {
        key: 'unwell/blocks_unavailable/mainnet',
        kind: 'blocks_unavailable',
        subject: 'mainnet',
        text: 'mainnet: 1 block is unavailable, because no node can trace it: 17 (oversized). All other blocks are served.',
        details: { network: 'mainnet', count: 1, blocks: [{ number: 17, hash: HASH, reason: 'oversized' }] },
      },
    ]);
    const [many] = of(...Array.from({ length: 30 }, (_, i) => block(i, 'timeout')));
    expect(many?.text).toContain('30 blocks are unavailable');
    expect(many?.text).toContain('3 (timeout), 4 (timeout) and 25 more');
    expect(many?.details?.['blocks']).toHaveLength(20);
    expect(faultResolvedText(many?.key ?? '')).toBe('All blocks of mainnet are available again.');
  });

  it('fires for an index that lags, and for a store that cannot be written', () => {
    const networks = new Map([
      ['mainnet', { nodes: [], notReady: 'the index is 9 blocks behind the node', unavailable: [] }],
    ]);
    const reported = faultConditions({ networks, storeProblem: 'No space left on device' });
    expect(reported).toMatchObject([
      { kind: 'store_unavailable', text: 'The store cannot be written: No space left on device.' },
      { kind: 'ingest_behind', subject: 'mainnet', text: expect.stringContaining('9 blocks behind') },
    ]);
    expect(reported.map(({ key }) => faultResolvedText(key))).toEqual([
      'The store can be written again.',
      'The index of mainnet is up to date again.',
    ]);
  });
});

describe('an alert about expiry', () => {
  const NOW = Date.parse('2026-11-20T00:00:00Z');
  const token = (id: string, [lifeDays, leftDays]: readonly [number, number], revoked = false): Token => ({
    id,
    hash: '',
    label: `label of ${id}`,
    accounts: 'all',
    permissions: [],
    created_on: new Date(NOW + (leftDays - lifeDays) * DAY_MS).toISOString(),
    expires_on: new Date(NOW + leftDays * DAY_MS).toISOString(),
    revoked_on: revoked ? new Date(NOW).toISOString() : null,
  });
  const expiring = (...tokens: readonly Token[]) =>
    expiringTokens(tokens, NOW).map(({ details }) => details?.['token']);

  it('fires for a valid token in its last week, or in the last quarter of a shorter life', () => {
    const forever = { ...token('forever', [1, 1]), expires_on: null };
    expect(
      expiring(
        token('in-8', [90, 8]),
        token('in-7', [90, 7]),
        token('in-1', [90, 1]),
        token('over', [90, -1]),
        forever,
        token('fresh', [1, 0.9]),
        token('short', [1, 0.2]),
        token('revoked', [90, 1], true),
      ),
    ).toEqual(['short', 'in-1', 'in-7']);
    expect(expiring(...Array.from({ length: 5000 }, (_, i) => token(`t${i}`, [90, 1])))).toHaveLength(100);
    expect(expiringTokens([token('a', [90, 1])], NOW)[0]?.text).toMatch(
      /^The token label of a with the id a expires at 2026-11-21 00:00 UTC/,
    );
  });

  it.skipIf(!hasOpenssl)(
    `fires for a certificate in its last two weeks or after its expiry${withOpenssl}`,
    () => {
      makeCertificate({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), days: 90 });
      const config = configOf({ FLOODGATE_OPS_TLS_CERT: join(folder, 'cert.pem') });
      const untilMs = Date.now() + 90 * DAY_MS;
      const at = (daysBefore: number) =>
        expiringCertificates(config, untilMs - daysBefore * DAY_MS).map(({ text }) => text);
      expect(at(15)).toEqual([]);
      expect(at(13)).toMatchObject([expect.stringMatching(/^The certificate of ops.tls.cert expires at/)]);
      expect(at(-1)).toMatchObject([expect.stringContaining('has expired')]);
      writeFileSync(join(folder, 'cert.pem'), 'no certificate');
      expect(at(-1)).toEqual([]);
    },
  );
});

describe('alerts.webhooks', () => {
  it.each([
    ['https://user:hush@/hush', /entry 1 is not a valid URL/],
    ['https://ok.example/hush,https://ok.example/#hush', /entry 2 is not a valid URL/],
    ['https://ok.example/hush,https://ok.example/hush', /entry 2 is a duplicate/],
    ['ftp://ok.example/hush', /\(not shown\); allowed: a list of at most 8 different URLs/],
  ])('with the value %s is rejected by a message without the value', (text, says) => {
    const refused = () => webhooksOf(configOf({ FLOODGATE_ALERTS_WEBHOOKS: text }));
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(says);
    expect(refused).not.toThrow('hush');
  });
});
