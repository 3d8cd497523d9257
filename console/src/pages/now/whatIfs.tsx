import type { ApiResponse } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { readWhatIf, type WhatIf } from '../../api/guard.ts';
import { hasGuard, live, refreshPeriod } from '../../live.ts';
import { formatNumber, formatPercent } from '../../ui/quantity.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';

const REFRESH_MS = 5_000;

type LevelCounts = Pick<
  WhatIf['profile_levels'][number],
  'paying' | 'limited' | 'known_limited' | 'client_limited'
>;

/** Shows how other sensitivities would have treated the queries of the last minute. */
export function WhatIfs() {
  const rule = live.value?.guard?.rule;
  const turn = refreshPeriod(REFRESH_MS);
  // Only a guard can simulate. The live stream reports whether one runs in this server.
  const isGuarded = hasGuard.value;
  const { loaded } = useLoaded(
    async (): Promise<Outcome<ApiResponse<WhatIf> | undefined>> =>
      isGuarded ? readWhatIf() : { value: undefined },
    [isGuarded, turn, JSON.stringify(rule)],
  );
  const what = loaded.value.value?.result;
  const rateAndBurst =
    rule?.rate_sensitivity === rule?.burst_sensitivity ? rule?.rate_sensitivity : undefined;
  return (
    <section class="what-ifs">
      <h2>
        Other sensitivities <span class="quiet">{basisOf(what)}</span>
      </h2>
      <p class="quiet">
        {rule === undefined
          ? 'As if a rule were in force.'
          : rule.mode === 'enabled'
            ? 'The rule in force, and others.'
            : 'As if the rule were enabled.'}
      </p>
      <h3>Rate and burst sensitivity</h3>
      <dl>
        {(what?.levels ?? RATES).map(({ sensitivity, rate_per_second, burst, ...done }) => (
          <Level
            key={sensitivity}
            name={sensitivity}
            isNow={sensitivity === rateAndBurst}
            title={`${formatNumber(rate_per_second)} tokens/s, burst ${formatNumber(burst)}`}
            done={done}
          />
        ))}
      </dl>
      <h3>Profile sensitivity</h3>
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

function basisOf(what: WhatIf | undefined): string {
  if (what === undefined) return 'from the last 60 s';
  const { seconds, queries, recorded } = what;
  if (queries === 0) return `no queries in the last ${seconds} s`;
  const all = `${queries === 1 ? 'query' : `${formatNumber(queries)} queries`} of the last ${seconds} s`;
  if (recorded < queries) return `from ${formatNumber(recorded)} of ${all}`;
  return queries === 1 ? `from the one ${all}` : `from all ${all}`;
}

interface LevelProps {
  readonly name: string;
  readonly isNow: boolean;
  readonly title?: string;
  readonly done: LevelCounts;
}

function Level({ name, isNow, title, done }: LevelProps) {
  const { paying, limited, known_limited: known, client_limited: truncated } = done;
  return (
    <div title={title}>
      <dt>
        {name}
        {isNow && ' (now)'}
      </dt>
      <dd>
        <span class="bar-place" aria-hidden="true">
          <span style={{ width: `${(limited / Math.max(1, paying)) * 100}%` }} />
        </span>
        <span title={`${formatNumber(limited)} of ${formatNumber(paying)}`}>
          {paying === 0
            ? 'no query has to pay'
            : `limits ${formatPercent(limited / paying)} of ${formatNumber(paying)} that pay, known names: ${formatNumber(known)}`}
          {truncated > 0 && `, truncated: ${formatNumber(truncated)}`}
        </span>
      </dd>
    </div>
  );
}

const NO_COUNTS: LevelCounts = { paying: 0, limited: 0, known_limited: 0, client_limited: 0 };
/** Placeholders that reserve the space of the levels until the simulation's result is read. */
const RATES = (['low', 'medium', 'high'] as const).map((sensitivity) => ({
  ...{ sensitivity, rate_per_second: 0, burst: 0 },
  ...NO_COUNTS,
}));
const PROFILES = (['low', 'medium', 'high', 'very_high'] as const).map((profile_sensitivity) => ({
  ...{ profile_sensitivity },
  ...NO_COUNTS,
}));
