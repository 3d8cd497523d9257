import { Slots } from '../../../platform/budgets/index.ts';
import { neverSent } from '../client/connectionError.ts';
import type { NodeClient } from '../client/nodeClient.ts';
import { NodeBusyError, type NodeError } from '../client/nodeError.ts';
import { NodeTraces, type NodeTracesOptions } from '../tracing/nodeTraces.ts';
import type { Health } from './health.ts';
import type { NodeChain } from './nodeChain.ts';
import type { NodeHeads } from './nodeHeads.ts';
import type { NodeRemoval, NodeState } from './poolState.ts';

/** Number of failures in a row after which a node leaves rotation. After a refused connection it leaves at once. */
const FAILURES_TO_FAIL = 3;
/** Maximum share of failures among about the last twenty requests. Above it, the node leaves rotation. */
const MAX_FAILURE_RATE = 0.5;
/** Weight of the newest request in the moving averages, which thus cover about the last twenty requests. */
const WEIGHT = 0.05;
/** Minimum time out of rotation after a high failure rate: one good poll does not prove that the node recovered. */
const FAILING_PAUSE_MS = 5_000;
/** Duration of a quarantine. It gives the operator time to fix the node. */
const QUARANTINE_MS = 600_000;
/** Minimum time out of rotation, by health, if another process removed the node: its report contains no duration. */
const PAUSES_MS: Partial<Record<Health, number>> = { quarantined: QUARANTINE_MS, busy: 1_000 };
const FIRST_LATENCY_MS = 50;
/** Time after a timeout of a request by ingest in which ingest tries the node after other nodes. */
const LATE_MS = 300_000;
/** Maximum traces that run at one node at the same time. Each uses one processor of the node. */
export const TRACE_SLOTS = { total: 4, perClient: 2 };

interface UpstreamNodeOptions extends NodeTracesOptions {
  /** Slots for traces that clients request. Default: slots that no other process uses. */
  readonly traceSlots?: Slots | undefined;
}

/** One upstream node, with what is known of it: its client, chain, heads, health and traces. */
export class UpstreamNode {
  /** Name for clients and metrics: `node-` and the number of the node in the configuration, from 1. */
  readonly name: string;
  readonly client: NodeClient;
  readonly traces: NodeTraces;
  readonly traceSlots: Slots;
  heads: NodeHeads | undefined;
  /** True if the node answered the last poll. Then `heads` is current. */
  lastPollSucceeded = false;
  /** Chain that the node reported last; undefined if it has not reported one yet. */
  chain: NodeChain | undefined;
  /** True if the chain was verified, and no failure since then suggests that another node is at this address now. */
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
  #lateUntilMs = Number.NEGATIVE_INFINITY;

  constructor(name: string, client: NodeClient, options: UpstreamNodeOptions = {}) {
    this.name = name;
    this.client = client;
    this.traces = new NodeTraces(this.client, options);
    this.traceSlots = options.traceSlots ?? new Slots(TRACE_SLOTS);
  }

  /** Moving average of the response time, over about the last twenty requests. */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  get failures(): number {
    return this.#allFailures;
  }

  get expectedMs(): number {
    return this.#latencyMs * (1 + this.inFlight);
  }

  /** True if a request by ingest to the node has timed out in the last minutes, although it may answer polls. */
  get isLate(): boolean {
    return performance.now() < this.#lateUntilMs;
  }

  timedOut(): void {
    this.#lateUntilMs = performance.now() + LATE_MS;
  }

  answered(elapsedMs: number): void {
    this.#failures = 0;
    this.#failureRate *= 1 - WEIGHT;
    this.recordLatency(elapsedMs);
  }

  /** Adds a duration to the average latency: of a complete request, or of one that was aborted without a response. */
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

  /** Unless the node responded, its chain must be verified again, because another node may be at this address now. */
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

  /** Takes the node out of rotation on behalf of the operator. Requests in flight may finish. */
  drain(): void {
    this.#remove('drained', 0);
    this.lastPollSucceeded = false;
  }

  /** Ends a drain. The node returns to rotation as soon as its chain is verified and it has answered a poll. */
  resume(): void {
    if (this.health === 'drained') this.health = 'unknown';
  }

  /** Records that the node answered a poll. Returns true if the node returns to rotation because of it. */
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

  /** Takes the node out of rotation because another process reported its failure. */
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
    // After an outage, another node may be at this address. A busy node has responded, so no other one replaced it.
    if (health !== 'busy') this.isChainVerified = false;
  }
}
