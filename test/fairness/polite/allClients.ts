import { LOOPBACK, type Target } from '../target.ts';
import type { PoliteClient, WatchReport } from '../watch.ts';
import { startDnsTcp, startDnsUdp } from './dns.ts';
import { startFilterPoller } from './filterPoller.ts';
import { startHttpCalls } from './httpCalls.ts';
import { startLiveFeed } from './liveFeed.ts';
import { Miner } from './miner.ts';
import { startOperator, startRulesClient, startTokenClient } from './operators.ts';

/** The polite clients use other networks than the greedy clients: DNS limits count each /24. */
const networkOf = (client: number): string => `127.0.${100 + client}.1`;

/** All polite clients, each with its own address. */
export class PoliteClients {
  readonly #miner: Miner;
  readonly #clients: readonly PoliteClient[];

  private constructor(miner: Miner, clients: readonly PoliteClient[]) {
    this.#miner = miner;
    this.#clients = clients;
  }

  static async start(target: Target): Promise<PoliteClients> {
    const miner = new Miner(target);
    return new PoliteClients(miner, [
      ...(await startHttpCalls(target, networkOf(1))),
      await startLiveFeed(target, networkOf(2), miner),
      await startFilterPoller(target, networkOf(3), miner),
      startRulesClient(target, networkOf(4)),
      startOperator(target, LOOPBACK),
      startTokenClient(target, LOOPBACK),
      await startDnsUdp(target, networkOf(5)),
      startDnsTcp(target, networkOf(6)),
    ]);
  }

  /** Returns the results since the last call. */
  take(): WatchReport[] {
    return this.#clients.map(({ watch }) => watch.take());
  }

  /** Waits for outstanding responses, at most `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    await this.#miner.stop(limitMs);
    await Promise.all(this.#clients.map((client) => client.stop(limitMs)));
  }
}
