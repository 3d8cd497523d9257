import type { Attack } from '../../api/types.ts';
import { Facts } from '../../ui/facts.tsx';
import { formatNumber } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';

type Change = Attack['changes'][number];

const WORDS: Readonly<Record<Change['kind'], (change: Change) => string>> = {
  rule: ({ rule }) =>
    rule === undefined ? 'no rule in force' : `rule ${rule.id.slice(0, 8)} in force, ${rule.mode}`,
  peak: ({ queries_per_second = 0 }) => `peak doubled to ${formatNumber(queries_per_second)} queries/s`,
  zone: ({ zone = '' }) => `another zone: ${zone === '' ? 'names outside every known zone' : zone}`,
  restart: () => 'the guard restarted',
};

export function Changes({ attack: { changes } }: { readonly attack: Attack }) {
  return (
    <section>
      <h2>Events</h2>
      {changes.length === 0 ? (
        <p class="quiet">No events.</p>
      ) : (
        <Facts
          rows={changes.map((change) => [
            <Time key={change.at} at={change.at} form="clock" />,
            <UntrustedText key={change.kind} text={WORDS[change.kind](change)} />,
            `${change.at} ${change.kind}`,
          ])}
        />
      )}
    </section>
  );
}
