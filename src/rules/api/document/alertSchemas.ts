/** OpenAPI schemas of the server's alerts. docs/guides/alerts.md explains the members. */
import Type from 'typebox';
import { closedObject, describedObject, moment, oneOf, text } from './schemaParts.ts';

const webhookName = text('Position of the webhook in the configuration: `webhook-1`.');

export const alertSchemas = {
  Alerts: closedObject({
    webhooks: Type.Array(
      closedObject({
        name: webhookName,
        host: text('Host and port. The rest of the URL may be secret.'),
        form: oneOf(['json', 'slack']),
        waiting: Type.Number({ description: 'Alerts that wait for delivery.' }),
        last_attempt: Type.Optional(
          describedObject('Omitted if there was no attempt since the start of the server.', {
            at: moment(),
            delivered: Type.Boolean(),
            reason: Type.Optional(Type.String()),
          }),
        ),
      }),
    ),
    is_signed: Type.Boolean({ description: 'Whether a secret is configured.' }),
    history: Type.Array(
      closedObject({
        id: Type.String({ format: 'uuid' }),
        incident: Type.String({
          format: 'uuid',
          description: 'Same for the start and the end of a problem.',
        }),
        kind: Type.String(),
        state: oneOf(['firing', 'resolved']),
        subject: Type.String(),
        text: Type.String(),
        at: moment(),
        delivered: Type.Array(webhookName, { description: 'Webhooks that confirmed the alert.' }),
      }),
      { maxItems: 100 },
    ),
  }),
  AlertTest: closedObject({
    webhook: webhookName,
    delivered: Type.Boolean(),
    reason: Type.Optional(text('Reason of a failure.')),
    duration_ms: Type.Number(),
  }),
};
