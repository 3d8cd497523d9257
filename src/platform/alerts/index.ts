/** Signed HTTP notifications when a condition starts and ends, delivered at least once, with bounded memory. */
export { type Condition, type Details, testAlert } from './alert.ts';
export { Alerts, type AlertsReport, type TestResult } from './alerts.ts';
export { ConditionDebouncer } from './conditionDebouncer.ts';
export { sendAlert } from './sendAlert.ts';
export { bodyOf, type Webhook, webhookOf } from './webhook.ts';
