import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attack } from '../../src/dns/attacks/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { type AlertReceiver, isSigned, startAlertReceiver } from '../support/alertReceiver.ts';
import { connect } from '../support/anvil.ts';
import { startSharedChain } from '../support/sharedChain.ts';
import { startFloodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const SECRET = 'a-secret-of-alerts-0123456789';
const HIDDEN_PATH = '/services/hidden-path';
const DAY_MS = 24 * 3_600_000;
/** An address without a listener. */
const NOBODY = '127.0.0.1:9';
/** For servers in the test process: alerts fire immediately. */
const tuning = { alertHoldMs: 0 };
/** For separate processes: the clock of alerts runs 60 times as fast. */
const FAST_CLOCK = {
  NODE_OPTIONS: `--require ${fileURLToPath(new URL('../support/fastClock.cjs', import.meta.url))}`,
};

let dataDir: string;
let closing: Array<() => unknown>;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'floodgate-alerts-'));
  closing = [];
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(dataDir, { recursive: true, force: true });
});

const receiverOf = async (...respond: Parameters<typeof startAlertReceiver>): Promise<AlertReceiver> => {
  const receiver = await startAlertReceiver(...respond);
  closing.push(() => receiver.stop());
  return receiver;
};
const environment = (...urls: readonly string[]) => {
  writeFileSync(join(dataDir, 'secret'), `${SECRET}\n`);
  writeFileSync(join(dataDir, 'webhooks'), urls.join('\n'));
  return {
    FLOODGATE_ALERTS_WEBHOOKS_FILE: join(dataDir, 'webhooks'),
    FLOODGATE_ALERTS_SECRET_FILE: join(dataDir, 'secret'),
    FLOODGATE_ALERTS_ALLOW_PRIVATE: 'true',
  };
};

describe('the alerts of a server', () => {
  it('report nodes, ingest, the store and tokens, are signed, and are kept with their ids after a kill', async () => {
    // A token close to its expiry.
    const storage = openRulesStorage(dataDir, { now: () => (Date.now() - 360 * DAY_MS) * 1000 });
    const expires_on = new Date(Date.now() + 2 * DAY_MS).toISOString().replace('Z', '000+00:00');
    const token = {
      hash: 'ab'.repeat(32),
      label: 'pipeline',
      accounts: 'all',
      permissions: [],
      expires_on,
    } as const;
    const { id } = await storage.tokens.create(token, { by: 'test', from: 'local' });
    await storage.close();

    const hangs = await receiverOf(() => undefined);
    const env = environment(`${hangs.url}${HIDDEN_PATH}`);
    const options = { config: { upstream: [`http://${NOBODY}`] }, dataDir, whenListening: true, env };
    const killed = await startFloodgateProcess({ ...options, env: { ...env, ...FAST_CLOCK } });
    closing.push(() => killed.kill());
    await until('the first alert to be sent', () => hangs.requests.length > 0);
    await until('three alerts in the queue', () =>
      ['node_unhealthy', 'ingest_behind', 'token_expires'].every((kind) => waiting().includes(`"${kind}"`)),
    );
    await killed.kill();
    const before = JSON.parse(waiting()).waiting.map(({ alert }: { alert: object }) => alert);
    expect(before[0]).toEqual(hangs.alerts()[0]);

    // These receivers accept alerts. The webhook keeps its position in the configuration.
    const slack = await receiverOf();
    const json = await receiverOf();
    const moved = `${json.url}${HIDDEN_PATH}`;
    const known = JSON.parse(waiting());
    const server = await startFloodgate({
      ...options,
      env: environment(moved, `slack+${slack.url}${HIDDEN_PATH}`),
      tuning,
    });
    closing.push(() => server.stop());
    expect(
      known.open.map(({ condition }: { condition: { kind: string } }) => condition.kind).toSorted(),
    ).toEqual(['ingest_behind', 'node_unhealthy', 'token_expires']);
    renameSync(join(dataDir, 'rules', 'data.mdb'), join(dataDir, 'rules', 'away.mdb'));
    const store = await until('the alert store_unavailable', () =>
      json.alerts().find(({ kind }) => kind === 'store_unavailable'),
    );
    expect(store).toMatchObject({
      state: 'firing',
      subject: 'store',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    renameSync(join(dataDir, 'rules', 'away.mdb'), join(dataDir, 'rules', 'data.mdb'));
    const well = await until('the resolved alert', () =>
      json.alerts().find(({ state }) => state === 'resolved'),
    );
    expect(well).toMatchObject({ kind: 'store_unavailable', incident: store.incident });
    // Alerts that were sent before the kill are not sent again.
    expect(json.alerts().map(({ kind }) => kind)).toEqual(['store_unavailable', 'store_unavailable']);
    for (const request of json.requests) expect(isSigned(request, SECRET)).toBe(true);
    await until('both alerts at the Slack webhook', () => slack.requests.length === 2);
    expect(slack.requests.map(({ body }) => Object.keys(JSON.parse(body)))).toEqual([
      ['text', 'mrkdwn'],
      ['text', 'mrkdwn'],
    ]);
    expect(JSON.parse(slack.requests[0]?.body ?? '').text).toMatch(/^\[FIRING\] store unavailable: store\n/);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('floodgate_alert_deliveries_total{webhook="webhook-1",outcome="delivered"} 2');
    expect(before).toContainEqual(
      expect.objectContaining({ kind: 'token_expires', subject: `pipeline (${id})` }),
    );
    for (const output of [killed.output(), server.output(), waiting(), metrics])
      for (const secret of [SECRET, 'hidden-path']) expect(output).not.toContain(secret);
  });

  it('are delivered to the same webhook after a kill, with unchanged ids', async () => {
    let isAway = true;
    const receiver = await receiverOf((response) => {
      if (isAway) response.destroy();
      else response.writeHead(200).end();
    });
    const options = { config: { upstream: [`http://${NOBODY}`] }, dataDir, whenListening: true };
    const env = environment(receiver.url);
    const killed = await startFloodgateProcess({ ...options, env: { ...env, ...FAST_CLOCK } });
    closing.push(() => killed.kill());
    await until(
      'both alerts in the queue',
      () => /node_unhealthy/.test(waiting()) && /ingest_behind/.test(waiting()),
    );
    await killed.kill();
    const ids = JSON.parse(waiting()).waiting.map(({ alert }: { alert: { id: string } }) => alert.id);
    const failed = receiver.requests.length;
    isAway = false;
    const server = await startFloodgate({ ...options, env, tuning });
    closing.push(() => server.stop());
    // The last request of the killed server may arrive after this count.
    const arrived = () =>
      receiver
        .alerts()
        .slice(failed)
        .map(({ id }) => id);
    await until('the alerts with these ids', () => ids.every((id: string) => arrived().includes(id)));
    expect(arrived().filter((id) => !ids.includes(id))).toEqual([]);
    await until('an empty queue', () => JSON.parse(waiting()).waiting.length === 0);
  });

  it('report that ingest lags behind the head of its node, and that it has caught up', async () => {
    const { anvil } = await startSharedChain();
    closing.push(() => anvil.stop());
    const node = await startInterceptedNode(anvil.url);
    closing.push(() => node.stop());
    const receiver = await receiverOf();
    const server = await startFloodgate({
      upstream: node.url,
      args: ['--index-poll-interval-ms', '50'],
      dataDir,
      env: environment(receiver.url),
      tuning,
    });
    closing.push(() => server.stop());
    // During the start the index lags too, and on a slow machine an alert fires.
    const isResolved = (incident: string): boolean =>
      receiver.alerts().some((alert) => alert.incident === incident && alert.state === 'resolved');
    await until('the alerts of the start to be resolved', () =>
      receiver.alerts().every(({ incident }) => isResolved(incident)),
    );
    const before = receiver.alerts().length;
    // The node delays traces only: ingest starts with a new block, then the chain grows.
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let held = 0;
    node.intercept = async ({ methods }, answer) => {
      if (methods.some((method) => /^(trace|debug)_/.test(method))) {
        held++;
        await released;
      }
      return answer();
    };
    closing.push(release);
    const chain = connect(anvil.url);
    await chain.call('evm_mine');
    await until('a request for the traces of the block', () => held > 0);
    for (let block = 0; block < 8; block++) await chain.call('evm_mine');
    const firing = await until('the alert ingest_behind', () =>
      receiver
        .alerts()
        .slice(before)
        .find(({ kind, text }) => kind === 'ingest_behind' && text.includes('blocks behind')),
    );
    expect(firing).toMatchObject({
      state: 'firing',
      subject: 'mainnet',
      text: expect.stringMatching(/^The index of mainnet lags: the index is [6-9] blocks behind the node\.$/),
      details: { network: 'mainnet' },
    });
    const ready = await fetch(`${server.url}/readyz`);
    expect(ready.status).toBe(503);
    release();
    const resolved = await until('the resolved alert', () =>
      receiver.alerts().find(({ incident, state }) => incident === firing.incident && state === 'resolved'),
    );
    expect(resolved.text).toBe('The index of mainnet is up to date again.');
  });

  it('report an attack that ended while the guard was down, and the log contains it', async () => {
    const began = new Date(Date.now() - 3_600_000).toISOString();
    const none = { queries: 0, unknown_names: 0, limited: 0, would_drop: 0 };
    const attack: Attack = {
      id: randomUUID(),
      state: 'active',
      zones: ['example.test'],
      zone_count: 1,
      detected_by: 'unknown_rate',
      started_on: began,
      last_seen_on: began,
      now: none,
      peak: { ...none, queries: 900 },
      queries: 5000,
      unknown_names: 4900,
      limited: 4000,
      would_drop: 0,
      limited_share: 0.8,
      known_names: { asked: 100, answered: 100, limited: 0, would_drop: 0 },
      response_codes: {},
      top: { sampled: 0, weight: 0, names: [], types: [], networks: [] },
      sampled_names: [],
      changes: [],
    };
    const attacks = DnsStore.open(dataDir);
    await attacks.putAttacks([attack]);
    await attacks.close();
    const receiver = await receiverOf();
    const dns = { account: 'a', listen: ['127.0.0.1:0'], servers: [NOBODY] };
    const server = await startFloodgate({
      config: { role: 'rules,guard', dns },
      dataDir,
      whenListening: true,
      env: environment(receiver.url),
    });
    closing.push(() => server.stop());
    await until('the firing and the resolved alert', () => receiver.requests.length === 2);
    const [firing, resolved] = receiver.alerts();
    expect(firing).toMatchObject({
      kind: 'attack',
      state: 'firing',
      subject: 'example.test',
      incident: resolved?.incident,
      details: { attack: attack.id, zones: ['example.test'] },
    });
    expect(resolved).toMatchObject({
      state: 'resolved',
      text: expect.stringMatching(
        /^The attack on example.test ended after 0 s: 5000 queries, at most 900 per second/,
      ),
    });
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.includes('attack ended'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        attack: attack.id,
        zones: ['example.test'],
        zoneCount: 1,
        seconds: 0,
        queries: 5000,
        limited: 4000,
        wouldDrop: 0,
        peakPerSecond: 900,
      },
    ]);
  });
});

function waiting(): string {
  const file = join(dataDir, 'alerts', 'alerts.json');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
