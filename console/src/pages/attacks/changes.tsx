import type { Attack } from '../../api/types.ts';
import { Plain } from '../../ui/plain.tsx';
import { numberText } from '../../ui/quantity.tsx';
import { Time } from '../../ui/time.tsx';

type Change = Attack['changes'][number];

const WORDS: Readonly<Record<Change['kind'], (change: Change) => string>> = {
  rule: ({ rule }) =>
    rule === undefined
      ? 'no rule was in force any more'
      : `rule ${rule.id.slice(0, 8)} in force, ${rule.mode}`,
  peak: ({ queries_per_second = 0 }) => `twice as large: ${numberText(queries_per_second)} queries a second`,
  zone: ({ zone = '' }) => `another zone: ${zone === '' ? 'names outside every known zone' : zone}`,
  restart: () => 'the guard was started anew',
};

/** What happened while it lasted. */
export function Changes({ attack: { changes } }: { readonly attack: Attack }) {
  return (
    <section>
      <h2>What happened meanwhile</h2>
      {changes.length === 0 ? (
        <p class="quiet">Nothing changed.</p>
      ) : (
        <dl class="facts">
          {changes.map((change) => (
            <div key={`${change.at} ${change.kind}`}>
              <dt>
                <Time at={change.at} form="clock" />
              </dt>
              <dd>
                <Plain text={WORDS[change.kind](change)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
