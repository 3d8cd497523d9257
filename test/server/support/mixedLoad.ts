import { setTimeout as pause } from 'node:timers/promises';
import { query, RCODE, UdpClient } from '../../dns/support/dnsClient.ts';
import { ZONE_NAME } from '../../dns/support/guardInFront.ts';
import { send } from '../../rules/support/call.ts';
import { newRule, rulesPath } from '../../rules/support/samples.ts';
import { plainAnswer } from '../../support/plainFilter.ts';
import { Random } from '../../support/random.ts';
import { callTraceFilter, type FilterAnswer, withoutId } from '../../traces/support/callTraceFilter.ts';
import type { NodeChain } from '../../traces/support/nodeChain.ts';
import { addressesOf, type Query, randomQuery } from '../../traces/support/randomQuery.ts';
import { type Cluster, GATEWAYS, GUARDS, type ServerName } from './cluster.ts';

/** Pause between requests, so that the servers get enough CPU time. */
const PAUSE_MS = 500;
const DNS_WAIT_MS = 1_000;
/** Rules per account, below the limit of 1,000. */
const RULES_OF_ACCOUNT = 500;
/** Error codes that a gateway may return: a block is not indexed yet, or the index is unavailable. */
const UNAVAILABLE = [-32001, -32603];
/** Error code for a range that ends after the head: possible while the chain of the node is shorter than before. */
const BEHIND_HEAD = -32602;

interface Acknowledged {
  readonly account: string;
  readonly rule: { readonly id: string };
}

/**
 * Sends requests of each kind to all running servers, one at a time, and compares the responses with the expected
 * ones.
 */
export class MixedLoad {
  readonly #machines: Cluster;
  readonly #random = new Random(72);
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly acknowledged: Acknowledged[] = [];
  /** Number of correct responses by server. */
  readonly answered = new Map<ServerName, number>();
  readonly wrong: string[] = [];
  /** The chain that queries refer to. It only grows, except in `whileReplaced`. */
  chain: NodeChain;
  /** During a reorganisation: the chain before and after it. */
  #chains: Promise<readonly NodeChain[]> | undefined;
  readonly #judging: Promise<void>[] = [];

  constructor(machines: Cluster, chain: NodeChain) {
    this.#machines = machines;
    this.chain = chain;
    this.#running = Promise.all([
      ...GATEWAYS.flatMap((name) => [
        this.#repeat(() => this.#askTraces(name)),
        this.#repeat(() => this.#addRule(name)),
      ]),
      ...GUARDS.map(async (name) => {
        const client = await new UdpClient().open();
        await this.#repeat(() => this.#askDns(name, client));
        client.close();
      }),
    ]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Runs a reorganisation. Each response during it must match the old or the new chain completely. */
  async whileReplaced(replace: () => Promise<NodeChain>): Promise<void> {
    const before = this.chain;
    const replaced = replace();
    this.#chains = replaced.then((after) => [before, after]);
    this.chain = await replaced;
    this.#chains = undefined;
    await Promise.all(this.#judging.splice(0));
  }

  answersOf(name: ServerName): number {
    return this.answered.get(name) ?? 0;
  }

  /** Returns a random filter with block numbers only, so that its meaning does not change while the chain grows. */
  query(): Query {
    const addresses = addressesOf(this.chain.traces);
    for (;;) {
      const made = randomQuery(this.#random, this.chain, addresses);
      const bounds = [made.asked['fromBlock'], made.asked['toBlock']];
      if (bounds.every((bound) => typeof bound === 'number' || /^0x/.test(String(bound)))) return made;
    }
  }

  async #repeat(turn: () => Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await turn();
      await pause(PAUSE_MS);
    }
  }

  async #askTraces(name: ServerName): Promise<void> {
    const server = this.#machines.servers.get(name);
    if (server === undefined) return;
    const query = this.query();
    const { chain } = this;
    const asked = this.#chains;
    const answer = await callTraceFilter(server.gatewayUrl, query.asked).catch(() => undefined); // the server was killed
    if (answer === undefined) return;
    const replaced = asked ?? this.#chains;
    // A request can take longer than a whole reorganisation.
    const chains = this.chain === chain ? [chain] : [chain, this.chain];
    if (replaced === undefined) this.#judge(name, query, { answer, chains });
    else this.#judging.push(replaced.then((chains) => this.#judge(name, query, { answer, chains })));
  }

  #judge(
    name: ServerName,
    { asked, meant }: Query,
    { answer, chains }: { readonly answer: FilterAnswer; readonly chains: readonly NodeChain[] },
  ): void {
    const allowed = chains.length > 1 ? [...UNAVAILABLE, BEHIND_HEAD] : UNAVAILABLE;
    if (answer.error !== undefined && allowed.includes(answer.error.code)) return;
    const expected = chains.map(({ traces }) => plainAnswer(traces, meant));
    this.#compare(name, JSON.stringify(asked), { found: withoutId(answer), expected });
  }

  async #addRule(name: ServerName): Promise<void> {
    const server = this.#machines.servers.get(name);
    if (server === undefined) return;
    const account = `load-${Math.floor(this.acknowledged.length / RULES_OF_ACCOUNT)}`;
    const body = { ...newRule, scope: 'datacenter', name: `place-${this.acknowledged.length}` };
    const at = { baseUrl: `${server.url}/client/v4` };
    const path = rulesPath(account);
    const made = await send(at, { method: 'POST', path, body }).catch(() => undefined);
    if (made?.status === 200) {
      this.acknowledged.push({ account, rule: made.json.result });
      this.#count(name);
    } else if (made !== undefined && made.status !== 503)
      this.wrong.push(`${name}: ${made.status} ${made.text}`);
  }

  async #askDns(name: ServerName, client: UdpClient): Promise<void> {
    const port = this.#machines.servers.get(name)?.dnsPort;
    if (port === undefined) return;
    const id = this.#random.below(2 ** 16);
    client.answers.delete(id);
    client.send(query(`www.${ZONE_NAME}`, 1, id), { host: '127.0.0.1', port });
    await client.wait(() => client.answers.has(id), DNS_WAIT_MS);
    const answer = client.answers.get(id);
    if (answer === undefined) return;
    this.#compare(name, 'DNS', { found: [answer.rcode, answer.answers], expected: [[RCODE.NOERROR, 1]] });
  }

  #compare(
    name: ServerName,
    asked: string,
    { found, expected }: { readonly found: unknown; readonly expected: readonly unknown[] },
  ): void {
    const text = JSON.stringify(found);
    if (expected.some((one) => JSON.stringify(one) === text)) this.#count(name);
    else this.wrong.push(`${name}, request ${asked}: ${text.slice(0, 500)}`);
  }

  #count(name: ServerName): void {
    this.answered.set(name, this.answersOf(name) + 1);
  }
}
