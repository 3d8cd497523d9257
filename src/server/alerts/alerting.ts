/** Alerts of this server: monitored conditions, check intervals and webhook delivery. */

import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import type { Attack, AttackEvent } from '../../dns/attacks/index.ts';
import {
  Alerts,
  type AlertsReport,
  ConditionDebouncer,
  type TestResult,
  testAlert,
} from '../../platform/alerts/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import type { TokenStore } from '../../rules/index.ts';
import type { Tuning } from '../tuning.ts';
import { reconcileAttacks, reportAttack } from './attackAlerts.ts';
import { EXPIRING_KEYS, expiringCertificates, expiringTokens, expiryResolvedText } from './expiring.ts';
import { FAULT_KEYS, faultConditions, faultResolvedText, type MonitoredState } from './serverFaults.ts';
import { webhooksOf } from './webhooks.ts';

/**
 * A fault that is shorter than this causes no alert, and one that returns within this time continues its alert.
 * Attacks are reported at once.
 */
const HOLD_MS = 30_000;
const CHECK_INTERVAL_MS = 1_000;
const EXPIRY_CHECK_INTERVAL_MS = 60_000;

export interface AlertSources {
  state(): MonitoredState;
  /** Attacks that are still active at startup. */
  readonly attacks: readonly Attack[];
  /** The API tokens; undefined if this server opens no token store. */
  readonly tokens: Pick<TokenStore, 'list'> | undefined;
}

export interface AlertingDependencies {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly tuning: Tuning;
}

export class Alerting {
  readonly #alerts: Alerts;
  readonly #config: Config;
  readonly #log: Logger;
  readonly #unwell: ConditionDebouncer;
  readonly #expiring: ConditionDebouncer;

  /** Resolves with undefined if no webhook is configured. Rejects with `ConfigError` if one is not a valid URL. */
  static async open(
    config: Config,
    { logger, registry, tuning }: AlertingDependencies,
  ): Promise<Alerting | undefined> {
    const webhooks = webhooksOf(config);
    if (webhooks.length === 0) return undefined;
    const { secret, allowPrivate } = config.alerts;
    const alerts = await Alerts.open(
      { webhooks, secret, allowPrivate, folder: join(config.dataDir, 'alerts') },
      { log: logger, metrics: registry },
    );
    return new Alerting(alerts, config, { logger, holdMs: tuning.alertHoldMs });
  }

  private constructor(
    alerts: Alerts,
    config: Config,
    { logger, holdMs = HOLD_MS }: { readonly logger: Logger; readonly holdMs: number | undefined },
  ) {
    this.#alerts = alerts;
    this.#config = config;
    this.#log = logger;
    const held = (holdMs: number, over: (key: string) => string): ConditionDebouncer =>
      new ConditionDebouncer(
        { holdMs },
        {
          openKeys: (prefix) => alerts.openKeys(prefix),
          begin: (condition) => alerts.begin(condition),
          end: (key) => alerts.end(key, { text: over(key) }),
        },
      );
    this.#unwell = held(holdMs, faultResolvedText);
    this.#expiring = held(0, expiryResolvedText);
  }

  attack(event: AttackEvent): void {
    reportAttack(event, this.#alerts);
  }

  /** Starts the checks. Returns a function that stops them, so that a server that is stopping reports no faults. */
  watch(watched: AlertSources): () => void {
    reconcileAttacks(watched.attacks, this.#alerts);
    const look = (): void =>
      this.#unwell.observe(FAULT_KEYS, faultConditions(watched.state()), performance.now());
    const lookAtExpiry = (): void =>
      inBackground('expiry of tokens', () => this.#lookAtExpiry(watched.tokens));
    lookAtExpiry();
    const timers = [
      setInterval(look, CHECK_INTERVAL_MS).unref(),
      setInterval(lookAtExpiry, EXPIRY_CHECK_INTERVAL_MS).unref(),
    ];
    return () => {
      for (const timer of timers) clearInterval(timer);
    };
  }

  report(): AlertsReport {
    return this.#alerts.report();
  }

  test(): Promise<readonly TestResult[]> {
    return this.#alerts.test(testAlert('POST /alerts/test'));
  }

  stop(): Promise<void> {
    return this.#alerts.stop();
  }

  async #lookAtExpiry(tokens: AlertSources['tokens']): Promise<void> {
    const nowMs = Date.now();
    try {
      const conditions = [
        ...expiringTokens((await tokens?.list()) ?? [], nowMs),
        ...expiringCertificates(this.#config, nowMs),
      ];
      this.#expiring.observe(EXPIRING_KEYS, conditions, performance.now());
    } catch (error) {
      // The store watch already reports a store that cannot be read.
      this.#log.warn({ reason: String(error) }, 'cannot read tokens: checking their expiry later');
    }
  }
}
