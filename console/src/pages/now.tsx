import './now.css';
import { readAttack } from '../api/account.ts';
import { currentAttacks } from '../attackSign.ts';
import { connection, hasGuard } from '../live.ts';
import { useLoaded } from '../ui/useLoaded.ts';
import { topHeading } from './attacks/texts.ts';
import { TopLists } from './attacks/tops.tsx';
import { NoGuard } from './noGuard.tsx';
import { Banner } from './now/banner.tsx';
import { Explain } from './now/explain.tsx';
import { InForce } from './now/inForce.tsx';
import { useOnboarding } from './now/onboarding.tsx';
import { Traffic } from './now/traffic.tsx';
import { WhatIfs } from './now/whatIfs.tsx';

const REFRESH_MS = 2_000;

export function Now() {
  const onboarding = useOnboarding();
  if (!hasGuard.value && connection.value === 'live') return <NoGuard />;
  return (
    <div class="page now">
      <div class="now-head">
        <Banner />
        <InForce />
      </div>
      {/* Nothing below is shown until it is known whether there is a list of steps above it. */}
      {onboarding !== undefined && (
        <>
          {onboarding}
          <Traffic aside={<TopLimited />} />
          <div class="now-questions">
            <WhatIfs />
            <Explain />
          </div>
        </>
      )}
    </div>
  );
}

function TopLimited() {
  const largest = currentAttacks.value[0];
  const read = largest && (() => readAttack(largest.id));
  const { value } = useLoaded(read, [largest?.id], { everyMs: REFRESH_MS });
  const attack = value?.result;
  return (
    <section class="top-limited">
      <h3>{largest === undefined ? 'Limited most' : topHeading(largest)}</h3>
      <p class="quiet">{largest === undefined ? 'No attack now.' : 'Since the start of the attack.'}</p>
      {largest !== undefined && <TopLists attack={attack} most={5} hasCodes={false} />}
    </section>
  );
}
