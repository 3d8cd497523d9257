import type { Registry } from 'prom-client';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import type { AttackDetector, SampleBatch } from '../detector/index.ts';

/** Dependencies of a data plane, passed by the controller. */
export interface DataPlaneContext {
  /** Attack detector: gives a verdict for each UDP query, learns from each answer, and counts user queries. */
  readonly detector: AttackDetector;
  readonly log: Log;
  readonly isSeeding: () => boolean;
}

/**
 * Forwards DNS traffic: passes, drops or answers each query as the detector decides, and reports answers to the
 * detector. The controller starts it when a rule is in force, and calls `stop` even if `start` failed.
 */
export interface DataPlane {
  /** Addresses on which the data plane serves DNS. Empty if another program serves it. */
  readonly addresses: readonly ServerAddress[];
  /** Starts to serve DNS, or to control the program that serves DNS. Rejects on failure. */
  start(): Promise<void>;
  /** Called when the rule has changed or a zone is seeded; possibly before `start`. */
  policyChanged(): void;
  /** Receives each seeded name in wire form. For data planes that need the name and not only its hash. */
  nameSeeded?(owner: Uint8Array): void;
  /** Called every second, after the detector has updated its zones. */
  tick(nowMs: number): void;
  /**
   * Only for a data plane in which some packets do not reach the detector: returns how many times each verdict was
   * applied. Without this method, the counters of the detector are used.
   */
  verdicts?(): Float64Array;
  /** Returns the samples since the last call. Samples are collected only if `detector.samplesLimited` is true. */
  takeSamples(): readonly SampleBatch[];
  /** Returns the reason why DNS is not served as configured, for the readiness check. */
  notReadyReason(): string | undefined;
  registerMetrics(registry: Registry): void;
  stop(): Promise<void>;
}

export type MakeDataPlane<P extends DataPlane = DataPlane> = (context: DataPlaneContext) => P;
