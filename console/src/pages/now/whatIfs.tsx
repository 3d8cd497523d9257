import { readWhatIf } from '../../api/account.ts';
import type { GuardStatus, Schemas } from '../../api/types.ts';
import { hasGuard, live } from '../../live.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { counted, formatNumber, formatPercent } from '../../ui/value/quantity.tsx';

const REFRESH_MS = 5_000;
const RATES = ['low', 'medium', 'high'] as const;
const PROFILES = ['low', 'medium', 'high', 'very_high'] as const;

export function WhatIfs() {
  const rule = live.value?.guard?.rule;
  // Only a guard can simulate. The live stream reports whether one runs in this server.
  const isGuarded = hasGuard.value;
  const { value, failure } = useLoaded(isGuarded && readWhatIf, [isGuarded, JSON.stringify(rule)], {
    everyMs: REFRESH_MS,
  });
  const what = value?.result;
  return (
    <section class="what-ifs">
      <h2>Other sensitivities</h2>
      <p class="quiet">
        Queries that an enabled rule with each combination would limit, and known names among them: red if
        there are any.
      </p>
      <p class="quiet basis">{failure ? `Not up to date: ${failure.what}` : basisOf(what)}</p>
      <Matrix what={what} rule={rule} />
    </section>
  );
}

function basisOf(what: Schemas['WhatIf'] | undefined): string {
  if (what === undefined) return 'From the last 60 s.';
  const { seconds, queries, recorded } = what;
  const part = recorded < queries ? `${formatNumber(recorded)} of ` : '';
  return `From ${part}${counted(queries, 'query', 'queries')} of the last ${seconds} s.`;
}

interface MatrixProps {
  readonly what: Schemas['WhatIf'] | undefined;
  readonly rule: GuardStatus['rule'];
}

function Matrix({ what, rule }: MatrixProps) {
  return (
    <table class="matrix">
      <caption class="unseen">Share of queries limited, by profile sensitivity and rate sensitivity</caption>
      <thead>
        <tr>
          <td>
            profile ↓ <span class="number">rate, burst →</span>
          </td>
          {RATES.map((rate) => (
            <th key={rate} scope="col" class="number">
              {rate}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {PROFILES.map((profile) => (
          <tr key={profile}>
            <th scope="row">{profile.replace('_', ' ')}</th>
            {RATES.map((rate) => (
              <Cell key={rate} what={what} rule={rule} profile={profile} rate={rate} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps extends MatrixProps {
  readonly profile: (typeof PROFILES)[number];
  readonly rate: (typeof RATES)[number];
}

function Cell({ what, rule, profile, rate }: CellProps) {
  const level = what?.levels.find((one) => one.profile_sensitivity === profile && one.sensitivity === rate);
  const isNow =
    rule?.profile_sensitivity === profile &&
    rule.rate_sensitivity === rate &&
    rule.burst_sensitivity === rate;
  if (what === undefined || level === undefined) return <td class="number quiet">–</td>;
  const { paying, limited, known_limited: known, client_limited: client } = level;
  const details = [
    `${formatNumber(limited)} of ${formatNumber(paying)} queries that need a token`,
    `${formatNumber(known)} for known names`,
    `${formatNumber(client)} truncated by the limit of a client`,
    `${formatNumber(level.rate_per_second)} tokens/s, burst ${formatNumber(level.burst)}`,
  ].join('; ');
  return (
    <td class={isNow ? 'number now' : 'number'} title={details}>
      {isNow && <span class="caption">now </span>}
      {formatPercent(what.queries === 0 ? 0 : Math.min(1, limited / what.queries))}
      <span class={known > 0 ? 'known harm' : 'known quiet'}>
        {known > 0 && '✕ '}
        {formatNumber(known)}
        <span class="word"> known</span>
      </span>
    </td>
  );
}
