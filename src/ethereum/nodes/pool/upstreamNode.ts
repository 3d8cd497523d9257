import { neverSent } from '../client/connectionError.ts';
import type { NodeClient } from '../client/nodeClient.ts';
import { NodeBusyError, type NodeError } from '../client/nodeError.ts';
import { NodeTraces, type NodeTracesOptions } from '../tracing/nodeTraces.ts';
import type { Health } from './health.ts';
import type { NodeChain } from './nodeChain.ts';
import type { NodeHeads } from './nodeHeads.ts';
import type { NodeRemoval, NodeState } from './poolState.ts';

/** Number of failures in a row that take a node out of rotation. A refused connection does so immediately. */
const FAILURES_TO_FAIL = 3;
/** Maximum share of failed requests, over about the last twenty; above it the node leaves rotation. */
const MAX_FAILURE_RATE = 0.5;
/** Weight of one request in the moving averages: about the last twenty count. */
const WEIGHT = 0.05;
/** Minimum time out of rotation after a high failure rate, because one good poll is not enough. */
const FAILING_PAUSE_MS = 5_000;
/** Duration of a quarantine, long enough for the operator to fix the node. */
const QUARANTINE_MS = 600_000;
/** Time out of rotation if another process removed the node, because that process reports no duration. */
const PAUSES_MS: Partial<Record<Health, number>> = { quarantined: QUARANTINE_MS, busy: 1_000 };
const FIRST_LATENCY_MS = 50;

/** One upstream node: client, chain, heads, health and traces. */
export class UpstreamNode {
  /** Name for clients and metrics: the index in the configuration. */
  readonly name: string;
  readonly client: NodeClient;
  readonly traces: NodeTraces;
  heads: NodeHeads | undefined;
  /** True if the last poll succeeded, so that `heads` is current. */
  lastPollSucceeded = false;
  /** Chain that the node reported; undefined before the first report. */
  chain: NodeChain | undefined;
  /** Whether the chain was verified and nothing since then could have put another node at this address. */
  isChainVerified = false;
  /** True if the node accepts block hashes in state requests (EIP-1898); undefined while unknown. */
  supportsBlockHashes: boolean | undefined;
  health: Health = 'unknown';
  inFlight = 0;
  lastFailure: { readonly reason: string; readonly atMs: number } | undefined;
  #allFailures = 0;
  #latencyMs = FIRST_LATENCY_MS;
  #failureRate = 0;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(name: string, client: NodeClient, traces?: NodeTracesOptions) {
    this.name = name;
    this.client = client;
    this.traces = new NodeTraces(this.client, traces);
  }

  /** Moving average of the response time over about the last twenty responses. */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  get failures(): number {
    return this.#allFailures;
  }

  get expectedMs(): number {
    return this.#latencyMs * (1 + this.inFlight);
  }

  answered(elapsedMs: number): void {
    this.#failures = 0;
    this.#failureRate *= 1 - WEIGHT;
    this.recordLatency(elapsedMs);
  }

  /** Records a request's duration so far, even if no response has arrived. */
  recordLatency(elapsedMs: number): void {
    this.#latencyMs += WEIGHT * (elapsedMs - this.#latencyMs);
  }

  failed(error: NodeError): void {
    this.#failures++;
    this.#note(error.message);
    this.#failureRate += WEIGHT * (1 - this.#failureRate);
    this.invalidateChain(error);
    if (this.health !== 'healthy') return;
    if (error instanceof NodeBusyError) this.#remove('busy', error.retryAfterMs);
    else if (neverSent(error) || this.#failures >= FAILURES_TO_FAIL) this.#remove('failing', 0);
    else if (this.#failureRate > MAX_FAILURE_RATE) this.#remove('failing', FAILING_PAUSE_MS);
  }

  /** After a broken or refused connection, another node may be at this address. */
  invalidateChain(error: NodeError): void {
    if (error.reason !== 'oversized' && !(error instanceof NodeBusyError)) this.isChainVerified = false;
  }

  quarantine(reason: string): void {
    this.#note(reason);
    this.#remove('quarantined', QUARANTINE_MS);
  }

  isOnWrongChain(reason: string): void {
    this.#note(reason);
    this.#remove('wrongChain', 0);
  }

  /** Takes the node out of rotation. Running requests may finish. */
  drain(): void {
    this.#remove('drained', 0);
    this.lastPollSucceeded = false;
  }

  /** Ends a drain. The node returns to rotation after its chain was verified and it has answered a poll. */
  resume(): void {
    if (this.health === 'drained') this.health = 'unknown';
  }

  /** Records a successful poll. Returns true if that puts the node back into rotation. */
  polled(heads: NodeHeads, elapsedMs: number): boolean {
    if (this.health === 'drained') return false;
    this.heads = heads;
    this.lastPollSucceeded = true;
    if (this.health === 'healthy') {
      if (this.inFlight === 0) this.recordLatency(elapsedMs);
      return false;
    }
    if (this.health !== 'unknown' && Date.now() < this.#pausedUntilMs) return false;
    this.health = 'healthy';
    this.#failures = 0;
    this.#failureRate = 0;
    this.#latencyMs = Math.max(elapsedMs, 1);
    return true;
  }

  get state(): NodeState {
    const { health, heads, lastPollSucceeded, chain, isChainVerified, supportsBlockHashes } = this;
    return {
      health,
      heads,
      lastPollSucceeded,
      chain,
      isChainVerified,
      supportsBlockHashes,
    };
  }

  adopt({ health, heads, lastPollSucceeded, chain, isChainVerified, supportsBlockHashes }: NodeState): void {
    if (health === 'healthy' && this.health !== 'healthy') {
      this.#failures = 0;
      this.#failureRate = 0;
    }
    Object.assign(this, { health, heads, lastPollSucceeded, chain, isChainVerified, supportsBlockHashes });
  }

  /** Takes the node out of rotation on behalf of another process that uses it. */
  removeFromRotation({ health, reason }: NodeRemoval): void {
    this.#note(reason);
    this.#remove(health, PAUSES_MS[health] ?? 0);
  }

  #note(reason: string): void {
    this.#allFailures++;
    this.lastFailure = { reason, atMs: Date.now() };
  }

  #remove(health: Health, pauseMs: number): void {
    if (this.health === 'drained') return;
    this.health = health;
    this.#pausedUntilMs = Date.now() + pauseMs;
    // After an outage another node may be at this address. A busy node was not away.
    if (health !== 'busy') this.isChainVerified = false;
  }
}
