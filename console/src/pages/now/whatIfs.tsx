import type { Answer } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { readWhatIf, type WhatIf } from '../../api/guard.ts';
import { hasGuard, live, turnOf } from '../../live.ts';
import { numberText, percentText } from '../../ui/quantity.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';

const REFRESH_MS = 5_000;

type Done = Pick<WhatIf['profile_levels'][number], 'paying' | 'refused' | 'known_refused' | 'client_limited'>;

/** What other sensitivities would have done with the last minute. */
export function WhatIfs() {
  const rule = live.value?.guard?.rule;
  const turn = turnOf(REFRESH_MS);
  // Of an account without a guard here there is nothing to ask for; the live stream says whether there is one.
  const isGuarded = hasGuard.value;
  const { loaded } = useLoaded(
    async (): Promise<Outcome<Answer<WhatIf> | undefined>> =>
      isGuarded ? readWhatIf() : { value: undefined },
    [isGuarded, turn, JSON.stringify(rule)],
  );
  const what = loaded.value.value?.result;
  const rateAndBurst =
    rule?.rate_sensitivity === rule?.burst_sensitivity ? rule?.rate_sensitivity : undefined;
  return (
    <section class="what-ifs">
      <h2>
        Would it be better with … <span class="quiet">{basisOf(what)}</span>
      </h2>
      <p class="quiet">
        {rule === undefined
          ? 'As if there were a rule.'
          : rule.mode === 'enabled'
            ? 'Of the rule in force, and of others.'
            : 'As if the rule were enabled.'}
      </p>
      <h3>rate and burst sensitivity</h3>
      <dl>
        {(what?.levels ?? RATES).map(({ sensitivity, rate_per_second, burst, ...done }) => (
          <Level
            key={sensitivity}
            name={sensitivity}
            isNow={sensitivity === rateAndBurst}
            title={`${numberText(rate_per_second)} tokens a second, burst ${numberText(burst)}`}
            done={done}
          />
        ))}
      </dl>
      <h3>profile sensitivity</h3>
      <dl>
        {(what?.profile_levels ?? PROFILES).map(({ profile_sensitivity: name, ...done }) => (
          <Level
            key={name}
            name={name.replace('_', ' ')}
            isNow={name === rule?.profile_sensitivity}
            done={done}
          />
        ))}
      </dl>
    </section>
  );
}

/** What all of it was worked out from. */
function basisOf(what: WhatIf | undefined): string {
  if (what === undefined) return 'from the last 60 s';
  const { seconds, queries, recorded } = what;
  if (queries === 0) return `no query in the last ${seconds} s`;
  const all = `${queries === 1 ? 'query' : `${numberText(queries)} queries`} of the last ${seconds} s`;
  if (recorded < queries) return `from ${numberText(recorded)} of ${all}`;
  return queries === 1 ? `from the one ${all}` : `from all ${all}`;
}

interface LevelProps {
  readonly name: string;
  /** Whether the rule in force has it. */
  readonly isNow: boolean;
  readonly title?: string;
  readonly done: Done;
}

function Level({ name, isNow, title, done }: LevelProps) {
  const { paying, refused, known_refused: known, client_limited: limited } = done;
  return (
    <div title={title}>
      <dt>
        {name}
        {isNow && ' (now)'}
      </dt>
      <dd>
        <span class="bar-place" aria-hidden="true">
          <span style={{ width: `${(refused / Math.max(1, paying)) * 100}%` }} />
        </span>
        <span title={`${numberText(refused)} of ${numberText(paying)}`}>
          {paying === 0
            ? 'nothing has to pay'
            : `refuses ${percentText(refused / paying)} of ${numberText(paying)} that pay, known names hit: ${numberText(known)}`}
          {limited > 0 && `, to TCP: ${numberText(limited)}`}
        </span>
      </dd>
    </div>
  );
}

const NOTHING: Done = { paying: 0, refused: 0, known_refused: 0, client_limited: 0 };
/** Their places are kept until they are known. */
const RATES = (['low', 'medium', 'high'] as const).map((sensitivity) => ({
  ...{ sensitivity, rate_per_second: 0, burst: 0 },
  ...NOTHING,
}));
const PROFILES = (['low', 'medium', 'high', 'very_high'] as const).map((profile_sensitivity) => ({
  ...{ profile_sensitivity },
  ...NOTHING,
}));
