/** A lasting condition that operators are alerted of. */
export interface Condition {
  /** Identifies the condition, even after a restart: `node/mainnet/node-1`. */
  readonly key: string;
  /** A fixed word, such as `node_unhealthy`. */
  readonly kind: string;
  /** Zone, node or store. */
  readonly subject: string;
  readonly text: string;
  readonly details?: Details;
}

export type Details = Readonly<Record<string, unknown>>;

export interface Alert {
  /** Identical in all delivery attempts. */
  readonly id: string;
  /** Identical in the firing and the resolved message. */
  readonly incident: string;
  readonly kind: string;
  readonly state: 'firing' | 'resolved';
  readonly subject: string;
  readonly text: string;
  /** Time of detection. */
  readonly at: string;
  readonly details: Details;
}

const MAX_SUBJECT_CHARACTERS = 300;
const MAX_TEXT_CHARACTERS = 1500;

/** Creates a message. Truncates subject and text, and replaces their control characters. */
export function alertOf(ids: Pick<Alert, 'id' | 'incident' | 'at'>, condition: AlertContent): Alert {
  const { kind, state, subject, text, details = {} } = condition;
  return {
    ...ids,
    ...{ kind, state },
    subject: plain(subject, MAX_SUBJECT_CHARACTERS),
    text: plain(text, MAX_TEXT_CHARACTERS),
    details,
  };
}

type AlertContent = Omit<Condition, 'key'> & Pick<Alert, 'state'>;

function plain(text: string, maxCharacters: number): string {
  const clean = text.replaceAll(/\p{C}/gu, '\uFFFD');
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters)}…` : clean;
}
