import { type Config, ConfigError } from '../../config/index.ts';
import { type Webhook, webhookOf } from '../../platform/alerts/index.ts';

/** Where alerts are sent. Throws `ConfigError`, which shows no URL. */
export function webhooksOf({ alerts }: Pick<Config, 'alerts'>): readonly Webhook[] {
  const webhooks = alerts.webhooks.map((text, i) => {
    const webhook = webhookOf(text, `webhook-${i + 1}`);
    if (webhook !== undefined) return webhook;
    throw new ConfigError(
      `alerts.webhooks: number ${i + 1} is no URL (not shown); allowed: https://HOST/PATH, slack+https://HOST/PATH, ` +
        'and the same with http, without a # and what follows it; a comma in it is written %2C',
    );
  });
  const keys = webhooks.map(({ key }) => key);
  const twice = keys.findIndex((key, i) => keys.indexOf(key) !== i);
  if (twice !== -1)
    throw new ConfigError(`alerts.webhooks: number ${twice + 1} is there already; each can be named once`);
  return webhooks;
}
