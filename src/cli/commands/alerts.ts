import type { Command } from 'commander';
import { ConfigError } from '../../config/index.ts';
import { bodyOf, sendAlert, testAlert } from '../../platform/alerts/index.ts';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { print } from '../output/print.ts';

const OPTIONS = ['alerts.webhooks', 'alerts.secret', 'alerts.allowPrivate'];

/** `floodgate alerts test`: sends a test alert to each configured webhook. Needs no running server. */
export function registerAlerts(program: Command): void {
  const group = program.command('alerts').description('test the alerts of a server');
  const command = group
    .command('test')
    .description('send one test alert to each configured webhook; needs no running server');
  addOwnConfigFlags(command, OPTIONS).action(async () => {
    const { webhooksOf } = await import('../../server/index.ts');
    const config = readConfig(command);
    const webhooks = webhooksOf(config);
    if (webhooks.length === 0)
      throw new ConfigError(
        'no webhook is configured: set alerts.webhooks in the file, or FLOODGATE_ALERTS_WEBHOOKS',
      );
    const { secret, allowPrivate } = config.alerts;
    const alert = testAlert('floodgate alerts test');
    for (const webhook of webhooks) {
      const startMs = performance.now();
      const failure = await sendAlert(webhook, bodyOf(alert, webhook.form), { secret, allowPrivate });
      const outcome = failure?.reason ?? `delivered in ${Math.round(performance.now() - startMs)} ms`;
      await print(`${webhook.name} (${webhook.url.host}, ${webhook.form}): ${outcome}`);
      if (failure !== undefined) process.exitCode = EXIT_CODES.failed;
    }
    if (secret === undefined) await print('Alerts are not signed: alerts.secret is not set.');
  });
}
