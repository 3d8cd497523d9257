export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?(?:\d[\d.]*(?:e[+-]?\d+)?|Inf)|NaN)(?: \d+)?$/i;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Parses the samples of the Prometheus text format. Ignores other lines. */
export function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', quoted = '']) => [
      label,
      quoted.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character)),
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value?.replace(/inf/i, 'Infinity')) }];
  });
}
