import type { Attack } from '../../api/types.ts';
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
        <dl class="facts">
          {changes.map((change) => (
            <div key={`${change.at} ${change.kind}`}>
              <dt>
                <Time at={change.at} form="clock" />
              </dt>
              <dd>
                <UntrustedText text={WORDS[change.kind](change)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
