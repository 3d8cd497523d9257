import { setTimeout as pause } from 'node:timers/promises';
import { query, RCODE, UdpClient } from '../../dns/support/dnsClient.ts';
import { ZONE_NAME } from '../../dns/support/guardInFront.ts';
import { send } from '../../rules/support/call.ts';
import { newRule, rulesPath } from '../../rules/support/samples.ts';
import { plainFilter } from '../../support/plainFilter.ts';
import { Random } from '../../support/random.ts';
import { ask } from '../../traces/support/ask.ts';
import type { NodeChain } from '../../traces/support/nodeChain.ts';
import { addressesOf, type Query, randomQuery } from '../../traces/support/randomQuery.ts';
import { GATEWAYS, GUARDS, type Machines, type ServerName } from './machines.ts';

/** So that questions take part of the machine, and the servers the rest. */
const PAUSE_MS = 100;
const DNS_WAIT_MS = 1_000;
/** An account has at most 1,000 rules. */
const RULES_OF_ACCOUNT = 500;
/** What a gateway may say where it cannot answer: a block is not there yet, or the index is away. */
const UNAVAILABLE = [-32001, -32603];

interface Acknowledged {
  readonly account: string;
  readonly rule: { readonly id: string };
}

/** Asks all servers that run, one question after the other of each kind, and holds the answers against what is true. */
export class MixedLoad {
  readonly #machines: Machines;
  readonly #random = new Random(72);
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly acknowledged: Acknowledged[] = [];
  /** Right answers, by server. */
  readonly answered = new Map<ServerName, number>();
  readonly wrong: string[] = [];
  /** What the index was asked about: it only grows. */
  chain: NodeChain;

  constructor(machines: Machines, chain: NodeChain) {
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

  answersOf(name: ServerName): number {
    return this.answered.get(name) ?? 0;
  }

  /** A filter over blocks by their numbers: what it means does not change while the chain grows. */
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
    const { asked, meant } = this.query();
    const expected = plainFilter(this.chain.traces, meant);
    const answer = await ask(server.gatewayUrl, asked).catch(() => undefined); // it was killed
    if (answer === undefined) return;
    const { result, error } = answer;
    if (result !== undefined) this.#compare(name, JSON.stringify(asked), [result, expected]);
    else if (!UNAVAILABLE.includes(error?.code ?? 0)) this.wrong.push(`${name}: ${JSON.stringify(answer)}`);
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
    this.#compare(name, 'DNS', [
      [answer.rcode, answer.answers],
      [RCODE.NOERROR, 1],
    ]);
  }

  #compare(name: ServerName, asked: string, [found, expected]: [unknown, unknown]): void {
    if (JSON.stringify(found) === JSON.stringify(expected)) this.#count(name);
    else this.wrong.push(`${name}, asked ${asked}: ${JSON.stringify(found).slice(0, 500)}`);
  }

  #count(name: ServerName): void {
    this.answered.set(name, this.answersOf(name) + 1);
  }
}
