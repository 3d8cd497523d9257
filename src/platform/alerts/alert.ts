/** What operators are told: that something began, or that it is over. */

/** Something that lasts and that operators are told of. */
export interface Condition {
  /** Names it as long as it lasts, over a restart too: `node/mainnet/node-1`. */
  readonly key: string;
  /** One of few words: `node_unhealthy`. */
  readonly kind: string;
  /** What it is about: a zone, a node, a store. */
  readonly subject: string;
  /** A sentence or two. */
  readonly text: string;
  readonly details?: Details;
}

/** Figures and names for programs. */
export type Details = Readonly<Record<string, unknown>>;

/** A message, as it is sent. */
export interface Alert {
  /** The same each time that this message is sent. */
  readonly id: string;
  /** The same in the message that something began and in the one that it is over. */
  readonly incident: string;
  readonly kind: string;
  readonly state: 'firing' | 'resolved';
  readonly subject: string;
  readonly text: string;
  /** When it was seen. */
  readonly at: string;
  readonly details: Details;
}

const MAX_SUBJECT_CHARACTERS = 300;
const MAX_TEXT_CHARACTERS = 1500;

/** A message of which nothing moves a cursor, begins a line or is of any length. */
export function alertOf(ids: Pick<Alert, 'id' | 'incident' | 'at'>, condition: Told): Alert {
  const { kind, state, subject, text, details = {} } = condition;
  return {
    ...ids,
    ...{ kind, state },
    subject: plain(subject, MAX_SUBJECT_CHARACTERS),
    text: plain(text, MAX_TEXT_CHARACTERS),
    details,
  };
}

type Told = Omit<Condition, 'key'> & Pick<Alert, 'state'>;

function plain(text: string, maxCharacters: number): string {
  const clean = text.replaceAll(/\p{C}/gu, '\uFFFD');
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters)}…` : clean;
}
