import { type Config, ConfigError } from '../../config/index.ts';
import { type Webhook, webhookOf } from '../../platform/alerts/index.ts';

/** Returns the webhooks for alerts. Throws `ConfigError`, whose message has no URLs because they may be secret. */
export function webhooksOf({ alerts }: Pick<Config, 'alerts'>): readonly Webhook[] {
  const webhooks = alerts.webhooks.map((text, i) => {
    const webhook = webhookOf(text, `webhook-${i + 1}`);
    if (webhook !== undefined) return webhook;
    throw new ConfigError(
      `alerts.webhooks: entry ${i + 1} is not a valid URL (not shown); allowed: https://HOST/PATH, slack+https://HOST/PATH, ` +
        'or http instead of https, without a fragment (#); write a comma as %2C',
    );
  });
  const keys = webhooks.map(({ key }) => key);
  const twice = keys.findIndex((key, i) => keys.indexOf(key) !== i);
  if (twice !== -1)
    throw new ConfigError(`alerts.webhooks: entry ${twice + 1} is a duplicate; list each URL once`);
  return webhooks;
}
