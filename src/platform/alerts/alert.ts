import { randomUUID } from 'node:crypto';

/** A condition that operators are alerted of, when it starts and when it ends. */
export interface Condition {
  /** Identifies the condition, even after a restart: `node/mainnet/node-1`. */
  readonly key: string;
  /** The kind of condition, a fixed word such as `node_unhealthy`. */
  readonly kind: string;
  /** The zone, node or store that the condition concerns. */
  readonly subject: string;
  readonly text: string;
  readonly details?: Details;
}

export type Details = Readonly<Record<string, unknown>>;

export interface Alert {
  /** Identifies the alert. Identical in all attempts to deliver it. */
  readonly id: string;
  /** Identical in the alert that a condition fires and the alert that resolves it. */
  readonly incident: string;
  readonly kind: string;
  readonly state: 'firing' | 'resolved';
  readonly subject: string;
  readonly text: string;
  /** Time at which the start or end of the condition was detected. */
  readonly at: string;
  readonly details: Details;
}

const MAX_SUBJECT_CHARACTERS = 300;
const MAX_TEXT_CHARACTERS = 1500;

/** Creates an alert about a condition. Truncates subject and text, and replaces their control characters. */
export function alertOf(ids: Pick<Alert, 'id' | 'incident' | 'at'>, condition: AlertContent): Alert {
  const { kind, state, subject, text, details = {} } = condition;
  return {
    ...ids,
    kind,
    state,
    subject: plain(subject, MAX_SUBJECT_CHARACTERS),
    text: plain(text, MAX_TEXT_CHARACTERS),
    details,
  };
}

/** Returns an alert that tests webhooks and reports no condition. `from` is the command or page that sends it. */
export const testAlert = (from: string): Alert =>
  alertOf(
    { id: randomUUID(), incident: randomUUID(), at: new Date().toISOString() },
    {
      kind: 'test',
      state: 'firing',
      subject: from,
      text: 'This is a test. Alerts of Floodgate are delivered to this webhook.',
    },
  );

type AlertContent = Omit<Condition, 'key'> & Pick<Alert, 'state'>;

function plain(text: string, maxCharacters: number): string {
  const clean = text.replaceAll(/\p{C}/gu, '\uFFFD');
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters)}…` : clean;
}
