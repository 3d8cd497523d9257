import { readWhatIf } from '../../api/guard.ts';
import { live } from '../../live.ts';
import { numberText, percentText } from '../../ui/quantity.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';

const REFRESH_MS = 5_000;

/** What another rate and burst sensitivity would have done with the last minute. */
export function WhatIfs() {
  const rule = live.value?.guard?.rule;
  const turn = Math.floor(Date.parse(live.value?.at ?? '') / REFRESH_MS);
  const { loaded } = useLoaded(readWhatIf, [turn, rule?.id]);
  const what = loaded.value.value?.result;
  return (
    <section class="what-ifs">
      <h2>
        Would it be better with … <span class="quiet">estimated from the last {what?.seconds ?? 60} s</span>
      </h2>
      {rule === undefined || rule.mode === 'disabled' ? (
        <p class="quiet">
          {rule === undefined ? 'Without a rule' : 'While the rule is disabled'} nothing has to pay, so there
          is nothing to estimate from.
        </p>
      ) : (
        <dl>
          {(what?.levels ?? PLACES).map(({ sensitivity, refused, known_refused, rate_per_second, burst }) => (
            <div
              key={sensitivity}
              title={`${numberText(rate_per_second)} tokens a second, burst ${numberText(burst)}`}
            >
              <dt>
                {sensitivity}
                {sensitivity === rule.rate_sensitivity && sensitivity === rule.burst_sensitivity && ' (now)'}
              </dt>
              <dd>
                <span class="bar-place" aria-hidden="true">
                  <span style={{ width: `${(refused / Math.max(1, what?.paying ?? 1)) * 100}%` }} />
                </span>
                <span>
                  refuses {numberText(refused)} of {numberText(what?.paying ?? 0)} that pay
                  {what !== undefined && what.paying > 0 && ` (${percentText(refused / what.paying)})`}, known
                  names hit: {numberText(known_refused)}
                </span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

const PLACES = (['low', 'medium', 'high'] as const).map((sensitivity) => ({
  ...{ sensitivity, refused: 0, known_refused: 0, rate_per_second: 0, burst: 0 },
}));
