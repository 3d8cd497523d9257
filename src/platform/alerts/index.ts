/** Alerts: what operators are told by HTTP when something begins and when it is over, signed, bounded, and at least once. */
export { alertOf, type Condition, type Details } from './alert.ts';
export { Alerts } from './alerts.ts';
export { HeldConditions } from './heldConditions.ts';
export { sendAlert } from './sendAlert.ts';
export { bodyOf, type Webhook, webhookOf } from './webhook.ts';
