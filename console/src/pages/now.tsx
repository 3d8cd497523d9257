import './now.css';
import { connection, hasGuard } from '../live.ts';
import { NoGuard } from './noGuard.tsx';
import { Banner } from './now/banner.tsx';
import { Explain } from './now/explain.tsx';
import { InForce } from './now/inForce.tsx';
import { useOnboarding } from './now/onboarding.tsx';
import { TopLimited } from './now/topLimited.tsx';
import { Traffic } from './now/traffic.tsx';
import { WhatIfs } from './now/whatIfs.tsx';

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
