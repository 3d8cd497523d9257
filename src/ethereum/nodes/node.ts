import { NodeBusyError, NodeConnection, neverSent } from './nodeConnection.ts';
import type { Chain, ChainEnds } from './nodePoll.ts';
import type { NodeError } from './source.ts';

/**
 * What is thought of a node.
 * - `unknown`: it has not told its chain yet.
 * - `good`: it is asked.
 * - `failing`, `busy`: left aside until it answers a poll and its pause is over; asked only where no other is left.
 * - `lying`, `foreign`: caught with a wrong answer, or on another chain: not asked.
 */
export type Standing = 'unknown' | 'good' | 'failing' | 'busy' | 'lying' | 'foreign';

/** Failures in a row after which a node is left aside; a connection that is refused counts at once. */
const FAILURES_TO_FAIL = 3;
/** Above this share of failed requests, over about the last twenty, a node is left aside. */
const MAX_FAILURE_RATE = 0.5;
/** Weight of one request in the averages: about the last twenty count. */
const WEIGHT = 0.05;
/** A node that failed many requests is not trusted again by one good poll. */
const FAILING_PAUSE_MS = 5_000;
/** A node caught lying is looked at again after so long: its operator may have mended it. */
const LYING_PAUSE_MS = 600_000;
/** What a request to a node of which nothing is known yet is expected to take. */
const FIRST_LATENCY_MS = 50;

/** One upstream node: its connection, its chain's ends, and what is thought of it. */
export class UpstreamNode {
  /** What clients and metrics see of it: its place in the configuration. */
  readonly name: string;
  readonly connection: NodeConnection;
  ends: ChainEnds | undefined;
  /** The chain that it said it is on; undefined before. */
  chain: Chain | undefined;
  /** Whether it takes blocks by their hashes where they are asked for state (EIP-1898); undefined before that is known. */
  takesHashes: boolean | undefined;
  standing: Standing = 'unknown';
  inFlight = 0;
  #latencyMs = FIRST_LATENCY_MS;
  #failureRate = 0;
  #failures = 0;
  #asideUntilMs = 0;

  constructor(name: string, url: string) {
    this.name = name;
    this.connection = new NodeConnection(url);
  }

  /** Expected time until an answer, for choosing between nodes. */
  get expectedMs(): number {
    return this.#latencyMs * (1 + this.inFlight);
  }

  answered(elapsedMs: number): void {
    this.#failures = 0;
    this.#failureRate *= 1 - WEIGHT;
    this.slow(elapsedMs);
  }

  /** It took so long, and perhaps has not answered yet. */
  slow(elapsedMs: number): void {
    this.#latencyMs += WEIGHT * (elapsedMs - this.#latencyMs);
  }

  failed(error: NodeError): void {
    this.#failures++;
    this.#failureRate += WEIGHT * (1 - this.#failureRate);
    if (this.standing !== 'good') return;
    if (error instanceof NodeBusyError) this.#setAside('busy', error.retryAfterMs);
    else if (neverSent(error) || this.#failures >= FAILURES_TO_FAIL) this.#setAside('failing', 0);
    else if (this.#failureRate > MAX_FAILURE_RATE) this.#setAside('failing', FAILING_PAUSE_MS);
  }

  lied(): void {
    this.#setAside('lying', LYING_PAUSE_MS);
  }

  foreign(): void {
    this.#setAside('foreign', 0);
  }

  /** It answered a poll. Returns whether that makes it a node to ask again. */
  polled(ends: ChainEnds, elapsedMs: number): boolean {
    this.ends = ends;
    if (this.standing === 'good') {
      if (this.inFlight === 0) this.slow(elapsedMs);
      return false;
    }
    if (this.standing !== 'unknown' && Date.now() < this.#asideUntilMs) return false;
    this.standing = 'good';
    this.#failures = 0;
    this.#failureRate = 0;
    this.#latencyMs = Math.max(elapsedMs, 1);
    return true;
  }

  /** Must tell its chain before it is asked again: it was away, and another node may have come in its place. */
  get mustTellChain(): boolean {
    return this.standing !== 'good' && this.standing !== 'busy';
  }

  #setAside(standing: Standing, pauseMs: number): void {
    this.standing = standing;
    this.#asideUntilMs = Date.now() + pauseMs;
  }
}
