/**
 * Decides TCP queries. TCP proves the client's address, so each client has its own token bucket and cannot use up the
 * tokens of others. A further bucket limits all TCP clients together. It is separate from the bucket for UDP.
 */
import type { Question } from '../protocol/index.ts';
import { ClientRates } from './clients/clientRates.ts';
import { reserveOf } from './limits/payment.ts';
import type { QueryPolicy } from './queryPolicy.ts';
import { RecentNames } from './recentNames.ts';
import type { SharedState } from './sharedState.ts';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';
import type { UserEnd } from './userEnd.ts';
import { FIRST_NOT_FORWARDED, type Verdict, verdictOf } from './verdict.ts';

/**
 * Share of the account's rate and burst for one client. Ten flooding clients can empty the bucket for TCP, but not
 * the bucket for UDP.
 */
const CLIENT_SHARE = 0.1;

export interface TcpClient {
  /** Client address as reported by the socket. */
  readonly address: string;
  /** Key that selects the client's token bucket: the client's address or network. */
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

  /** See {@link QueryPolicy.userZone}. */
  get userZone(): number {
    return this.#policy.userZone;
  }

  /** See {@link QueryPolicy.isNameListed}. */
  get isNameListed(): boolean {
    return this.#policy.isNameListed;
  }

  /** See {@link QueryPolicy.countUser}. */
  countUser(userZone: number, end: UserEnd): void {
    this.#policy.countUser(userZone, end);
  }

  /**
   * Returns the verdict on a TCP query, and counts the query in its zone. The caller must count the verdict, because
   * `AttackDetector.verdicts` excludes it.
   */
  decide(question: Question, { address, client }: TcpClient, nowMs: number): Verdict {
    const policy = this.#policy;
    const listed = policy.accessVerdict(question, address);
    if (listed !== undefined) return listed;
    const number = policy.zoneIndex.find(question);
    const zone = policy.zone(number);
    const place = policy.names.find(question.hashHigh, question.hashLow);
    policy.userZone = place < 0 ? 0 : number + 1;
    if (zone.count(place < 0)) {
      zone.suspect(nowMs);
      this.#onAlarm(number, nowMs);
    }
    if (place >= 0) policy.countKnown(question.type, zone, place, false);
    const reason = policy.reasonToPay(question, zone, place, false, nowMs);
    if (reason === 'none') return verdictOf('passed', reason);
    const passesAll = reason === 'zoneRate' && zone.awaitsRate;
    if (passesAll || this.#pay(question, client, nowMs)) return verdictOf('paid', reason);
    const verdict = verdictOf(policy.mayDrop(zone, reason, nowMs) ? 'dropped' : 'wouldDrop', reason);
    zone.countRefusal(verdict >= FIRST_NOT_FORWARDED, place >= 0);
    return verdict;
  }

  /** Like {@link decide}, for a query that consists of a DNS cookie: see {@link QueryPolicy.decideCookie}. */
  decideCookie(question: Question, { address, client }: TcpClient, nowMs: number): Verdict {
    return this.#policy.cookieVerdict(question, address, () => this.#takeToken(client, false, nowMs));
  }

  #pay(question: Question, client: string, nowMs: number): boolean {
    return this.#takeToken(client, this.#recent.note(question.hashHigh, question.hashLow), nowMs);
  }

  #takeToken(client: string, again: boolean, nowMs: number): boolean {
    const { ratePerSecond, burst } = this.#policy.flags.bucket;
    const share = { ratePerSecond: ratePerSecond * CLIENT_SHARE, burst: burst * CLIENT_SHARE };
    this.#bucket.resize(ratePerSecond, burst, nowMs);
    return this.#rates.take(client, share, nowMs) && this.#bucket.take(nowMs, reserveOf(again, burst));
  }
}
