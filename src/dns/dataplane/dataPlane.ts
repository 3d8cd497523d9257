import type { Registry } from 'prom-client';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import type { AttackDetector, SampleBatch } from '../detector/index.ts';

/** What a data plane is made with. */
export interface DataPlaneContext {
  /** Decides about each query over UDP (`decide`) and learns from each answer (`learnAnswer`). */
  readonly detector: AttackDetector;
  readonly log: Log;
  /** Whether names of a zone are being put into the profile now. */
  readonly isSeeding: () => boolean;
}

/**
 * What carries DNS: it lets pass, drops or answers each packet as the detector decides, and shows the detector the answers.
 * The controller makes it, starts it when a rule is in force, and stops it, also after a start that failed.
 */
export interface DataPlane {
  /** Where it answers DNS; none where another program does. */
  readonly addresses: readonly ServerAddress[];
  /** Begins to answer, or to drive what answers. Rejects where it cannot. */
  start(): Promise<void>;
  /**
   * The rule in force has changed, or all names of a zone are known: carry it out now. It comes before the start, too.
   * Nothing to do where every query is decided about by the detector, which knows already.
   */
  policyChanged(): void;
  /** A name of a zone was put into the profile; in wire form. For planes that need more than its hash. */
  nameSeeded?(owner: Uint8Array): void;
  /** Every second, when the detector has looked after its zones. */
  tick(nowMs: number): void;
  /**
   * How often each verdict was carried out since the start, by its number, for planes whose packets the detector may not all
   * see. The detector's own count where left out.
   */
  verdicts?(): Float64Array;
  /**
   * Queries that an attack cost, sampled since the last call: asked for every second. A plane notes them (`RefusedSamples`) while
   * the detector says `samplesRefusals`, and at no other time.
   */
  takeSamples(): readonly SampleBatch[];
  /** Why DNS is not answered as configured, for the readiness check; undefined where it is. */
  notReady(): string | undefined;
  registerMetrics(registry: Registry): void;
  /** Stops answering and lets go of everything. */
  stop(): Promise<void>;
}

export type MakeDataPlane<P extends DataPlane = DataPlane> = (context: DataPlaneContext) => P;
