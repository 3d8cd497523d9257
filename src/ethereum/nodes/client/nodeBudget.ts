/** Maximum calls and bytes per second of a node. Paid providers bill or ban clients that exceed their limits. */
export interface NodeLimits {
  readonly callsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** Share of the per-second budget that each urgency must leave unused. */
const RESERVED = { firstTry: 0.2, retry: 0, background: 0.5 } as const;

/** Priority of a request in the node's budget. */
export type Urgency = keyof typeof RESERVED;

/** Call and byte budget of a node, counted in this process or leased from another one. */
export interface Budget {
  /** Number of calls that may be sent now; unlimited if only bytes are limited. */
  callsLeft(urgency: Urgency): number;
  /** Milliseconds until a call may be sent or a lease requested. */
  waitMs(urgency: Urgency): number;
  takeCalls(calls: number): void;
  takeBytes(bytes: number): void;
  /** Leases calls if none are left. Returns undefined if a lease is not needed or not possible. Never rejects. */
  lease(urgency: Urgency): Promise<void> | undefined;
}

/** Remaining budget of a node. Polls, ingest and responses may overdraw it; client calls wait until it is repaid. */
export class NodeBudget implements Budget {
  readonly #calls: Allowance | undefined;
  readonly #bytes: Allowance | undefined;

  constructor({ callsPerSecond, bytesPerSecond }: NodeLimits) {
    this.#calls = callsPerSecond === undefined ? undefined : new Allowance(callsPerSecond);
    this.#bytes = bytesPerSecond === undefined ? undefined : new Allowance(bytesPerSecond);
  }

  /** Returns undefined for a node without limits. */
  static of(limits: NodeLimits): NodeBudget | undefined {
    const { callsPerSecond, bytesPerSecond } = limits;
    return callsPerSecond === undefined && bytesPerSecond === undefined ? undefined : new NodeBudget(limits);
  }

  callsLeft(urgency: Urgency): number {
    if ((this.#bytes?.left(RESERVED[urgency]) ?? 1) <= 0) return 0;
    return Math.max(0, Math.floor(this.#calls?.left(RESERVED[urgency]) ?? Number.POSITIVE_INFINITY));
  }

  waitMs(urgency: Urgency): number {
    const reserved = RESERVED[urgency];
    return Math.max(this.#calls?.waitMs(reserved, 1) ?? 0, this.#bytes?.waitMs(reserved, 1) ?? 0);
  }

  takeCalls(calls: number): void {
    this.#calls?.take(calls);
  }

  takeBytes(bytes: number): void {
    this.#bytes?.take(bytes);
  }

  /** Does nothing, because the whole budget is in this process. */
  lease(): undefined {
    return undefined;
  }
}

/** Token bucket with a burst of one second; may be overdrawn. */
class Allowance {
  readonly #perSecond: number;
  #left: number;
  #atMs = performance.now();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  left(reserved: number): number {
    const nowMs = performance.now();
    this.#left = Math.min(this.#perSecond, this.#left + ((nowMs - this.#atMs) / 1_000) * this.#perSecond);
    this.#atMs = nowMs;
    return this.#left - reserved * this.#perSecond;
  }

  waitMs(reserved: number, wanted: number): number {
    return Math.max(0, ((wanted - this.left(reserved)) / this.#perSecond) * 1_000);
  }

  take(count: number): void {
    this.left(0);
    this.#left -= count;
  }
}
