/** Calls and bytes per second that a node may be asked for: paid providers bill what goes beyond, and ban. */
export interface NodeLimits {
  readonly callsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** Of a second's budget, what clients leave to polls and ingest, and what nobody waits for leaves to clients. */
const RESERVED = { firstTry: 0.2, retry: 0, background: 0.5 } as const;

/** What a request is to its node's budget. */
export type Urgency = keyof typeof RESERVED;

/** What a node may be asked for: counted here, or leased from another process. */
export interface Budget {
  /** How many calls clients may send now; as many as there are where only bytes are limited. */
  callsLeft(urgency: Urgency): number;
  /** After how many milliseconds clients may send one, or ask for a lease. */
  waitMs(urgency: Urgency): number;
  takeCalls(calls: number): void;
  takeBytes(bytes: number): void;
  /** Leases calls where none are left. Resolves when it is known whether there are; undefined where it is now. Never rejects. */
  lease(urgency: Urgency): Promise<void> | undefined;
}

/** What is left of a node's budget. What polls, ingest and answers take beyond it is a debt, which is paid before clients go on. */
export class NodeBudget implements Budget {
  readonly #calls: Allowance | undefined;
  readonly #bytes: Allowance | undefined;

  constructor({ callsPerSecond, bytesPerSecond }: NodeLimits) {
    this.#calls = callsPerSecond === undefined ? undefined : new Allowance(callsPerSecond);
    this.#bytes = bytesPerSecond === undefined ? undefined : new Allowance(bytesPerSecond);
  }

  /** Undefined for a node without limits. */
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

  /** All there are are here. */
  lease(): undefined {
    return undefined;
  }
}

/** Grows by its rate up to a second's worth; may be overdrawn. */
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
