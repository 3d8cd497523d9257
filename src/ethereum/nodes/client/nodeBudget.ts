/** Maximum calls and bytes per second of a node. Providers bill or ban clients that exceed such limits. */
export interface NodeLimits {
  readonly callsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** Share of the budget per second that requests must leave unused, by their urgency. */
const RESERVED = { firstTry: 0.2, retry: 0, background: 0.5 } as const;

/** Urgency of a request: it decides how much of a node's budget the request must leave unused. */
export type Urgency = keyof typeof RESERVED;

/** Budget of a node in calls and bytes per second. It is counted in this process, or leased from another process. */
export interface Budget {
  /** Returns the number of calls that may be sent now; infinite if the node limits only bytes. */
  callsLeft(urgency: Urgency): number;
  /** Returns the milliseconds until a call may be sent, or until a lease may be requested. */
  waitMs(urgency: Urgency): number;
  takeCalls(calls: number): void;
  takeBytes(bytes: number): void;
  /** Leases calls if none are left. Returns undefined if no lease is needed or may be requested. Never rejects. */
  lease(urgency: Urgency): Promise<void> | undefined;
}

/** Budget of a node, counted in this process. Polls, ingest and responses may overdraw it; client calls then wait. */
export class NodeBudget implements Budget {
  readonly #calls: Allowance | undefined;
  readonly #bytes: Allowance | undefined;

  constructor({ callsPerSecond, bytesPerSecond }: NodeLimits) {
    this.#calls = callsPerSecond === undefined ? undefined : new Allowance(callsPerSecond);
    this.#bytes = bytesPerSecond === undefined ? undefined : new Allowance(bytesPerSecond);
  }

  /** Returns the budget of a node with these limits; undefined if the node has no limits. */
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

  /** Returns undefined, because this process has the whole budget. */
  lease(): undefined {
    return undefined;
  }
}

/** Token bucket whose burst is the rate of one second. It may be overdrawn. */
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
