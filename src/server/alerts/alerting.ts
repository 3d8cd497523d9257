/** Alerts of this server: what is looked at, how often, and what is told. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import type { Attack, AttackEvent } from '../../dns/attacks/index.ts';
import { Alerts, HeldConditions } from '../../platform/alerts/index.ts';
import type { TokenStore } from '../../rules/index.ts';
import { reconcileAttacks, tellAttack } from './attackAlerts.ts';
import { EXPIRING_KEYS, expiringCertificates, expiringTokens, expiryOver } from './expiring.ts';
import { type Looked, UNWELL_KEYS, unwell, wellAgain } from './unwell.ts';
import { webhooksOf } from './webhooks.ts';

const LOOK_MS = 1_000;
const EXPIRY_LOOK_MS = 60_000;

/** What is looked at while the server runs. */
export interface Watched {
  looked(): Looked;
  /** Those that last at the start. */
  readonly attacks: readonly Attack[];
  /** None where this server has no store of them. */
  readonly tokens: Pick<TokenStore, 'list'> | undefined;
}

export class Alerting {
  readonly #alerts: Alerts;
  readonly #config: Config;
  readonly #log: Logger;
  readonly #unwell: HeldConditions;
  readonly #expiring: HeldConditions;

  /** Undefined where no webhook is configured. Throws `ConfigError` where one is no URL. */
  static async open(
    config: Config,
    { logger, registry }: { readonly logger: Logger; readonly registry: Registry },
  ): Promise<Alerting | undefined> {
    const webhooks = webhooksOf(config);
    if (webhooks.length === 0) return undefined;
    const { secret, allowPrivate } = config.alerts;
    const alerts = await Alerts.open(
      { webhooks, secret, allowPrivate, folder: join(config.dataDir, 'alerts') },
      { log: logger, metrics: registry },
    );
    return new Alerting(alerts, config, logger);
  }

  private constructor(alerts: Alerts, config: Config, log: Logger) {
    this.#alerts = alerts;
    this.#config = config;
    this.#log = log;
    const held = (holdMs: number, over: (key: string) => string): HeldConditions =>
      new HeldConditions(
        { holdMs },
        {
          openKeys: (prefix) => alerts.openKeys(prefix),
          begin: (condition) => alerts.begin(condition),
          end: (key) => alerts.end(key, { text: over(key) }),
        },
      );
    this.#unwell = held(config.alerts.afterMs, wellAgain);
    this.#expiring = held(0, expiryOver);
  }

  attack(event: AttackEvent): void {
    tellAttack(event, this.#alerts);
  }

  /** Looks from now on. Returns a function that ends that: a server that stops is not unwell. */
  watch(watched: Watched): () => void {
    reconcileAttacks(watched.attacks, this.#alerts);
    const look = (): void => this.#unwell.look(UNWELL_KEYS, unwell(watched.looked()), performance.now());
    const lookAtExpiry = (): void => void this.#lookAtExpiry(watched.tokens);
    lookAtExpiry();
    const timers = [setInterval(look, LOOK_MS).unref(), setInterval(lookAtExpiry, EXPIRY_LOOK_MS).unref()];
    return () => {
      for (const timer of timers) clearInterval(timer);
    };
  }

  stop(): Promise<void> {
    return this.#alerts.stop();
  }

  async #lookAtExpiry(tokens: Watched['tokens']): Promise<void> {
    const nowMs = Date.now();
    try {
      const conditions = [
        ...expiringTokens((await tokens?.list()) ?? [], nowMs),
        ...(await expiringCertificates(this.#config, nowMs)),
      ];
      this.#expiring.look(EXPIRING_KEYS, conditions, performance.now());
    } catch (error) {
      // The store that cannot be read is told of by whoever watches it.
      this.#log.warn(
        { reason: String(error) },
        'tokens cannot be read: whether one expires is looked at later',
      );
    }
  }
}
