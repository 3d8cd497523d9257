import type { Registry } from 'prom-client';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import type { AttackDetector, SampleBatch } from '../detector/index.ts';

/** Dependencies of a data plane, passed by the controller. */
export interface DataPlaneContext {
  /** Gives verdicts on queries, learns from answers, and counts the outcomes of users' queries (for known names). */
  readonly detector: AttackDetector;
  readonly log: Log;
  readonly isSeeding: () => boolean;
}

/**
 * Forwards DNS traffic: passes, drops or answers each query as the attack detector decides, and reports answers to
 * the detector. The controller calls `start` after it has read the rules and access lists. It calls `stop` even if
 * `start` failed or was not called.
 */
export interface DataPlane {
  /** Addresses on which the data plane serves DNS. Empty if another program, such as dnsdist, serves DNS. */
  readonly addresses: readonly ServerAddress[];
  /** Starts to serve DNS, or to control the program that serves DNS. Rejects on failure. */
  start(): Promise<void>;
  /** Called when the rule in force or an access list has changed, or a zone is seeded; possibly before `start`. */
  policyChanged(): void;
  /** Receives each seeded name in wire form. Needed only by data planes that use the name instead of its hash. */
  nameSeeded?(owner: Uint8Array): void;
  /** Called before `policyChanged` when the detector has forgotten names. Needed by the same data planes. */
  namesForgotten?(): void;
  /** Called every second, after the attack detector has updated the state of its zones. */
  tick(nowMs: number): void;
  /** Returns whether the DNS servers are healthy, for example by `UpstreamHealth`. Called every second. */
  upstreamsHealthy(nowMs: number): boolean;
  /**
   * Returns how many times each verdict was applied, indexed by verdict. Without this method, the controller uses the
   * counters of the detector, which lack queries that the detector does not receive.
   */
  verdicts?(): Float64Array;
  /** Returns samples of the queries that were limited since the last call. */
  takeSamples(): readonly SampleBatch[];
  /** Returns why DNS is not served as configured, for the readiness check. Undefined if it is. */
  notReadyReason(): string | undefined;
  registerMetrics(registry: Registry): void;
  stop(): Promise<void>;
}

export type MakeDataPlane<P extends DataPlane = DataPlane> = (context: DataPlaneContext) => P;
