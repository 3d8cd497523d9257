/**
 * The policy for one query over TCP, where the address of a client is a proven one: unknown names pay from a bucket of that
 * client's, so that nobody uses up what others need, and all together from a bucket beside the one of UDP.
 */
import type { Question } from '../protocol/index.ts';
import { ClientRates } from './clients/clientRates.ts';
import { reserveOf } from './payment.ts';
import type { QueryPolicy } from './queryPolicy.ts';
import { RecentNames } from './recentNames.ts';
import type { SharedState } from './sharedState.ts';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';
import { FIRST_REFUSAL, type Verdict, verdictOf } from './verdict.ts';

/** So much of the account's bucket is one client's: ten that flood leave nothing to each other, and all to UDP. */
const CLIENT_SHARE = 0.1;

/** Who asks over TCP. */
export interface TcpClient {
  /** As the socket gives it. */
  readonly address: string;
  /** Whose it counts as: the address, or its network. */
  readonly client: string;
}

export class TcpPolicy {
  readonly #policy: QueryPolicy;
  readonly #onAlarm: (zone: number, nowMs: number) => void;
  readonly #recent: RecentNames;
  readonly #rates = new ClientRates();
  readonly #bucket = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);

  constructor(policy: QueryPolicy, memory: SharedState, onAlarm: (zone: number, nowMs: number) => void) {
    this.#policy = policy;
    this.#onAlarm = onAlarm;
    this.#recent = new RecentNames(memory.recent);
  }

  /** Decides about a query, and counts it in its zone. */
  decide(question: Question, { address, client }: TcpClient, nowMs: number): Verdict {
    const policy = this.#policy;
    const listed = policy.listed(question, address);
    if (listed !== undefined) return listed;
    const number = policy.zoneIndex.find(question);
    const zone = policy.zone(number);
    const place = policy.names.find(question.hashHigh, question.hashLow);
    if (zone.count(place < 0)) {
      zone.suspect(nowMs);
      this.#onAlarm(number, nowMs);
    }
    const reason = policy.reasonToPay(question, zone, place, false, nowMs);
    if (reason === 'none') return verdictOf('passed', reason);
    if (this.#pay(question, client, nowMs)) return verdictOf('paid', reason);
    const verdict = verdictOf(policy.mayDrop(zone, nowMs) ? 'dropped' : 'wouldDrop', reason);
    zone.countRefusal(verdict >= FIRST_REFUSAL, place >= 0);
    return verdict;
  }

  #pay(question: Question, client: string, nowMs: number): boolean {
    const { ratePerSecond, burst } = this.#policy.flags.bucket;
    const again = this.#recent.note(question.hashHigh, question.hashLow);
    const share = { ratePerSecond: ratePerSecond * CLIENT_SHARE, burst: burst * CLIENT_SHARE };
    this.#bucket.resize(ratePerSecond, burst, nowMs);
    return this.#rates.take(client, share, nowMs) && this.#bucket.take(nowMs, reserveOf(again, burst));
  }
}
