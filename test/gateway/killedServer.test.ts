import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address, Trace } from '../../src/ethereum/traces/index.ts';
import type { LiveTrace } from '../../src/exports/client/index.ts';
import { createTraffic, reorganise, type Traffic } from '../support/anvil.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../support/certificate.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { installedNode } from '../support/newerNode.ts';
import { referenceHistory } from '../support/plainHistory.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type GuardedChild, spawnGuarded } from '../support/spawn.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { readChain } from '../traces/support/nodeChain.ts';
import { remainingTraces } from './support/remainingTraces.ts';

/** One of the contracts that receive most of the traffic. */
const BUSY = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35' as Address;
const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SCRIPT = pathOf('./clients/subscribeTraces.js');
/** The build that installed packages import. */
const LIBRARY = new URL('../../dist/exports/client.js', import.meta.url).href;
const KILLS = 2;

const LINES = [
  { name: 'this Node', node: process.execPath },
  ...[22, 24].map((major) => ({ name: `Node ${major}`, node: installedNode(major) })),
];

interface Subscriber {
  readonly node: string;
  readonly child: GuardedChild;
  readonly reported: LiveTrace[];
  /** Lines of its stderr: opened connections and errors. */
  readonly log: string[];
}

function checkRuns({ node, child, log }: Subscriber): void {
  if (child.exitCode !== null) throw new Error(`the subscriber on ${node} exited:\n${log.join('\n')}`);
}

const NAME = `floodgate/client over TLS during server kills and reorganisations${withOpenssl}`;

describe.skipIf(!hasOpenssl)(NAME, () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-killed-'));
  const [cert, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
  let chain: SharedChain;
  let traffic: Traffic;
  let floodgate: FloodgateProcess;
  let subscribers: Subscriber[] = [];
  /** The final history of the address, read from the node. */
  let history: readonly Trace[];

  const start = (port = '0'): Promise<FloodgateProcess> =>
    startFloodgateProcess({
      upstream: chain.anvil.url,
      dataDir: folder,
      config: {
        tls: { cert, key },
        ops: { port: 0 },
        index: { from: 0, finality: 'none', pollIntervalMs: 100 },
      },
      args: ['--port', port],
      whenListening: true,
    });

  const subscribe = (node: string): Subscriber => {
    const child = spawnGuarded(node, [SCRIPT, LIBRARY, floodgate.gatewayUrl, BUSY, '0'], {
      env: cleanEnvironment({ NODE_EXTRA_CA_CERTS: cert }),
    });
    const [reported, log]: [LiveTrace[], string[]] = [[], []];
    createInterface(child.stdout).on('line', (line) => reported.push(JSON.parse(line)));
    createInterface(child.stderr).on('line', (line) => log.push(line));
    return { node, child, reported, log };
  };

  const truth = async (): Promise<readonly Trace[]> => {
    const { head, traces } = await readChain(chain.anvil.url);
    const query = { addresses: [BUSY], direction: 'either', order: 'asc', filter: {} } as const;
    // Converted to plain JSON values, for comparison with parsed output lines.
    return JSON.parse(JSON.stringify(referenceHistory(traces, query, { fromBlock: 0, toBlock: head })));
  };

  /** Mines until the newest block has traces of the address (random traffic may have none); returns its number. */
  const mineBusy = async (): Promise<number> => {
    for (;;) {
      const { number } = await traffic.step();
      history = await truth();
      if (history.at(-1)?.blockNumber === number) return number;
    }
  };
  const isReportedOf = (number: number) => (subscriber: Subscriber) => {
    checkRuns(subscriber);
    return subscriber.reported.at(-1)?.blockNumber === number;
  };

  beforeAll(async () => {
    makeCertificate({ cert, key });
    chain = await startSharedChain(11);
    const { url } = chain.anvil;
    traffic = await createTraffic({ url, seed: 11 });
    floodgate = await start();
    const { port } = new URL(floodgate.url);
    const opsUrl = /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1];
    await until('the server to be ready', async () => (await fetch(`${opsUrl}/readyz`)).ok);
    subscribers = LINES.flatMap(({ node }) => (node === undefined ? [] : [subscribe(node)]));
    // A subscription fails if it cannot start, so wait until each has received a trace before the first kill.
    const first = await mineBusy();
    await until('all subscribers to receive the first block', () => subscribers.every(isReportedOf(first)));
    for (let kill = 0; kill < KILLS; kill++) {
      const number = await mineBusy();
      // The first kill happens after one subscriber has received the block, the second after all have.
      await until(
        kill === 0 ? 'one subscriber to receive the block' : 'all subscribers to receive the block',
        () => (kill === 0 ? subscribers.some(isReportedOf(number)) : subscribers.every(isReportedOf(number))),
      );
      if (kill === 0) await reorganise({ url, depth: 2, seed: 20 });
      await floodgate.kill();
      // Replaces blocks that subscribers have received while the server is down.
      await reorganise({ url, depth: 3, seed: 21 + kill });
      await traffic.run({ steps: 2 });
      floodgate = await start(port);
      await reorganise({ url, depth: 1, seed: 31 + kill });
    }
    await mineBusy();
  });
  afterAll(async () => {
    for (const { child } of subscribers) child.kill('SIGKILL');
    await floodgate?.stop();
    await chain?.anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.for(LINES)('delivers each trace once and in order on $name', async ({ name, node }, context) => {
    const subscriber = subscribers.find((one) => one.node === node);
    if (node === undefined || subscriber === undefined)
      return context.skip(`${name} is not installed; run .ci/install-node`);
    const { reported, log } = subscriber;
    await until('the complete history', () => {
      checkRuns(subscriber);
      return isDeepStrictEqual(remainingTraces(reported), history);
    });
    expect(reported.some(({ removed }) => removed)).toBe(true);
    const opened = (): string[] => log.filter((line) => line.startsWith('open '));
    await until('a new connection after each kill', () => opened().length > KILLS);
    expect(new Set(opened())).toEqual(new Set(['open wss:']));
  });
});
