import { neverSent } from './connectionError.ts';
import type { Health } from './health.ts';
import type { NodeChain } from './nodeChain.ts';
import type { NodeClient } from './nodeClient.ts';
import { NodeBusyError, type NodeError } from './nodeError.ts';
import type { NodeHeads } from './nodeHeads.ts';
import { NodeTraces } from './nodeTraces.ts';
import type { NodeState, SetAside } from './poolState.ts';
import type { TraceMethodFound } from './traceMethodDetector.ts';

/** Failures in a row after which a node is out of rotation; a connection that is refused counts at once. */
const FAILURES_TO_FAIL = 3;
/** Above this share of failed requests, over about the last twenty, a node is out of rotation. */
const MAX_FAILURE_RATE = 0.5;
/** Weight of one request in the averages: about the last twenty count. */
const WEIGHT = 0.05;
/** A node that failed many requests is not trusted again by one good poll. */
const FAILING_PAUSE_MS = 5_000;
/** A node caught with an invalid response is looked at again after so long: its operator may have mended it. */
const QUARANTINE_MS = 600_000;
/** How long a node stays out of rotation that another process has taken out of it: of why, its health alone is known. */
const PAUSES_MS: Partial<Record<Health, number>> = { quarantined: QUARANTINE_MS, busy: 1_000 };
/** What a request to a node of which nothing is known yet is expected to take. */
const FIRST_LATENCY_MS = 50;

/** One upstream node: its client, its chain and heads, its health, and its traces. */
export class UpstreamNode {
  /** What clients and metrics see of it: its place in the configuration. */
  readonly name: string;
  readonly client: NodeClient;
  readonly traces: NodeTraces;
  /** As it told them last. */
  heads: NodeHeads | undefined;
  /** Whether its last poll was answered, so that its heads are those of now. */
  isHeard = false;
  /** The chain that it said it is on; undefined before. */
  chain: NodeChain | undefined;
  /** Its chain was compared, and nothing has happened since by which another node could have come in its place. */
  isChainVerified = false;
  /** Whether it takes blocks by their hashes where they are asked for state (EIP-1898); undefined before that is known. */
  takesHashes: boolean | undefined;
  health: Health = 'unknown';
  inFlight = 0;
  /** What was wrong the last time that something was, for operators. */
  lastFailure: { readonly reason: string; readonly atMs: number } | undefined;
  #allFailures = 0;
  #latencyMs = FIRST_LATENCY_MS;
  #failureRate = 0;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(name: string, client: NodeClient, traceMethodFound?: TraceMethodFound) {
    this.name = name;
    this.client = client;
    this.traces = new NodeTraces(this.client, traceMethodFound);
  }

  /** Time until an answer, averaged over about the last twenty. */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  /** Times that it failed since the start. */
  get failures(): number {
    return this.#allFailures;
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
    this.#note(error.message);
    this.#failureRate += WEIGHT * (1 - this.#failureRate);
    this.doubtChain(error);
    if (this.health !== 'healthy') return;
    if (error instanceof NodeBusyError) this.#remove('busy', error.retryAfterMs);
    else if (neverSent(error) || this.#failures >= FAILURES_TO_FAIL) this.#remove('failing', 0);
    else if (this.#failureRate > MAX_FAILURE_RATE) this.#remove('failing', FAILING_PAUSE_MS);
  }

  /** Behind the address of a node that broke off or refused, another node may stand by now. */
  doubtChain(error: NodeError): void {
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

  /** Sets it aside. What it is asked already it may finish. */
  drain(): void {
    this.#remove('drained', 0);
    this.isHeard = false;
  }

  /** Puts it back: it is asked again once it answers a poll and its chain was compared. */
  resume(): void {
    if (this.health === 'drained') this.health = 'unknown';
  }

  /** It answered a poll. Returns whether that puts it back into rotation. */
  polled(heads: NodeHeads, elapsedMs: number): boolean {
    if (this.health === 'drained') return false;
    this.heads = heads;
    this.isHeard = true;
    if (this.health === 'healthy') {
      if (this.inFlight === 0) this.slow(elapsedMs);
      return false;
    }
    if (this.health !== 'unknown' && Date.now() < this.#pausedUntilMs) return false;
    this.health = 'healthy';
    this.#failures = 0;
    this.#failureRate = 0;
    this.#latencyMs = Math.max(elapsedMs, 1);
    return true;
  }

  /** What its polls have found, for another process. */
  get state(): NodeState {
    const { health, heads, isHeard, chain, isChainVerified, takesHashes } = this;
    return { health, heads, isHeard, chain, isChainVerified, takesHashes };
  }

  /** Becomes what polls of another process have found. */
  follow({ health, heads, isHeard, chain, isChainVerified, takesHashes }: NodeState): void {
    if (health === 'healthy' && this.health !== 'healthy') {
      this.#failures = 0;
      this.#failureRate = 0;
    }
    Object.assign(this, { health, heads, isHeard, chain, isChainVerified, takesHashes });
  }

  /** Another process, which asks it too, has taken it out of rotation. */
  setAside({ health, reason }: SetAside): void {
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
    // It was away: another node may come in its place. One that only asks for a pause was not.
    if (health !== 'busy') this.isChainVerified = false;
  }
}
