export interface Hit {
  readonly kind: string;
  readonly title: string;
  /** Further text that is searched and shown, such as the mode of a rule. */
  readonly note?: string;
  /** Path of the page that the hit opens, or an action. */
  readonly open: string | (() => void);
}

export const MAX_HITS = 20;

/** Returns the hits that contain all words of the text. Titles that begin with the text are first. */
export function matchingHits(hits: readonly Hit[], text: string): readonly Hit[] {
  const sought = text.trim().toLowerCase();
  const words = sought.split(/\s+/);
  const found = hits.filter(({ kind, title, note = '' }) => {
    const whole = `${kind} ${title} ${note}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const isFirst = ({ title }: Hit) => title.toLowerCase().startsWith(sought);
  return [...found.filter(isFirst), ...found.filter((hit) => !isFirst(hit))].slice(0, MAX_HITS);
}
